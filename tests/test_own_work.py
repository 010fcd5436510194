"""Nobody approves their own work, whichever way they come, superusers and their programs included."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import captures, drafts, intake, reading, redaction_rows
from replaycases.cases.models import Case, Classification, Decision, LaneEntry, LaneName, OutcomeType
from tests import factories, ways
from tests.factories import People
from tests.ways import Deed, Outcome, Way

pytestmark = pytest.mark.django_db

KINDS = ["redaction", "expectation", "control"]


@pytest.fixture
def of() -> People:
    return factories.people(factories.project())


def give_every_role(user: User, of: People) -> User:
    for role in Role:
        user.memberships.get_or_create(project=of.project, role=role)
    return user


def superuser(user: User) -> User:
    user.is_superuser = user.is_staff = True
    user.save()
    return user


def approval(kind: str, case: Case) -> Deed:
    seen = factories.revision(case)
    control = seen.controls.get()
    says: dict[str, dict[str, Any]] = {
        "redaction": {"revision": seen.number, "content_hash": seen.content_hash},
        "expectation": {
            "revision": seen.number,
            "fixture_hash": seen.fixture_hash,
            "checks_hash": seen.checks_hash,
        },
        "control": {"control": control, "fixture_hash": control.fixture_hash},
    }
    return Deed(name=kind, case=case, says=says[kind])


WAYS_IN = [intake.create_case, intake.add_revision, intake.add_control, captures.bring, drafts.make_case, drafts.revise]


@pytest.mark.parametrize("bring", WAYS_IN, ids=lambda bring: bring.__qualname__)
def test_no_way_in_asks_who_brings_evidence_how_it_is_classified(bring: Callable[..., object]) -> None:
    assert "classification" not in inspect.signature(bring).parameters


def test_what_somebody_brings_is_raw_until_somebody_else_approves_it_whoever_they_are(of: People) -> None:
    root = superuser(give_every_role(of.responder, of))
    case = intake.create_case(root, project=of.project, **factories.STATEMENT, fixture=factories.fixture())
    revision = intake.add_revision(root, case=case, fixture=factories.fixture(input={"order": "o-2"}))
    of_control = {"name": "x", "outcome_type": OutcomeType.SUCCESS, "fixture": factories.control_fixture()}
    control = intake.add_control(root, revision=revision, **of_control, mutation=factories.MUTATION)
    brought = [*case.revisions.all(), control]
    assert {reading.classification_of(one) for one in brought} == {Classification.QUARANTINED}
    for one in brought:
        with pytest.raises(PermissionDenied):
            reading.require(one, of.qa)


# --- the ways ---------------------------------------------------------------------------------------------------------


def by_administration(deed: Deed, by: User) -> bool:
    """What a form of the administrators' site would send, if there were one."""
    client = Client()
    client.force_login(by)
    case = deed.case
    client.post("/admin/cases/decision/add/", {key: str(value) for key, value in _row(deed, by).items()})
    client.post(f"/admin/cases/case/{case.pk}/change/", {"stage": "redaction_approved", "expectation_approved": "on"})
    return Decision.objects.exists()


