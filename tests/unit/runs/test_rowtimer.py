"""The time limit of one row leaves no trace."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from fairimport.runs.rowtimer import RowTimeout, row_timer


def test_a_row_that_takes_too_long_is_ended():
    """In the middle of what it does."""
    began = time.monotonic()
    with pytest.raises(RowTimeout), row_timer(0.05):
        time.sleep(5)
    assert time.monotonic() - began < 1


def test_an_importers_handler_does_not_swallow_it():
    """`except Exception` is everywhere."""

    def row():
        try:
            time.sleep(5)
        except Exception:
            return "swallowed"

    with pytest.raises(RowTimeout), row_timer(0.05):
        row()


def test_a_row_in_time_is_left_alone():
    """The timer is off afterwards."""
    with row_timer(0.2):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_timer_of_the_job_goes_on_afterwards():
    """RQ's handler and what is left of its time are restored."""

    def handler(signum, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 10)
    try:
        with row_timer(5):
            time.sleep(0.1)
        left, _ = signal.getitimer(signal.ITIMER_REAL)
        assert 9 < left <= 9.9
        assert signal.getsignal(signal.SIGALRM) is handler
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_another_thread_has_no_timer():
    """No signal arrives there, so nothing is armed."""
    seen = []

    def work():
        with row_timer(0.01):
            time.sleep(0.05)
        seen.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(5)
    assert seen == [True]
