from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from replaycases.accounts.models import User
from replaycases.cases import demo, events
from replaycases.cases.models import Case, Comparison, Control, Implementation, Run

pytestmark = pytest.mark.django_db


def _demo(*options: str) -> str:
    said = io.StringIO()
    call_command("demo", *options, stdout=said)
    return said.getvalue()


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    settings.EMBEDDED = True


def test_the_demo_asks_for_a_comparison_of_every_incident_with_its_controls() -> None:
    _demo()
    assert Comparison.objects.count() == Case.objects.count() == len(demo.INCIDENTS)
    assert Implementation.objects.count() == 2
    assert Control.objects.filter(mutation=None).count() == 0
    assert Run.objects.count() == 2 * (2 * len(demo.INCIDENTS) + 2 * Control.objects.count())
    assert events.verify() == []


def test_loading_the_demo_again_changes_nothing_and_prints_the_same_logins() -> None:
    first = _demo()
    before = [model.objects.count() for model in (User, Case, Comparison, Run)]
    assert _demo() == first
    assert [model.objects.count() for model in (User, Case, Comparison, Run)] == before


def test_the_printed_password_logs_everybody_in() -> None:
    password = _demo().rsplit(maxsplit=1)[-1]
    assert all(User.objects.get(username=name).check_password(password) for name, _, _ in demo.PEOPLE)


def test_on_a_database_of_its_own_nobody_gets_a_password_unless_asked(settings: Any) -> None:
    settings.EMBEDDED = False
    assert "password" not in _demo()
    assert not any(user.has_usable_password() for user in User.objects.all())
    assert "password" in _demo("--logins")


def test_a_password_that_somebody_changed_stays() -> None:
    _demo()
    user = User.objects.get(username="qa")
    user.set_password("something else entirely")
    user.save()
    _demo()
    user.refresh_from_db()
    assert user.check_password("something else entirely")
