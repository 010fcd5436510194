"""The server flags what the command line would: recordings older than the parsers of the code that replays them."""

from __future__ import annotations

import json

import pytest

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import flags, recording_ages, registry
from replaycases.cases.models import Case, FlagReason, Implementation, RunSet
from tests import factories

pytestmark = pytest.mark.django_db
RECORDED = "aaaa1111"


@pytest.fixture
def engineer(project: Project) -> User:
    return factories.person(project, Role.WORKFLOW_ENGINEER)


def register(
    engineer: User, project: Project, commit: str, code: str, *, parsers: tuple[str, ...] = ("agent.py",)
) -> Implementation:
    """A version whose parser is `code`; each has another number."""
    archive = factories.archive(code, version=commit, spec={"commit": commit, "parsers": list(parsers)})
    return registry.register_archive(engineer, project=project, archive=archive, spec_path="implementation.json")


def replayed(project: Project, responder: User, by: Implementation, commit: str | None = RECORDED) -> Case:
    """A case that was recorded by the code of a commit, and ran with this version."""
    said = {"recorded_by": {"commit": commit, "recorder": "r", "version": "1"}} if commit else {}
    case = factories.case(project, responder, factories.fixture(case_id=f"case-{commit}", **said))
    of = factories.revision(case)
    RunSet.objects.create(
        project=project, revision=of, implementation=by, size=1, fixture_hash=of.fixture_hash,
        checks_hash=of.checks_hash, requested_by=responder,
    )  # fmt: skip
    return case


def found(case: Case) -> list[str]:
    return list(case.flags.filter(reason=FlagReason.PARSER_CHANGED, cleared_at=None).values_list("detail", flat=True))


def test_a_recording_older_than_the_last_change_of_a_parser_is_flagged_once(
    project: Project, responder: User, engineer: User
) -> None:
    case = replayed(project, responder, register(engineer, project, RECORDED, factories.OLD_CODE))
    factories.case(project, responder, factories.fixture(case_id="never-ran"))
    assert flags.look() == 0
    register(engineer, project, "bbbb2222", factories.NEW_CODE)
    assert [flags.look(), flags.look()] == [1, 0]
    case.refresh_from_db()
    assert (found(case), case.flagged) == (
        ["agent.py of agent changed after the commit that recorded it. Record it again on purpose, or "
         "say that it is kept; nothing is removed."], True,
    )  # fmt: skip


def test_who_looked_at_it_keeps_it_until_the_next_change(
    project: Project, responder: User, engineer: User, qa: User
) -> None:
    case = replayed(project, responder, register(engineer, project, RECORDED, factories.OLD_CODE))
    register(engineer, project, "bbbb2222", factories.NEW_CODE)
    flags.look()
    flags.review_again(qa, case=case, note="The change is elsewhere.")
    assert flags.look() == 0
    register(engineer, project, "cccc3333", factories.OLD_CODE + "\n")
    assert flags.look() == 1


def test_what_changed_beside_the_parsers_asks_nothing(project: Project, responder: User, engineer: User) -> None:
    first = register(engineer, project, RECORDED, factories.OLD_CODE)
    replayed(project, responder, first)
    register(engineer, project, "bbbb2222", factories.OLD_CODE)
    assert Implementation.objects.count() == 2
    assert flags.look() == 0


@pytest.mark.parametrize(
    ("commit", "why"),
    [(None, "it does not say which commit"), ("ffff9999", "the list of registered versions of agent does not have")],
)
def test_a_recording_of_which_nobody_knows_the_code_is_flagged(
    commit: str | None, why: str, project: Project, responder: User, engineer: User
) -> None:
    case = replayed(project, responder, register(engineer, project, RECORDED, factories.OLD_CODE), commit)
    assert flags.look() == 1
    assert why in found(case)[0]


def test_a_commit_that_was_cut_short_is_the_same(project: Project, responder: User, engineer: User) -> None:
    replayed(project, responder, register(engineer, project, RECORDED * 5, factories.OLD_CODE))
    assert flags.look() == 0


def test_where_no_parser_is_declared_nothing_is_asked(project: Project, responder: User, engineer: User) -> None:
    bare = register(engineer, project, "bbbb2222", factories.NEW_CODE, parsers=())
    replayed(project, responder, bare)
    other = factories.project("OTHER")
    register(factories.person(other, Role.WORKFLOW_ENGINEER), other, "cccc3333", factories.OLD_CODE)
    assert recording_ages.versions_of(project, "agent") is None
    assert flags.look() == 0


def test_a_version_says_what_its_parsers_hash_to(project: Project, engineer: User) -> None:
    same = [register(engineer, project, commit, factories.OLD_CODE).parsers for commit in ("aaaa", "bbbb")]
    other = register(engineer, project, "cccc", factories.NEW_CODE, parsers=(".",)).parsers
    assert same[0] == same[1]
    assert (set(same[0]), set(other)) == ({"agent.py"}, {"."})
    assert json.dumps(other) != json.dumps(same[0])
