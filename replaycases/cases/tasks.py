"""Celery tasks: they take ids and call one function. What one of them fails on holds up no other."""

from __future__ import annotations

import os
import socket
from uuid import UUID

from celery import shared_task

from replaycases.cases import (
    bell,
    counting,
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
    waivers,
)


@shared_task(name=bell.LOOK_AT_RUN)  # type: ignore[untyped-decorator] # celery has no types here
def look_at_run(run_id: str) -> None:
    executing.look_at(UUID(run_id), worker=f"{socket.gethostname()}:{os.getpid()}")


@shared_task(name="cases.sweep")  # type: ignore[untyped-decorator]
def sweep() -> None:
    jobs.sweep()


@shared_task(name="cases.warn_of_ends")  # type: ignore[untyped-decorator]
def warn_of_ends() -> None:
    expiry.look()
    waivers.look()


@shared_task(name="cases.destroy_what_ended")  # type: ignore[untyped-decorator]
def destroy_what_ended() -> None:
    purging.look()


@shared_task(name="cases.raise_flags")  # type: ignore[untyped-decorator]
def raise_flags() -> None:
    """Reviews that are due."""
    flags.look()


@shared_task(name="cases.tell_people")  # type: ignore[untyped-decorator]
def tell_people() -> None:
    notifying.look()


@shared_task(name="cases.send_mail")  # type: ignore[untyped-decorator]
def send_mail() -> None:
    mailing.mail()


@shared_task(name="cases.count_projects")  # type: ignore[untyped-decorator]
def count_projects() -> None:
    """What the home page shows of each project."""
    counting.look()


@shared_task(name="cases.run_lanes")  # type: ignore[untyped-decorator]
def run_lanes() -> None:
    """The daily run of what stands in a lane."""
    lanes.run_due()


@shared_task(name="cases.capture_traces")  # type: ignore[untyped-decorator]
def capture_traces() -> None:
    """Traces of collectors that a rule wants."""
    trace_captures.look()


@shared_task(name="cases.drop_traces")  # type: ignore[untyped-decorator]
def drop_traces() -> None:
    """Traces of collectors that were kept for long enough."""
    trace_buffer.look()
