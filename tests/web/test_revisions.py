from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import comments, evidence, intake
from replaycases.cases.models import Case, Classification, FixtureRevision, ReviewComment
from tests import factories
from tests.web.conftest import client_of

LIST = "/cases/RC-1/revisions/"
ONE = "/cases/RC-1/revisions/1/"
TWO = "/cases/RC-1/revisions/2/"
NEW = "/cases/RC-1/revisions/new/"


@pytest.fixture
def second(case: Case, everyone: User) -> FixtureRevision:
    changed = factories.fixture(input={"order": "o-2"})
    return intake.add_revision(everyone, case=case, fixture=changed, changed="Another order", seen_revision=1)


def sent(text: str | None = None, **more: Any) -> dict[str, Any]:
    said = factories.fixture(input={"order": "o-2"}).decode() if text is None else text
    return {"seen": "1", "text": said, "changed": "Another order", **more}


def words(response: Any) -> str:
    return str(response.content.decode())


def test_the_list_names_author_change_and_voided_approvals(
    looking: Client, case: Case, second: FixtureRevision
) -> None:
    html = words(looking.get(LIST))
    assert "Revision 2" in html
    assert "the current one" in html
    assert second.content_hash in html


def test_what_a_quarantined_revision_changed_is_told_to_its_readers_alone(
    looking: Client, signed_in: Client, second: FixtureRevision, everyone: User
) -> None:
    assert "Another order" not in words(signed_in.get(LIST))
    factories.opened(second.case, everyone)
    assert "Another order" in words(signed_in.get(LIST))
    assert "Another order" not in words(looking.get(LIST))


def test_a_blank_case_says_that_it_has_no_fixture(signed_in: Client, project: Project, everyone: User) -> None:
    intake.create_case(everyone, project=project, **factories.STATEMENT)
    assert "No fixture yet" in words(signed_in.get(LIST))
    assert "The first one." in words(signed_in.get(NEW))
    assert "The first one. It names the case." in words(signed_in.get(NEW))


def test_the_document_is_read_event_by_event(signed_in: Client, case: Case) -> None:
    html = words(signed_in.get(ONE))
    assert "Event 1" in html
    assert 'id="/events/0/outcome"' in html
    assert "refund.lookup" in html


def test_a_quarantined_document_is_for_readers_and_the_page_says_who_they_are(project: Project, everyone: User) -> None:
    factories.case(project, everyone, classification=Classification.QUARANTINED)
    response = client_of(factories.person(project, Role.QA)).get(ONE)
    assert response.status_code == 403
    assert "Privacy reviewer" in words(response)
    assert client_of(factories.person(project, Role.PRIVACY_REVIEWER)).get(ONE).status_code == 200


def test_a_long_document_is_shown_500_rows_a_page_and_a_place_leads_to_its_page(
    signed_in: Client, project: Project, everyone: User
) -> None:
    factories.case(
        project, everyone, factories.fixture(input=[{"order": f"o-{n}", "note": "x" * 90} for n in range(700)])
    )
    html = words(signed_in.get(ONE))
    assert 'id="/input/0"' in html
    assert 'id="/input/600"' not in html
    assert 'id="/input/600"' in words(signed_in.get(f"{ONE}?at=/input/600/order"))


def test_a_big_value_is_cut_with_its_size_and_a_download(signed_in: Client, project: Project, everyone: User) -> None:
    factories.case(project, everyone, factories.fixture(input={"note": "y" * 500_000}))
    html = words(signed_in.get(ONE))
    assert "cut: the whole has 500002 characters" in html
    assert len(html) < 60_000


def test_hidden_characters_are_drawn(signed_in: Client, project: Project, everyone: User) -> None:
    factories.case(project, everyone, factories.fixture(input={"a\u202eb": "x\u200by\x00"}))
    html = words(signed_in.get(ONE))
    assert "\u202e" not in html
    assert "U+202E" in html
    assert "U+200B" in html


def test_a_comment_is_made_at_its_place_and_stands_beside_it(signed_in: Client, case: Case) -> None:
    form = words(signed_in.get(f"{ONE}?at=/events/0/outcome"))
    assert 'value="/events/0/outcome"' in form
    answer = signed_in.post(f"{ONE}comments/", {"pointer": "/events/0/outcome/value", "text": "Whose state?"})
    assert answer.headers["Location"] == f"{ONE}#/events/0/outcome/value"
    assert "Whose state?" in words(signed_in.get(ONE))


def test_a_comment_on_nothing_is_refused_and_kept(signed_in: Client, case: Case) -> None:
    answer = signed_in.post(f"{ONE}comments/", {"pointer": "/events/9", "text": "Whose state?"})
    assert answer.status_code == 422
    assert "has nothing at this place" in words(answer)
    assert "Whose state?" in words(answer)
    assert not ReviewComment.objects.exists()


