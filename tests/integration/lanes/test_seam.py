"""What we override in RQ, or rely on: an upgrade that changes it fails here, by name."""

from __future__ import annotations

import inspect

import pytest
from rq import SimpleWorker, Worker
from rq.executions import Execution
from rq.job import Job
from rq.queue import Queue
from rq.rate_limit import RateLimitRegistry
from rq.registry import ReadyJobRegistry, StartedJobRegistry
from rq.scheduler import RQScheduler
from rq.worker import BaseWorker

OVERRIDDEN = {
    (BaseWorker, "work"): (
        "self, burst, logging_level, date_format, log_format, max_jobs, max_idle_time,"
        " with_scheduler, dequeue_strategy"
    ),
    (BaseWorker, "bootstrap"): "self, logging_level, date_format, log_format",
    (BaseWorker, "dequeue_job_and_maintain_ttl"): "self, timeout, max_idle_time",
    (BaseWorker, "heartbeat"): "self, timeout, pipeline",
    (BaseWorker, "register_birth"): "self",
    (BaseWorker, "teardown"): "self",
    (BaseWorker, "unsubscribe"): "self",
    (BaseWorker, "request_stop"): "self, signum, frame",
    (BaseWorker, "request_force_stop"): "self, signum, frame",
    (BaseWorker, "check_for_suspension"): "self, burst",
    (BaseWorker, "run_maintenance_tasks"): "self",
    (BaseWorker, "reorder_queues"): "self, reference_queue",
    (BaseWorker, "_pubsub_exception_handler"): "self, exc, pubsub, pubsub_thread",
    (BaseWorker, "prepare_execution"): "self, job",
    (BaseWorker, "prepare_job_execution"): "self, job, remove_from_intermediate_queue",
    (BaseWorker, "perform_job"): "self, job, queue, execution",
    (BaseWorker, "handle_execution_ended"): "self, job, queue, heartbeat_ttl",
    (BaseWorker, "cleanup_execution"): "self, job, pipeline, execution",
    (BaseWorker, "_finalize_success"): "self, job, queue, execution, return_value",
    (BaseWorker, "_finalize_failure"): "self, job, queue, execution, exc_info",
    (BaseWorker, "handle_job_failure"): (
        "self, job, queue, started_job_registry, exc_string, execution"
    ),
    (BaseWorker, "handle_job_success"): "self, job, queue, started_job_registry, execution",
    (BaseWorker, "handle_job_retry"): "self, job, queue, retry, started_job_registry, execution",
    (BaseWorker, "_release_slot_safely"): "self, job",
    (BaseWorker, "handle_work_horse_killed"): "self, job, retpid, ret_val, rusage",
    (BaseWorker, "setup_work_horse_signals"): "self",
    (Worker, "execute_job"): "self, job, queue",
    (Worker, "fork_work_horse"): "self, job, queue",
    (Worker, "monitor_work_horse"): "self, job, queue, execution",
    (Worker, "kill_horse"): "self, sig",
    (Worker, "wait_for_horse"): "self",
    (Worker, "_handle_stopped_job"): "self, job, queue, execution",
    (SimpleWorker, "execute_job"): "self, job, queue",
    (Queue, "create_job"): None,
    (Queue, "_enqueue_job"): "self, job, pipeline, at_front, unique",
    (Queue, "get_job_ids"): "self, offset, length",
    (Queue, "get_job_position"): "self, job_or_id",
    (Queue, "remove"): "self, job_or_id, pipeline",
    (Queue, "empty"): "self",
    (Queue, "delete"): "self, delete_jobs",
    (Queue, "enqueue_dependents"): "self, job, exclude_job_id, refresh_job_status",
    (Queue, "enqueue_ready_jobs_by_queue"): "self, job_ids_by_queue_name",
    (ReadyJobRegistry, "cleanup"): "self, timestamp, exception_handlers",
    (ReadyJobRegistry, "get_job_ids"): "self, start, end, desc, cleanup",
    (RateLimitRegistry, "release_stale_and_enqueue"): "self, job_id",
    (Queue, "dequeue_any"): (
        "queues, timeout, connection, job_class, serializer, death_penalty_class"
    ),
    (Job, "restore"): "self, raw_data",
    (Job, "to_dict"): "self, include_meta, include_result",
    (Job, "cancel"): "self, pipeline, enqueue_dependents, remove_from_dependencies",
    (Job, "delete"): "self, pipeline, remove_from_queue, delete_dependents",
    (Job, "requeue"): "self, at_front",
    (Job, "get_position"): "self",
    (Job, "_handle_failure"): None,
    (Execution, "__init__"): "self, id, job_id, connection, worker_name",
    (StartedJobRegistry, "cleanup"): "self, timestamp, exception_handlers",
    (RQScheduler, "acquire_locks"): "self, auto_start",
    (RQScheduler, "enqueue_scheduled_jobs"): "self",
    (RQScheduler, "release_locks"): "self",
}


@pytest.mark.parametrize(("owner", "name"), OVERRIDDEN, ids=lambda part: str(part))
def test_rq_still_has_this_method(owner: type, name: str) -> None:
    """The method is there, with the parameters that we pass and take."""
    signature = inspect.signature(getattr(owner, name))
    expected = OVERRIDDEN[owner, name]
    if expected is not None:
        assert ", ".join(signature.parameters) == expected


@pytest.mark.parametrize("name", ["success_callback", "failure_callback", "stopped_callback"])
def test_callbacks_are_still_properties(name: str) -> None:
    """The allow-list guards them as properties."""
    assert isinstance(getattr(Job, name), property)


def test_rq_cleans_up_in_each_of_its_endings() -> None:
    """`cleanup_execution` is called before each ending transaction is sent: there we settle."""
    for name in ("handle_job_success", "handle_job_failure", "handle_job_retry"):
        source = inspect.getsource(getattr(BaseWorker, name))
        assert source.index("self.cleanup_execution(") < source.rindex("pipeline.execute()")


@pytest.mark.parametrize("name", ["handle_job_failure", "handle_job_retry"])
def test_rq_releases_a_slot_last_and_only_after_a_failure_that_it_knows_to_be_written(
    name: str,
) -> None:
    """There we note that nothing is left to be made up for."""
    source = inspect.getsource(getattr(BaseWorker, name))
    steps = ["pipeline.execute()", "except Exception:", "else:", "send_webhooks("]
    steps += ["_enqueue_dependents_safely(", "_release_slot_safely("]
    place = source.index("self.cleanup_execution(")
    for step in steps:
        place = source.index(step, place)
    assert source.count("_release_slot_safely(") == 1
