"""What a beat fails on in one place holds up no other place, and no other beat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import time_machine
from django.test import override_settings
from django.utils import timezone

from replaycases.accounts.models import Project
from replaycases.cases import evidence, expiry, flags, mailing, purging, sealing, tasks, trace_buffer
from replaycases.cases.models import BufferedTrace, Case, Classification, Notification, Payload
from replaycases.config import celery_settings
from tests import factories
from tests.api.otlp_requests import as_json, chat
from tests.cases.test_trace_buffer import sending

pytestmark = pytest.mark.django_db


def fails_once(of: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = getattr(of, name), []

    def failing(*args: Any, **said: Any) -> Any:
        calls.append(name)
        if len(calls) == 1:
            raise RuntimeError("as never foreseen")
        return real(*args, **said)

    monkeypatch.setattr(of, name, failing)


# Of a case: its fixture, what the detectors found in it, and its key.
EACH = 3


@pytest.fixture(autouse=True)
def ring(tmp_path: Path) -> Iterator[None]:
    """A key ring for each test alone: these forget."""
    with override_settings(EVIDENCE_KEYS_FILE=tmp_path / "ring.json"):
        yield


@pytest.fixture
def two() -> list[Case]:
    """Cases of two projects that hold raw evidence."""
    projects = factories.project(), factories.project("XX")
    return [factories.case(at, factories.everyone(at), classification=Classification.QUARANTINED) for at in projects]


def test_warnings_of_one_project_that_fail_hold_up_no_other(two: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    fails_once(expiry, "lock_project", monkeypatch)
    with time_machine.travel(timezone.now() + timedelta(days=27), tick=False):
        assert expiry.look() == 1
        assert expiry.look() == 1


def test_a_purge_of_one_project_that_fails_holds_up_neither_the_other_nor_the_ring(
    two: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten: list[bool] = []
    monkeypatch.setattr(sealing, "forget", lambda: forgotten.append(True))
    locked = purging.lock_project

    def failing(project: Project) -> None:
        if project == two[0].project:
            raise RuntimeError("as never foreseen")
        locked(project)

    monkeypatch.setattr(purging, "lock_project", failing)
    with time_machine.travel(timezone.now() + timedelta(days=31), tick=False):
        assert purging.look() == EACH
        assert forgotten == [True]
        monkeypatch.setattr(purging, "lock_project", locked)
        assert purging.look() == EACH


def test_a_payload_that_cannot_be_destroyed_holds_up_no_other_of_its_project(
    two: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, raw = two[0].project, {"classification": Classification.QUARANTINED}
    factories.case(project, factories.everyone(project), factories.fixture(input={"order": "o-2"}), **raw)
    bad, destroy = two[0].current_revision, evidence.destroy

    def failing(payload: Payload) -> None:
        if bad is not None and payload.pk == bad.payload_id:
            raise RuntimeError("as never foreseen")
        destroy(payload)

    monkeypatch.setattr(evidence, "destroy", failing)
    with time_machine.travel(timezone.now() + timedelta(days=31), tick=False):
        assert purging.look() == 3 * EACH - 1
        monkeypatch.setattr(evidence, "destroy", destroy)
        assert purging.look() == 1


def test_a_mail_that_cannot_be_written_holds_up_no_other(
    two: list[Case], monkeypatch: pytest.MonkeyPatch, mailoutbox: list[Any]
) -> None:
    with time_machine.travel(timezone.now() + timedelta(days=29, hours=1), tick=False):
        expiry.look()
        waiting = Notification.objects.values("user").distinct().count()
        fails_once(mailing, "render_to_string", monkeypatch)
        assert mailing.mail() == len(mailoutbox) == waiting - 1 > 0


def test_a_flag_that_cannot_be_raised_holds_up_no_other(two: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    Case.objects.update(review_due_at=timezone.now())
    fails_once(flags, "raise_flag", monkeypatch)
    assert flags.look() == 1
    assert flags.look() == 1


def test_traces_of_one_project_that_stay_hold_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("AA", "BB"):
        project = factories.project(key)
        sender = sending(factories.everyone(project), project)
        trace_buffer.receive(sender, project=project, signal="traces", body=as_json(chat()), protobuf=False)
    BufferedTrace.objects.update(first_at=timezone.now() - timedelta(days=1))
    fails_once(trace_buffer, "locked_inbox", monkeypatch)
    assert trace_buffer.look() == 1
    assert trace_buffer.look() == 1


@pytest.mark.parametrize("name", sorted(celery_settings.beat_schedule))
def test_each_beat_is_a_task_of_its_own(name: str) -> None:
    task: Callable[[], None] = getattr(tasks, name)
    assert celery_settings.beat_schedule[name]["task"] == task.name  # type: ignore[attr-defined]
    assert celery_settings.task_routes[task.name] == {"queue": celery_settings.SWEEPS}  # type: ignore[attr-defined]
