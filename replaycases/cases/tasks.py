"""Celery tasks: they take ids and call one function."""

from __future__ import annotations

import os
import socket
from uuid import UUID

from celery import shared_task

from replaycases.cases import (
    bell,
    executing,
    expiry,
    flags,
    jobs,
    lanes,
    mailing,
    notifying,
    purging,
    trace_buffer,
    trace_captures,
)


@shared_task(name=bell.LOOK_AT_RUN)  # type: ignore[untyped-decorator] # celery has no types here
def look_at_run(run_id: str) -> None:
    executing.look_at(UUID(run_id), worker=f"{socket.gethostname()}:{os.getpid()}")


@shared_task(name="cases.sweep")  # type: ignore[untyped-decorator]
def sweep() -> None:
    jobs.sweep()


@shared_task(name="cases.look_at_calendar")  # type: ignore[untyped-decorator]
def look_at_calendar() -> None:
    """Evidence that ends and is destroyed then, reviews that are due."""
    expiry.look()
    purging.look()
    flags.look()


@shared_task(name="cases.tell_people")  # type: ignore[untyped-decorator]
def tell_people() -> None:
    notifying.look()
    mailing.mail()


@shared_task(name="cases.run_lanes")  # type: ignore[untyped-decorator]
def run_lanes() -> None:
    """The daily run of what stands in a lane."""
    lanes.run_due()


@shared_task(name="cases.look_at_traces")  # type: ignore[untyped-decorator]
def look_at_traces() -> None:
    """Traces of collectors: what a rule wants is captured, what was kept for long enough goes."""
    trace_captures.look()
    trace_buffer.look()
