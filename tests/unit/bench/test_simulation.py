"""The simulator's own parts: what it measures, and what its peers do."""

from __future__ import annotations

import pytest

from bench.simulation.odds import computed, simulated
from bench.simulation.peers import Fifo, Shuffle, hand_of
from bench.simulation.scenarios import Story, always_busy, minting, story
from bench.simulation.watch import Watch, jain, quantile
from bench.simulation.world import SECOND, Claim, Job, World


def test_jain_is_one_when_equal_and_one_of_n_when_one_has_all() -> None:
    """34 s against 1 s with equal turns is the known 0.529."""
    assert jain([3.0, 3.0, 3.0]) == 1
    assert jain([9.0, 0.0, 0.0]) == pytest.approx(1 / 3)
    assert jain([34.0, 1.0]) == pytest.approx(0.529, abs=0.001)
    assert jain([0.0, 0.0]) == 1


def test_quantiles_are_values_that_were_seen() -> None:
    """The nearest rank; None of nothing."""
    assert quantile([4.0, 1.0, 3.0, 2.0], 0.5) == 3.0
    assert quantile([4.0, 1.0, 3.0, 2.0], 0.99) == 4.0
    assert quantile([], 0.5) is None


def test_fifo_serves_in_order_of_arrival() -> None:
    """One worker, three jobs of a second: waits of 0, 1 and 2 seconds."""
    watch = Watch(cap=lambda tenant: 9)
    world = World(Fifo(), 1, watch)
    world.at(SECOND, lambda: world.push(*(Job(name, SECOND) for name in "aba")))
    world.run(100 * SECOND)
    assert watch.waits == [0, 1, 2]
    assert watch.seconds == {"a": 2.0, "b": 1.0}
    assert (world.claims, world.now) == (3, 4 * SECOND)


class Served(Watch):
    """Notes the order, too."""

    def __init__(self) -> None:
        super().__init__(cap=lambda tenant: 9)
        self.order: list[str] = []

    def claimed(self, now: int, claim: Claim) -> None:
        """One more."""
        super().claimed(now, claim)
        self.order.append(claim.job.tenant)


def test_a_job_of_several_turns_goes_to_the_back() -> None:
    """Between its turns others are served."""
    served = Served()
    world = World(Fifo(), 1, served)
    world.at(SECOND, lambda: world.push(Job("long", SECOND, turns=3), Job("short", SECOND)))
    world.run(100 * SECOND)
    assert served.order == ["long", "short", "long", "long"]


def test_runs_are_counted_raw_and_while_others_were_eligible() -> None:
    """Three in a row, of which the last had no rival left."""
    watch = Watch(cap=lambda tenant: 9)
    world = World(Fifo(), 1, watch)
    world.at(SECOND, lambda: world.push(*(Job(name, SECOND) for name in "aabaaa")))
    world.run(100 * SECOND)
    assert watch.longest_run == 3
    assert watch.longest_run_contended == 2


def test_a_capped_tenant_is_no_rival() -> None:
    """Whose cap is used up could not have been served instead."""
    watch = Watch(cap=lambda tenant: 1)
    world = World(Fifo(), 2, watch)
    world.at(SECOND, lambda: world.push(*(Job("a", SECOND) for _ in range(4))))
    world.run(100 * SECOND)
    assert watch.longest_run_contended == 0
    assert watch.most_live == 2


@pytest.mark.parametrize("busy", [1, 4, 16, 64])
def test_the_odds_of_a_collision_are_those_that_dealing_shows(busy: int) -> None:
    """Inclusion and exclusion against dealt hands, within a tenth."""
    shown = simulated(512, 6, busy, deals=300)
    assert computed(512, 6, busy) == pytest.approx(shown, rel=0.1)


def test_a_hand_is_always_the_same_and_has_no_queue_twice() -> None:
    """It depends on the tenant's name alone."""
    assert hand_of("acme", 512, 6) == hand_of("acme", 512, 6)
    assert len(set(hand_of("acme", 512, 6))) == 6


def test_shuffle_sharding_shares_seconds_between_shards() -> None:
    """A tenant with long jobs and one with short ones have about the same time."""
    row = always_busy({"long": 10.0, "short": 1.0}, Shuffle(), workers=2, claims=600)
    assert row["share_seconds"]["long"] == pytest.approx(0.5, abs=0.1)


def test_fifo_shares_turns_and_so_gives_the_long_jobs_the_time() -> None:
    """Half of the turns, ten elevenths of the seconds."""
    row = always_busy({"long": 10.0, "short": 1.0}, Fifo(), workers=2, claims=600)
    assert row["share_turns"]["long"] == pytest.approx(0.5, abs=0.02)
    assert row["share_seconds"]["long"] == pytest.approx(10 / 11, abs=0.01)


def test_in_one_list_small_tenants_wait_for_the_whole_import() -> None:
    """2,000 rows of 280 ms on four workers: the last one in waits for over two minutes."""
    scene = Story(workers=4, cap=4, tenants=20, rows=2000)
    row = story(scene, Fifo(), tickets=False)
    assert row["wait_p99_s"] > 130
    assert row["big_s"] == pytest.approx(140, rel=0.05)


def test_a_turn_of_the_import_ends_with_the_row_that_uses_the_slice_up() -> None:
    """A second of rows of 280 ms is four rows."""
    assert Story(rows=50_000).turns == (12_500, 1_120_000)


def test_minted_tenants_are_counted_against_the_old_one() -> None:
    """In one list the old tenant's jobs move back behind whoever was minted."""
    row = minting(Fifo(), per_second=2, seconds=20, workers=1)
    assert row["minted"] == 41
    assert 0 < row["old_share_second_half"] < 1
