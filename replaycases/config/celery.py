"""The Celery application. It carries "look at run N" and the sweep's tick, and nothing else."""

from __future__ import annotations

import os
import signal
from typing import Any

from celery import Celery
from celery.signals import beat_embedded_init, worker_process_init

from replaycases.cases.processes import die_with_parent
from replaycases.config import filesystem_broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "replaycases.config.settings")

filesystem_broker.register()
app = Celery("replaycases")
app.config_from_object("replaycases.config.celery_settings")
app.autodiscover_tasks()

_IMPORTED_BY = os.getpid()
"""The worker: its pool processes and its beat are forked from it with this module loaded."""


@beat_embedded_init.connect  # type: ignore[untyped-decorator] # celery has no types here
@worker_process_init.connect  # type: ignore[untyped-decorator] # celery has no types here
def die_with_the_worker(**kwargs: Any) -> None:
    """A pool process, or a beat inside the worker, dies with its worker: what was being replayed goes with it, and the
    sweep takes the run back once the lease has passed."""
    die_with_parent(signal.SIGKILL, parent=_IMPORTED_BY)
