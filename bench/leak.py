"""Whether slots leak: workers are killed, frozen and stopped at random, over and over.

    python -m bench leak [--json] [--rounds 1000] [--seed N]

Each round is one fault (SIGKILL of worker, horse or both, SIGSTOP for up to 2.5 leases, SIGTERM)
and a new worker for each that ended. Twenty tenants with a cap of 1 always have jobs, and there are
more workers than slots. Afterwards all workers are killed; within a lease every slot must be free.
Whether it is, is asked of Redis' clock, and a worker that waits for a processor does not count as
one that lets a turn go on: a busy machine makes nothing late here that is in time.
"""

from __future__ import annotations

import argparse
import time
from random import Random
from unittest.mock import patch

from django.conf import settings as django_settings
from django.test.utils import override_settings
from redis import Redis

from bench import rig
from bench.leaking import Herd, Watch, fill
from bench.report import Report
from fairimport.lanes import Lanes, Limit, get_lanes, hooks
from fairimport.lanes.lanes import Claimed

CAP, LEASE, TURN = 1, 1.5, 3.0
TENANTS = [f"tenant-{number:02d}" for number in range(20)]


def main(arguments: list[str]) -> Report:
    """Strike, watch, and count what is left."""
    parser = argparse.ArgumentParser(prog="python -m bench leak")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=22)
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two faults")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    report = Report("leak", {**vars(chosen), "tenants": len(TENANTS), "cap": CAP, "lease_s": LEASE})
    with (
        rig.server() as server,
        override_settings(RQ_QUEUES={**django_settings.RQ_QUEUES, "imports": {"URL": server.url}}),
        rig.fairimport(cap=CAP, lease=LEASE, job_functions=("bench",)),
        patch.multiple(hooks, _maintenance=[], _horse_death=[], _lapse=[]),
        server.client() as client,
    ):
        _measure(report, client, chosen)
    return report


def _measure(report: Report, client: Redis, chosen: argparse.Namespace) -> None:
    lanes = get_lanes()
    lanes.load_limits({tenant: Limit(CAP) for tenant in TENANTS}, wait=0)
    fill(TENANTS, CAP + 1, TURN)
    herd = Herd(chosen.workers, Random(chosen.seed), LEASE)
    watch = Watch(client, TENANTS, CAP)
    try:
        for _ in range(chosen.rounds):
            herd.keep()
            herd.strike()
            until = time.monotonic() + chosen.pause
            while time.monotonic() < until:
                watch.look()
                time.sleep(0.05)
    finally:
        herd.end()
    killed = _now(client)
    _state_seen(report, lanes, herd, watch)
    waited, usable, ours = _claim_everything(lanes, client, killed)
    left = set(client.zrange("fairimport:imports:deadlines", 0, -1)) - ours
    report.at_most("leases left", len(left), 0)
    report.at_most("slots lost", CAP * len(TENANTS) - len(usable), 0)
    report.at_most("leases above a cap", watch.over_leases, 0)
    report.at_most("processes above a cap, seconds beyond the first", watch.over_processes_s, 0)
    report.at_most("all slots usable after, in leases", waited / LEASE, 1.0 + 0.2)


def _state_seen(report: Report, lanes: Lanes, herd: Herd, watch: Watch) -> None:
    seen = lanes.snapshot(TENANTS)
    turns = sum(state.jobs for state in seen.tenants.values())
    report.results["faults"] = dict(sorted(herd.faults.items()))
    report.results["seen"] = {
        "looks": watch.looks,
        "turns, last 5 min": turns,
        "lapses, last 5 min": seen.lapses,
        "leases of the dead at the end": sum(it.in_flight for it in seen.tenants.values()),
        "turns seen without their lease": watch.excesses_seen,
    }
    report.at_least("turns ended, so that there is something to leak", turns, len(TENANTS))
    report.at_least("leases lapsed, so that faults have hit", seen.lapses, 1)


def _claim_everything(
    lanes: Lanes, client: Redis, killed: float
) -> tuple[float, set[str], set[bytes]]:
    """Claim until each tenant was served, or a claim two leases after the end was in vain.

    Return when, in seconds after the end, the last claim in vain was sent; the tenants; our leases.
    """
    in_vain, usable, ours = killed, set[str](), set[bytes]()
    while len(usable) < len(TENANTS) and in_vain < killed + 2 * LEASE:
        sent = _now(client)
        claim = lanes.claim("leak")
        if isinstance(claim, Claimed):
            usable.add(claim.tenant)
            ours.add(claim.lease_id.encode())
        else:
            in_vain = sent
            time.sleep(0.01)
    return in_vain - killed, usable, ours


def _now(client: Redis) -> float:
    seconds, micro = client.time()
    return float(seconds + micro / 1e6)
