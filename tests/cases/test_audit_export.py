from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import AUDITS, Role
from replaycases.cases import audit_export, events
from replaycases.cases.audit_export import Filters
from replaycases.cases.models import AuditEvent, Case
from tests import factories

FORMULA_STARTS = set("=+-@|%\uff1d\uff0b\uff0d\uff20\t\r\n")


@pytest.fixture
def project(db: None) -> Project:
    return factories.project()


@pytest.fixture
def auditor(project: Project) -> User:
    return factories.person(project, Role.QA)


@pytest.fixture
def case(project: Project) -> Case:
    return factories.case(project, factories.person(project, Role.RESPONDER))


def happened(case: Case, actor: User | None = None, **after: str) -> AuditEvent:
    with transaction.atomic():
        return events.record(
            actor=actor, action="case.submitted", subject=case, project=case.project, case=case, after=after
        )


def lines(actor: User, **filters: object) -> list[dict[str, Any]]:
    parts = audit_export.export(actor, filters=Filters(**filters), form="jsonl")  # type: ignore[arg-type]
    return [json.loads(line) for line in "".join(parts).splitlines()]


# --- promise 18: a spreadsheet runs nothing of it -------------------------------------------------------------------


def _first_character(cell: str) -> str:
    """What a spreadsheet looks at: the first character that is not a blank."""
    return cell.lstrip()[:1]


@given(st.text(alphabet=st.one_of(st.sampled_from("=+-@|%\t\r\n'\" ,;\uff1d\u00a0"), st.characters()), max_size=30))
def test_no_cell_begins_as_a_formula_and_every_cell_is_told_whole(cell: str) -> None:
    shown = audit_export.guarded(cell)
    assert _first_character(shown) not in FORMULA_STARTS
    assert shown[:1] not in FORMULA_STARTS
    assert (shown[1:] if shown != cell else shown) == cell
    assert shown == cell or shown == f"'{cell}"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20), min_size=1))
def test_a_line_of_csv_reads_back_as_the_cells_that_it_was_made_of(cells: list[str]) -> None:
    read = next(csv.reader(io.StringIO(audit_export.csv_line(cells), newline="")))
    assert read == [audit_export.guarded(cell) for cell in cells]


@pytest.mark.parametrize("cell", ["", "case.created", "2026-01-01", "RC-1", "sha256:00", "é"])
def test_ordinary_cells_stay_as_they_are(cell: str) -> None:
    assert audit_export.guarded(cell) == cell


# --- what is in it --------------------------------------------------------------------------------------------------


def test_an_export_is_every_event_in_order_and_is_itself_one_event(case: Case, auditor: User) -> None:
    happened(case, auditor, reason="=HYPERLINK(1)")
    exported = lines(auditor)
    assert [line["action"] for line in exported] == ["case.created", "case.submitted"]
    assert exported[1]["after"] == {"reason": "=HYPERLINK(1)"}
    recorded = AuditEvent.objects.latest("sequence")
    assert (recorded.action, recorded.actor, recorded.project) == ("audit.exported", auditor, case.project)
    assert json.loads(recorded.after) == {"format": "jsonl", "events": 2}


def test_the_csv_has_the_same_events_with_formulas_guarded(case: Case, auditor: User) -> None:
    Case.objects.filter(pk=case.pk).update(incident_id="=1")
    User.objects.filter(pk=auditor.pk).update(username="=cmd()")
    happened(case, auditor)
    text = "".join(audit_export.export(auditor, filters=Filters(), form="csv"))
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["action"] for row in rows] == ["case.created", "case.submitted"]
    assert rows[1]["actor"] == "'=cmd()"


def test_a_line_holds_every_field_that_its_hash_covers(case: Case, auditor: User) -> None:
    assert set(lines(auditor)[0]) == {field.name for field in AuditEvent._meta.concrete_fields}


def test_filters_narrow_by_case_person_action_and_time(case: Case, project: Project, auditor: User) -> None:
    other = factories.case(project, case.created_by, factories.fixture(case_id="other"))
    happened(case, auditor)
    middle = timezone.now()
    happened(other, auditor)
    assert {line["case"] for line in lines(auditor, case=case)} == {"RC-1"}
    assert {line["case"] for line in lines(auditor, case=other, action="case.submitted")} == {"RC-2"}
    assert len(lines(auditor, action="case.created")) == 2
    assert len(lines(auditor, person=case.created_by_id)) == 2
    assert [line["case"] for line in lines(auditor, since=middle, action="case.submitted")] == ["RC-2"]
    assert [line["case"] for line in lines(auditor, until=middle, action="case.submitted")] == ["RC-1"]


def test_a_long_export_is_read_in_parts(case: Case, auditor: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_export, "CHUNK", 3)
    for _ in range(7):
        happened(case)
    sequences = [int(line["sequence"]) for line in lines(auditor)]
    assert sequences == list(range(1, 9))


def test_nothing_of_another_project_is_in_it(case: Case, auditor: User) -> None:
    foreign = factories.project("XX")
    factories.case(foreign, factories.everyone(foreign))
    assert {line["project"] for line in lines(auditor)} == {"RC"}
    assert lines(auditor, project=None, case=case)[0]["case"] == "RC-1"
    with pytest.raises(PermissionDenied):
        lines(auditor, project=foreign)


@pytest.mark.parametrize("role", sorted(Role))
def test_only_roles_that_audit_export(case: Case, project: Project, role: Role) -> None:
    person = factories.person(project, role)
    if role in AUDITS:
        assert len(lines(person)) == 1
        return
    with pytest.raises(PermissionDenied, match="Audit events are read by"):
        lines(person)
    assert not AuditEvent.objects.filter(action="audit.exported").exists()


def test_who_audits_several_projects_names_one(case: Case, auditor: User) -> None:
    second = factories.project("XX")
    auditor.memberships.create(project=second, role=Role.ADMINISTRATOR)
    with pytest.raises(ValidationError, match="Choose one project"):
        lines(auditor)
    assert lines(auditor, project=second) == []
    assert AuditEvent.objects.latest("sequence").project == second


def test_who_is_in_another_project_exports_no_case_of_this_one(case: Case) -> None:
    stranger = factories.everyone(factories.project("XX"))
    with pytest.raises(PermissionDenied):
        audit_export.export_case(stranger, case=case)


def test_a_superuser_exports_what_belongs_to_no_project_too(case: Case) -> None:
    root = User.objects.create_superuser("root", "root@example.invalid")
    with transaction.atomic():
        events.record(actor=root, action="user.created", subject=root, project=None)
    assert [line["action"] for line in lines(root)] == ["case.created", "user.created"]


def test_a_page_of_events_is_found_by_their_number_and_not_by_counting(case: Case, auditor: User) -> None:
    with CaptureQueriesContext(connection) as captured:
        list(audit_export.chosen(auditor, Filters(since=timezone.now() - timedelta(days=1))).order_by("-sequence")[:9])
    assert not any("COUNT(" in query["sql"] or "OFFSET" in query["sql"] for query in captured)
