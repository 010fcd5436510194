"""The redaction policy of a project: read by its people, tried on a case, kept as the next version."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import intake, redaction_policies
from replaycases.cases.models import Redaction, RedactionPolicy
from tests import factories
from tests.web.conftest import client_of

pytestmark = pytest.mark.django_db
ADDRESS = "/people/RC/redaction-policy/"
MAIL = "jane.doe@corp.test"


@pytest.fixture
def reviewer(project: Project) -> User:
    return factories.person(project, Role.PRIVACY_REVIEWER)


@pytest.fixture
def setting(reviewer: User) -> Client:
    return client_of(reviewer)


def saved(reviewer: User, project: Project, data: dict[str, Any], *, seen: int = 0) -> RedactionPolicy:
    return redaction_policies.save(reviewer, project=project, data=data, note=f"After {seen}.", seen=seen)


def sent(client: Client, text: str, **changes: Any) -> Any:
    return client.post(f"{ADDRESS}versions/", {"seen": 0, "text": text, "note": "Our own address.", **changes})


def html(answer: Any) -> str:
    return str(answer.content.decode())


def test_without_a_policy_of_its_own_the_page_says_what_holds(looking: Client) -> None:
    said = html(looking.get(ADDRESS))
    assert "no policy of its own" in said
    assert "Nothing: every kind is looked for." in said
    assert "Privacy reviewers and security owners set the policy." in said


def test_a_version_is_saved_shown_and_compared_with_the_one_before(
    setting: Client, reviewer: User, project: Project
) -> None:
    saved(reviewer, project, {"dates": "shift"})
    rules = {"dates": "shift", "fields": [{"key": "*_ref", "kind": "id"}], "kinds_off": ["organisation"]}
    answer = sent(setting, json.dumps(rules), seen=1)
    assert (answer.status_code, answer.headers["Location"]) == (302, ADDRESS)
    said = html(setting.get(ADDRESS))
    assert "Version 2" in said
    assert "*_ref" in said
    assert "Our own address." in said
    changed = html(setting.get(f"{ADDRESS}versions/2/"))
    assert "kinds_off" in changed
    assert "1 difference<" not in changed
    assert "No difference" in html(setting.get(f"{ADDRESS}versions/1/?from=1"))
    assert setting.get(f"{ADDRESS}versions/3/").status_code == 404


def test_values_that_are_allowed_are_counted_for_who_reads_no_raw_evidence(
    setting: Client, looking: Client, reviewer: User, project: Project
) -> None:
    saved(reviewer, project, {"allowed": ["other@corp.test"]})
    saved(reviewer, project, {"allowed": [MAIL]}, seen=1)
    for address in (ADDRESS, f"{ADDRESS}versions/2/", f"{ADDRESS}versions/2/?from=1"):
        assert MAIL in html(setting.get(address)), address
        assert "corp.test" not in html(looking.get(address)), address
    assert "1 value" in html(looking.get(ADDRESS))
    assert looking.get(f"{ADDRESS}versions/2/").context["differences"].count == 1


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('{\n"dates": "keep",\n"kinds_off": ["secret"]}', 3, "never switched off"),
        ('{\n"fields": [\n{"key": "x", "kind": "y"}]}', 3, "is one of secret"),
        ('{\n"dates": ,}', 1, "line 2, column 10"),
        ("[]", 1, "A policy is a JSON object."),
        ('{"name": "x"}', 1, "Leave out name"),
    ],
)
def test_what_is_wrong_stands_beside_its_line_and_nothing_is_kept(
    setting: Client, text: str, line: int, says: str
) -> None:
    answer = sent(setting, text)
    assert answer.status_code == 422
    assert [item.line for item in answer.context["findings"]] == [line]
    assert says in html(answer)
    assert answer.context["form"]["text"].value() == text
    assert not RedactionPolicy.objects.exists()


def test_a_note_is_asked_for(setting: Client) -> None:
    assert sent(setting, '{"dates": "shift"}', note=" ").status_code == 422
    assert not RedactionPolicy.objects.exists()


def test_a_version_that_came_meanwhile_is_a_conflict_that_shows_what_differs(
    setting: Client, reviewer: User, project: Project
) -> None:
    saved(reviewer, project, {"aliases": "replace"})
    answer = sent(setting, '{"dates": "shift"}')
    assert answer.status_code == 409
    assert "version 1 came in the meantime" in html(answer)
    assert answer.context["differences"].count == 2
    assert answer.context["form"]["seen"].value() == "1"
    assert sent(setting, '{"dates": "shift"}', seen=1).status_code == 302


def test_a_policy_is_tried_on_a_case_before_anything_is_kept(setting: Client, reviewer: User, project: Project) -> None:
    people = factories.people(project)
    case = factories.case(project, people.responder, factories.fixture(input={"mail": MAIL, "ref": "AB-1234"}))
    before = Redaction.objects.count()
    form = {"seen": 0, "text": json.dumps({"allowed": [MAIL]}), "case": case.readable_id.lower()}
    answer = setting.post(f"{ADDRESS}preview/", form)
    assert answer.status_code == 200
    [row] = [row for row in answer.context["previewed"].rows if row.kind == "e-mail"]
    assert (row.now, row.then, row.change) == (1, 0, "−1")
    assert answer.context["form"]["text"].value() == form["text"]
    assert (Redaction.objects.count(), RedactionPolicy.objects.count()) == (before, 0)


@pytest.mark.parametrize("name", ["", "RC-77", "XX-1", "nothing"])
def test_a_case_that_is_not_the_projects_is_asked_for_again(setting: Client, name: str) -> None:
    foreign = factories.project("XX")
    factories.case(foreign, factories.everyone(foreign))
    answer = setting.post(f"{ADDRESS}preview/", {"seen": 0, "text": "{}", "case": name})
    assert answer.status_code == 422
    assert "Name a case of RC" in html(answer)


def test_a_case_without_a_fixture_is_a_sentence_beside_its_field(
    setting: Client, project: Project, everyone: User
) -> None:
    case = intake.create_case(everyone, project=project, **factories.STATEMENT)
    answer = setting.post(f"{ADDRESS}preview/", {"seen": 0, "text": "{}", "case": case.readable_id})
    assert answer.status_code == 409
    assert "The case has no fixture yet." in html(answer)


@pytest.mark.parametrize("address", ["versions/new/", "versions/", "preview/"])
def test_only_who_sets_the_policy_writes_or_tries_one(looking: Client, address: str) -> None:
    ask = looking.get if address == "versions/new/" else looking.post
    assert ask(f"{ADDRESS}{address}").status_code == 403