@pytest.mark.parametrize("pointer", ["no pointer", "/a~9", "\x00", "/" * 600])
def test_a_broken_pointer_is_refused_in_words(signed_in: Client, case: Case, pointer: str) -> None:
    assert signed_in.post(f"{ONE}comments/", {"pointer": pointer, "text": "x"}).status_code == 422


def test_who_looks_only_may_not_comment_and_is_told_why(looking: Client, case: Case) -> None:
    assert looking.post(f"{ONE}comments/", {"pointer": "", "text": "x"}).status_code == 403
    assert "You cannot comment." in words(looking.get(f"{ONE}?at="))


def test_a_comment_is_resolved_on_the_page(signed_in: Client, case: Case, everyone: User) -> None:
    comment = comments.add(everyone, revision=factories.revision(case), pointer="/events/0", text="x")
    address = f"/cases/RC-1/comments/{comment.pk}/resolution/"
    assert signed_in.post(address, {"resolution": "It is made up."}).status_code == 302
    html = words(signed_in.get(ONE))
    assert "It is made up." in html
    assert signed_in.post(address, {"resolution": "again"}).status_code == 409


def test_an_open_comment_of_an_earlier_revision_is_named_on_the_next(
    signed_in: Client, case: Case, everyone: User
) -> None:
    comments.add(everyone, revision=factories.revision(case), pointer="/events/0", text="x")
    intake.add_revision(everyone, case=case, fixture=factories.fixture(input={}), seen_revision=1)
    assert "it stays until it is resolved" in words(signed_in.get(TWO))


def test_differences_are_told_between_any_two_revisions(
    signed_in: Client, second: FixtureRevision, everyone: User
) -> None:
    factories.opened(second.case, everyone)
    html = words(signed_in.get(f"{TWO}differences/?from=1"))
    assert "1 difference in 1 part" in html
    assert "o-<mark" in html
    back = words(signed_in.get(f"{ONE}differences/?from=2"))
    assert "Revision 2 to revision 1" in back


def test_the_first_revision_has_nothing_before_it(signed_in: Client, case: Case) -> None:
    assert "Nothing came before it" in words(signed_in.get(f"{ONE}differences/"))


@pytest.mark.parametrize("number", ["9", "-1", "x", "٣", "99999999999999999999"])
def test_differences_from_a_revision_that_is_not_there_are_not_found(
    signed_in: Client, second: FixtureRevision, number: str
) -> None:
    assert signed_in.get(f"{TWO}differences/?from={number}").status_code == 404


def test_differences_need_reading_both(project: Project, everyone: User, case: Case) -> None:
    intake.add_revision(everyone, case=case, fixture=factories.fixture(input={}), seen_revision=1)
    qa = client_of(factories.person(project, Role.QA))
    assert qa.get(f"{ONE}differences/?from=2").status_code == 403
    assert qa.get(f"{TWO}differences/?from=1").status_code == 403


def test_an_edited_text_becomes_the_next_revision(signed_in: Client, case: Case) -> None:
    answer = signed_in.post(NEW, sent())
    assert answer.headers["Location"] == TWO
    made = case.revisions.get(number=2)
    assert made.changed == "Another order"


def test_the_text_to_edit_is_the_document_with_hidden_characters_escaped(
    signed_in: Client, project: Project, everyone: User
) -> None:
    factories.case(project, everyone, factories.fixture(input={"a": "x\u202ey", "b": "ü 😀"}))
    html = words(signed_in.get(NEW))
    assert "x\\u202ey" in html
    assert "ü 😀" in html


def test_an_uploaded_file_becomes_the_next_revision(signed_in: Client, case: Case) -> None:
    answer = signed_in.post(NEW, sent("", fixture=_file(factories.fixture(input={"order": "o-3"}))))
    assert answer.status_code == 302
    assert case.revisions.count() == 2


def test_a_finding_stands_beside_its_line_and_the_text_is_kept(signed_in: Client, case: Case) -> None:
    document = json.loads(factories.fixture())
    document["events"][0]["outcome"]["type"] = "neither"
    text = json.dumps(document, indent=1)
    line = next(n for n, row in enumerate(text.split("\n"), 1) if "neither" in row or '"outcome"' in row)
    answer = signed_in.post(NEW, sent(text))
    html = words(answer)
    assert answer.status_code == 422
    assert f">{line}</th>" in html or f">{line + 1}</th>" in html
    assert "&quot;neither&quot;" in html
    assert case.revisions.count() == 1


