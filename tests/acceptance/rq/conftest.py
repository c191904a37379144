"""The fixtures of `tests/integration/rq`, for tests that need workers in processes of their own."""

from tests.integration.rq.conftest import (  # noqa: F401
    acme,
    background,
    kind,
    lanes,
    most_at_once,
    notes,
    open_gate,
    redis,
    short_lease,
    work,
)
