"""Why a job waits, in plain Python: what the script `explain` must say of the model."""

from __future__ import annotations

from typing import Any

from tests.lanemodel import Model

SILENCE = 5_000_000  # microseconds without a sign after which no worker lives; two leases at least

Told = tuple[str, dict[str, Any]]


def explain(model: Model, job_id: str, now: int) -> Told:
    """The code and the facts of a job."""
    job = model.jobs.get(job_id)
    if job is None:
        return "unknown", {"tenant": ""}
    facts: dict[str, Any] = {"tenant": job.tenant, "status": job.status}
    if job.status == "deferred":
        known = {it: model.jobs[it].status if it in model.jobs else "gone" for it in job.depends_on}
        left = {it: status for it, status in known.items() if status != "finished"}
        return "deferred", {**facts, "depends_on": left}
    if job.status == "started":
        code, more = _started(model, job_id, now)
    elif job.status == "queued":
        code, more = _queued(model, job_id, now)
    else:
        return {"canceled": "cancelled"}.get(job.status, job.status), facts
    if code == "no_worker" and model.seen is not None:
        more["last_seen"] = model.seen / 1e6
    return code, {**facts, **more}


def standstill(model: Model, now: int) -> str | None:
    """What keeps everybody from being served."""
    if model.suspended:
        return "suspended"
    silent = model.seen is None or now - model.seen > max(2 * model.term, SILENCE)
    if silent and (model.open or model.seen is not None):
        return "no_worker"
    return None if model.open else "limits_not_loaded"


def reason(model: Model, tenant: str, now: int) -> str:
    """What keeps a tenant's waiting jobs; the first that is true."""
    if model.ceiling(tenant) == 0:
        return "paused"
    live = len(_holders(model, tenant, now))
    return standstill(model, now) or ("at_cap" if live >= model.ceiling(tenant) else "behind")


def _started(model: Model, job_id: str, now: int) -> Told:
    held = [name for name, lease in model.leases.items() if lease.job == job_id]
    if not held:
        return "no_lease", {"worker": "worker"}
    late = now - model.deadlines[held[0]]
    if late >= 0:
        told = {"worker": "worker", "seconds": late / 1e6}
        return standstill(model, now) or "lapsed", told
    return "running", {
        "worker": "worker",
        "seconds": (now - model.leases[held[0]].started) / 1e6,
    }


def _queued(model: Model, job_id: str, now: int) -> Told:
    tenant = model.jobs[job_id].tenant
    lane = model.lanes.get(tenant, [])
    facts: dict[str, Any] = {"cap": model.cap(tenant), "waiting": len(lane)}
    if job_id in lane:
        facts["before"] = lane.index(job_id)
    elif job_id in model.inbox:
        facts["inbox"] = model.inbox.index(job_id)
    else:
        return "nowhere", {}
    code = reason(model, tenant, now)
    if code == "paused" and model.is_paused(tenant):
        facts["by"] = ""
    elif code == "at_cap":
        facts["jobs"] = _holders(model, tenant, now)
    elif code == "behind":
        facts["tenants"] = _ahead(model, tenant)
        if "before" in facts:
            facts["claims"] = facts["tenants"] + facts["before"]
    return code, facts


def _holders(model: Model, tenant: str, now: int) -> list[str]:
    """Jobs of the tenant's leases that have not lapsed, the earliest deadline first."""
    live = [
        (at, name)
        for name, at in model.deadlines.items()
        if at > now and model.leases[name].tenant == tenant
    ]
    return [model.leases[name].job for _, name in sorted(live)]


def _ahead(model: Model, tenant: str) -> int:
    """Eligible tenants before this one, as it stands or as it will enter."""
    if tenant in model.ready:
        order = sorted(model.ready, key=lambda name: (model.ready[name], name.encode()))
        return order.index(tenant)
    entry = max(model.stand(tenant), model.clock + 1)
    return sum(v <= entry for v in model.ready.values())