HOSTILE = [
    b"",
    b"{",
    b"\x00",
    b"\xff\xfe{}",
    b'{"a": "\\ud800"}',
    '{"a": "\ud800"}'.encode("utf-8", "surrogatepass"),
    b'{"a": 1, "a": 2}',
    b"[" * 5000,
    b"null",
    b"[]",
    b'{"schema_version": "9.9"}',
]


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_bytes_are_findings(signed_in: Client, case: Case, data: bytes) -> None:
    answer = signed_in.post(NEW, sent("", fixture=_file(data)))
    assert answer.status_code == 422
    assert case.revisions.count() == 1


def test_a_revision_started_from_an_earlier_one_is_a_conflict_that_shows_both(
    signed_in: Client, case: Case, second: FixtureRevision
) -> None:
    mine = factories.fixture(input={"order": "o-3"}).decode()
    answer = signed_in.post(NEW, sent(mine))
    html = words(answer)
    assert answer.status_code == 409
    assert "revision 2 came in the meantime" in html
    assert "what you sent" in html
    assert "o-3" in html
    assert 'name="seen" value="2"' in html
    assert case.revisions.count() == 2


def test_nothing_changed_is_refused(signed_in: Client, case: Case) -> None:
    answer = signed_in.post(NEW, sent(factories.fixture().decode()))
    assert answer.status_code == 422
    assert "Nothing is changed" in words(answer)


def test_a_workflow_engineer_is_told_and_held_to_the_expectation(project: Project, case: Case) -> None:
    engineer = client_of(factories.person(project, Role.WORKFLOW_ENGINEER))
    assert "You may change only <code>expected</code>" in words(engineer.get(NEW))
    assert engineer.post(NEW, sent()).status_code == 403
    assert case.revisions.count() == 1


def test_a_large_document_is_only_uploaded(signed_in: Client, project: Project, everyone: User) -> None:
    factories.case(project, everyone, factories.fixture(input={"note": "y" * 1_100_000}))
    html = words(signed_in.get(NEW))
    assert "too much to edit in a page" in html
    assert '<textarea name="text"' not in html


def test_who_cannot_read_the_current_revision_can_only_upload(project: Project, everyone: User) -> None:
    factories.case(project, everyone, classification=Classification.QUARANTINED)
    engineer = client_of(factories.person(project, Role.WORKFLOW_ENGINEER))
    html = words(engineer.get(NEW))
    assert "your roles do not read" in html
    assert "o-1" not in html


def test_detect_rules_stay_beside_an_edited_fixture(signed_in: Client, project: Project, everyone: User) -> None:
    old = {
        **{key: value for key, value in json.loads(factories.fixture()).items() if key not in ("events", "expected")},
        "schema_version": "1.0",
        "tool_events": [
            {"attempt": "a", "tool": "t", "arguments": {}, "outcome": {"type": "result", "value": 1}},
        ],
        "expected": {"prohibited_claims": ["It is done."]},
    }
    detect = b'{"It is done.": {"any": ["done"]}}'
    case = factories.case(project, everyone, json.dumps(old).encode(), detect=detect)
    answer = signed_in.post(NEW, sent(json.dumps({**old, "input": {"order": "o-9"}}), keep_detect="on"))
    assert answer.status_code == 302
    kept = case.revisions.get(number=2)
    assert kept.detect is not None
    assert evidence.read(kept.detect) == detect


def test_redacted_evidence_in_which_a_finding_is_open_is_not_sent(
    signed_in: Client, project: Project, everyone: User
) -> None:
    case = factories.case(project, everyone, factories.fixture(input={"message": "write to jane.doe@corp.test"}))
    said = signed_in.get("/cases/RC-1/revisions/1/").content.decode()
    assert "Revision 1 of RC-1 is not sent: open findings: 1." in said
    assert "/revisions/1/document/" not in said
    for address in ("/cases/RC-1/revisions/1/document/", f"/api/v1/revisions/{case.current_revision_id}/document/"):
        answer = signed_in.get(address)
        assert (answer.status_code, b"jane.doe" in answer.content) == (409, False), address


def test_a_control_is_downloaded_by_those_who_may_read_it(
    project: Project, everyone: User, looking: Client, signed_in: Client
) -> None:
    case = factories.case(project, everyone)
    control = factories.control(factories.revision(case), everyone)
    factories.opened(case, everyone)
    addresses = [f"/cases/RC-1/controls/{control.pk}/{part}/" for part in ("document", "mutation")]
    assert [looking.get(address).status_code for address in addresses] == [200, 200]
    factories.restrict(control.payload)
    for address in addresses:
        assert looking.get(address).status_code == 403
        assert signed_in.get(address).headers["Content-Disposition"].startswith("attachment")


def _file(data: bytes) -> Any:
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile("fixture.json", data)