def by_sql(deed: Deed, by: User) -> bool:
    """As somebody with a shell at the database."""
    row = _row(deed, by)
    fields = {field.name: field for field in Decision._meta.concrete_fields}
    columns = ", ".join(f'"{fields[name].column}"' for name in row)
    values = [fields[name].get_db_prep_save(value, connection) for name, value in row.items()]
    marks = ", ".join(["%s"] * len(row))
    statement = f'INSERT INTO "{Decision._meta.db_table}" ({columns}) VALUES ({marks})'
    with (
        pytest.raises(DatabaseError, match="own work"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, values)
    return Decision.objects.exists()


def _row(deed: Deed, by: User) -> dict[str, Any]:
    """The decision as a row; a foreign key is its value."""
    seen, control = factories.revision(deed.case), deed.says.get("control")
    subject = control or seen
    return {
        "id": Decision().pk,
        "case": deed.case.pk,
        "revision": seen.pk,
        "control": control.pk if control else None,
        "kind": deed.name,
        "outcome": "approved",
        "content_hash": seen.content_hash,
        "fixture_hash": subject.fixture_hash,
        "checks_hash": subject.checks_hash,
        "redaction": redaction_rows.require_newest(seen).pk,
        "note": "",
        "decided_by": by.pk,
        "decided_at": timezone.now(),
        "voided_at": None,
        "void_reason": "",
    }


def going(way: Way, *, token: bool = False) -> Callable[[Deed, User], bool]:
    def go(deed: Deed, by: User) -> bool:
        outcome = ways.do(deed, by, way, token=token)
        assert outcome in (Outcome.DONE, Outcome.WRONG_PERSON)
        return outcome == Outcome.DONE

    return go


WAYS: dict[str, Callable[[Deed, User], bool]] = {
    "service": going(Way.SERVICE),
    "page": going(Way.PAGE),
    "API with a session": going(Way.API),
    "API with a token": going(Way.API, token=True),
    "service with a token": going(Way.SERVICE, token=True),
    "administrators' site": by_administration,
    "SQL": by_sql,
}
FOR_PEOPLE = ["service", "page", "API with a session"]


def refused(case: Case, kind: str, by: User, *ways_in: str) -> bool:
    """Whether each of the ways refuses it, and nothing is decided."""
    for way in ways_in:
        assert not WAYS[way](approval(kind, case), by), way
        assert not Decision.objects.exists(), way
        assert factories.fresh(case).stage == "in_review", way
    return True


@pytest.mark.parametrize("root", [False, True], ids=["person", "superuser"])
@pytest.mark.parametrize("kind", KINDS)
def test_nobody_approves_what_they_captured_in_any_way(of: People, kind: str, root: bool) -> None:
    case = factories.in_review(of)
    author = give_every_role(of.responder, of)
    assert refused(case, kind, superuser(author) if root else author, *WAYS)


def test_a_superuser_without_a_role_approves_nothing(of: People) -> None:
    case = factories.in_review(of)
    root = User.objects.create_superuser("root", "root@example.invalid")
    for kind in KINDS:
        assert refused(case, kind, root, *FOR_PEOPLE, "service with a token", "administrators' site")


@pytest.mark.parametrize("way", FOR_PEOPLE)
@pytest.mark.parametrize("kind", KINDS)
def test_somebody_else_with_the_role_approves_it(of: People, kind: str, way: str) -> None:
    """So that a refusal above says something. Being a superuser beside it changes nothing."""
    case = factories.in_review(of)
    other = factories.everyone(of.project)
    factories.see_everything(other, case)
    if way == "page":
        superuser(other)
    assert WAYS[way](approval(kind, case), other)
    assert Decision.objects.get().decided_by == other


def test_the_program_of_somebody_who_may_approves_nothing(of: People) -> None:
    case, other = factories.in_review(of), superuser(factories.everyone(of.project))
    for kind in KINDS:
        assert refused(case, kind, other, "API with a token", "service with a token")


# --- promotion --------------------------------------------------------------------------------------------------------


def bulk_page(case: Case, seen: str, by: User) -> None:
    client = Client()
    client.force_login(by)
    chosen = f"{case.readable_id} {seen}"
    assert client.post("/lanes/RC/blocking/promotion/", {"chosen": chosen}).status_code == 200


def bulk_api(case: Case, seen: str, by: User) -> None:
    client = Client()
    client.force_login(by)
    body = {"lane": "blocking", "chosen": [{"case": str(case.pk), "fixture_hash": seen}]}
    assert client.post("/api/v1/bulk-promotions/", body, "application/json").status_code == 200


def one(way: Way) -> Callable[[Case, str, User], None]:
    def go(case: Case, seen: str, by: User) -> None:
        deed = Deed(name="promote", case=case, says={"lane": LaneName.BLOCKING, "fixture_hash": seen})
        ways.do(deed, by, way)

    return go


PROMOTIONS: dict[str, Callable[[Case, str, User], None]] = {
    "several on a page": bulk_page,
    "several by the API": bulk_api,
    **{way.value: one(way) for way in Way},
}


def test_who_captured_a_case_never_promotes_it_to_blocking_and_who_did_not_does(of: People) -> None:
    case = factories.nonblocking(of)
    factories.with_history(of, case)
    author, seen = superuser(give_every_role(of.responder, of)), factories.revision(case).fixture_hash
    for way, promote in PROMOTIONS.items():
        promote(factories.fresh(case), seen, author)
        assert LaneEntry.objects.get(left_at=None).lane.name == "nonblocking", way
    bulk_page(case, seen, of.qa)
    assert LaneEntry.objects.get(left_at=None).lane.name == "blocking"
