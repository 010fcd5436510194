from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import COMMENTS, Role
from replaycases.cases import comments, intake
from replaycases.cases.models import AuditEvent, Case, Classification, FixtureRevision, ReviewComment, Stage
from replaycases.cases.policies import InvalidTransition
from tests import factories

pytestmark = pytest.mark.django_db
PLACE = "/events/0/outcome"


@pytest.fixture
def case(project: Project) -> Case:
    return factories.case(project, factories.everyone(project))


@pytest.fixture
def revision(case: Case) -> FixtureRevision:
    return factories.revision(case)


def test_a_comment_stands_open_at_its_place(revision: FixtureRevision, reviewer: User) -> None:
    comment = comments.add(reviewer, revision=revision, pointer=PLACE, text=" Whose order is it? ")
    assert (comment.pointer, comment.text, comment.author) == (PLACE, "Whose order is it?", reviewer)
    assert comment.resolved_at is None


@pytest.mark.parametrize(
    "pointer", ["/events/7", "/events/-", "events", "/a~2", "/events/0/outcome/type/x", "/" + "a" * 500]
)
def test_a_pointer_to_nothing_is_refused(revision: FixtureRevision, reviewer: User, pointer: str) -> None:
    with pytest.raises(ValidationError) as refused:
        comments.add(reviewer, revision=revision, pointer=pointer, text="x")
    assert list(refused.value.message_dict) == ["pointer"]
    assert not ReviewComment.objects.exists()


def test_a_key_that_no_column_holds_is_not_kept_as_a_pointer(project: Project, reviewer: User) -> None:
    case = factories.case(project, factories.everyone(project), factories.fixture(input={"a\x00b": 1}))
    with pytest.raises(ValidationError, match="cannot be kept"):
        comments.add(reviewer, revision=factories.revision(case), pointer="/input/a\x00b", text="x")


@pytest.mark.parametrize("text", ["", " \n", "x" * 4001])
def test_a_text_that_is_empty_or_too_long_is_refused(revision: FixtureRevision, reviewer: User, text: str) -> None:
    with pytest.raises(ValidationError) as refused:
        comments.add(reviewer, revision=revision, pointer="", text=text)
    assert list(refused.value.message_dict) == ["text"]


def test_only_a_role_that_comments_may(project: Project, revision: FixtureRevision) -> None:
    for role in set(Role) - COMMENTS:
        with pytest.raises(PermissionDenied):
            comments.add(factories.person(project, role), revision=revision, pointer="", text="x")


def test_who_may_not_read_quarantined_evidence_says_nothing_about_it(project: Project) -> None:
    owner = factories.everyone(project)
    case = factories.case(project, owner, classification=Classification.QUARANTINED)
    qa = factories.person(project, Role.QA)
    with pytest.raises(PermissionDenied, match="Privacy reviewer"):
        comments.add(qa, revision=factories.revision(case), pointer="", text="x")
    comment = comments.add(owner, revision=factories.revision(case), pointer="", text="x")
    with pytest.raises(PermissionDenied, match="Privacy reviewer"):
        comments.resolve(qa, comment=comment, resolution="done")


def test_a_closed_case_takes_no_comment(case: Case, revision: FixtureRevision, reviewer: User) -> None:
    Case.objects.filter(pk=case.pk).update(stage=Stage.RETIRED)
    with pytest.raises(InvalidTransition):
        comments.add(reviewer, revision=revision, pointer="", text="x")


def test_somebody_else_resolves_a_comment_with_words(
    project: Project, revision: FixtureRevision, reviewer: User
) -> None:
    comment = comments.add(reviewer, revision=revision, pointer=PLACE, text="x")
    engineer = factories.person(project, Role.WORKFLOW_ENGINEER)
    with pytest.raises(ValidationError):
        comments.resolve(engineer, comment=comment, resolution=" ")
    resolved = comments.resolve(engineer, comment=comment, resolution="It is a made-up order.")
    assert (resolved.resolved_by, resolved.resolution) == (engineer, "It is a made-up order.")


def test_its_author_withdraws_a_comment_without_words(revision: FixtureRevision, reviewer: User) -> None:
    comment = comments.add(reviewer, revision=revision, pointer=PLACE, text="x")
    assert comments.resolve(reviewer, comment=comment, resolution="").resolved_at is not None


def test_a_comment_is_resolved_once(revision: FixtureRevision, reviewer: User) -> None:
    comment = comments.add(reviewer, revision=revision, pointer=PLACE, text="x")
    comments.resolve(reviewer, comment=comment, resolution="first")
    with pytest.raises(InvalidTransition):
        comments.resolve(reviewer, comment=comment, resolution="second")
    assert ReviewComment.objects.get().resolution == "first"


def test_comments_of_every_revision_belong_to_the_case(case: Case, revision: FixtureRevision, reviewer: User) -> None:
    comment = comments.add(reviewer, revision=revision, pointer="", text="x")
    changed = factories.fixture(input={"order": "o-2"})
    intake.add_revision(factories.everyone(case.project), case=case, fixture=changed)
    assert list(comments.of_case(case)) == [comment]


def test_the_audit_names_the_comment_and_says_nothing_of_it(revision: FixtureRevision, reviewer: User) -> None:
    comment = comments.add(reviewer, revision=revision, pointer=PLACE, text="SECRET-TEXT")
    comments.resolve(reviewer, comment=comment, resolution="SECRET-WORDS")
    found = AuditEvent.objects.filter(action__startswith="comment.").order_by("sequence")
    assert [(event.action, event.object_id) for event in found] == [
        ("comment.added", str(comment.pk)),
        ("comment.resolved", str(comment.pk)),
    ]
    assert not any("SECRET" in event.before + event.after or PLACE in event.after for event in found)
