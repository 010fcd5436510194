"""Celery tasks: they take ids and call one function."""

from __future__ import annotations

import os
import socket
from uuid import UUID

from celery import shared_task

from replaycases.cases import bell, executing, jobs


@shared_task(name=bell.LOOK_AT_RUN)  # type: ignore[untyped-decorator] # celery has no types here
def look_at_run(run_id: str) -> None:
    executing.look_at(UUID(run_id), worker=f"{socket.gethostname()}:{os.getpid()}")


@shared_task(name="cases.sweep")  # type: ignore[untyped-decorator]
def sweep() -> None:
    jobs.sweep()
