"""The story on real workers, small: what it prints is what happened."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_small_tenants_wait_less_on_lanes_and_no_work_is_lost_or_doubled() -> None:
    """At the largest size the wait on one list is that of the whole import, on lanes of a turn."""
    done = subprocess.run(
        [sys.executable, "manage.py", "fairstory", "--json", "--tenants", "4", "--rows", "120"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)

    assert [size["rows"] for size in told["sizes"]] == [30, 60, 120]
    assert told["lost"] == told["twice"] == 0
    assert 1 <= told["max_in_flight"] <= told["cap"] == 4
    assert told["ratio_p99"] > 1.5
    assert {"longest_run", "longest_run_contended"} <= set(told["sizes"][0]["lanes"])
