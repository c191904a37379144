"""Shuffle sharding: how likely the busy tenants are to stand in all queues of a quiet one."""

from __future__ import annotations

import random
from math import comb

__all__ = ["computed", "simulated"]


def computed(queues: int, hand: int, busy: int) -> float:
    """The odds that every queue of one hand is in the hand of at least one of `busy` tenants.

    By inclusion and exclusion over the queues of the hand that nobody busy has.
    """
    odds = 0.0
    for missed in range(hand + 1):
        one_avoids = comb(queues - missed, hand) / comb(queues, hand)
        odds += (-1.0) ** missed * comb(hand, missed) * one_avoids**busy
    return odds


def simulated(queues: int, hand: int, busy: int, *, deals: int, seed: int = 1) -> float:
    """The same by dealing hands: the mean odds of a quiet hand given the queues that are taken."""
    dealer = random.Random(seed)
    total = 0.0
    for _ in range(deals):
        taken = {queue for _ in range(busy) for queue in dealer.sample(range(queues), hand)}
        total += comb(len(taken), hand) / comb(queues, hand)
    return total / deals
