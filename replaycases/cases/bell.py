"""Telling workers to look at runs. A message is a hint: losing one costs time, never a run."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from uuid import UUID

from celery import current_app
from kombu.exceptions import OperationalError

from replaycases.cases.clock import Now
from replaycases.cases.models import Run, RunState

LOOK_AT_RUN = "cases.look_at_run"

logger = logging.getLogger(__name__)


def ring(run_ids: Sequence[UUID]) -> None:
    """Publish "look at run N" for each. A broken broker is logged and left to the sweep: whoever pressed the button
    must neither wait nor see an error, since the run is committed."""
    sent: list[UUID] = []
    try:
        for run_id in run_ids:
            current_app.send_task(LOOK_AT_RUN, args=[str(run_id)], retry=False, ignore_result=True)
            sent.append(run_id)
    except (OperationalError, OSError) as error:
        reason = type(error).__name__
        logger.warning("broker unavailable (%s): %d runs wait for the sweep", reason, len(run_ids) - len(sent))
    Run.objects.filter(id__in=sent, state=RunState.QUEUED).update(sent_at=Now())
