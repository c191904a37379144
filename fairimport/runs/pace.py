"""How fast rows go, and how long the rest takes; pure arithmetic over counts of rows in time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev

__all__ = ["BUCKET_S", "Estimate", "add", "estimate", "rate"]

BUCKET_S = 10
"""Seconds of a bucket."""
WINDOW_S = 60
"""Seconds that a rate looks back."""
BUCKETS = WINDOW_S // BUCKET_S + 1
FEWEST = 2
"""Whole buckets that are needed before an estimate is given."""
LEAST_MARGIN = 0.1

Pace = list[list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The seconds left, as a range, and how many seconds of work it rests on."""

    low_s: float
    high_s: float
    seen_s: int


def add(pace: Pace, rows: int, now: float) -> Pace:
    """Count rows in the bucket of this moment; forget buckets older than the window."""
    bucket = int(now // BUCKET_S)
    counts = {b: n for b, n in pace if b > bucket - BUCKETS}
    counts[bucket] = counts.get(bucket, 0) + rows
    return [[b, n] for b, n in sorted(counts.items())]


def rate(paces: Iterable[Pace], now: float, since: float | None = None) -> float | None:
    """Rows a second over the last minute, or since the work began; None when nothing was done."""
    counts = _recent(paces, now)
    if not counts:
        return None
    began = max(min(counts) * BUCKET_S, now - WINDOW_S, since or 0.0)
    return sum(counts.values()) / max(now - began, 1.0)


def estimate(paces: Iterable[Pace], now: float, left: int) -> Estimate | None:
    """How long `left` rows take, or None as long as that cannot be trusted.

    It rests on whole buckets only: mean speed, and twice its standard error as the margin (a tenth
    at least). It may rise: it says what the last minute says.
    """
    counts = _recent(paces, now)
    current = int(now // BUCKET_S)
    whole = [counts[b] for b in range(min(counts, default=current) + 1, current)]
    if len(whole) < FEWEST or not any(whole):
        return None
    speed = fmean(whole) / BUCKET_S
    error = 2 * stdev(whole) / math.sqrt(len(whole)) / BUCKET_S
    margin = max(error, LEAST_MARGIN * speed)
    slowest = max(speed - margin, speed / 4)
    return Estimate(
        low_s=left / (speed + margin), high_s=left / slowest, seen_s=len(whole) * BUCKET_S
    )


def _recent(paces: Iterable[Pace], now: float) -> Mapping[int, int]:
    """Rows by bucket over all chunks; buckets without a row count as 0."""
    oldest = int(now // BUCKET_S) - BUCKETS + 1
    counts: Counter[int] = Counter()
    for pace in paces:
        for bucket, rows in pace:
            if bucket >= oldest:
                counts[bucket] += rows
    return counts
