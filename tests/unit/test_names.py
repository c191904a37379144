"""Names of tests that other things rely on."""

import re
from pathlib import Path

TESTS = Path(__file__).parent.parent


def test_one_word_selects_exactly_the_files_of_the_manifest():
    """`pytest tests -k` with the word that the manifest uses runs its files and nothing else."""
    word = "case"
    for module in TESTS.rglob("test_*.py"):
        if module.name == f"test_{word}s.py":
            continue
        assert word not in str(module.relative_to(TESTS)).lower(), module
        names = re.findall(r"(?:def|class) (test_?\w*)", module.read_text(), re.IGNORECASE)
        assert not [name for name in names if word in name.lower()], module
