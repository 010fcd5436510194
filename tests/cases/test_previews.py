"""A draft tried out on the recorded run."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from replaycases.accounts.roles import Role
from replaycases.cases import captures, choosing, drafts, evidence, outlines, policies, previews
from replaycases.cases.models import Capture, Origin
from replaycases.cases.previews import Preview
from replaycases.importers.findings import ImportRefused
from replaycases.web.captures import timeline_page
from tests import factories
from tests.importers.transcripts import answers, asks, call, says, transcript, user

pytestmark = pytest.mark.django_db

TRACE = transcript(
    user("refund 4711"),
    asks(call("look_up", {"id": 1}, id="a")),
    answers("open", id="a"),
    asks(call("refund", {"id": 1, "note": "x"}, id="b")),
    answers("timed out", id="b"),
    says("It is refunded."),
)
NAMED = {"case_id": "refund-claimed", "incident_id": "INC-7", "frozen_at": "2026-11-01T09:00:00+01:00"}
CLAIM = {"id": "done", "statement": "It is refunded.", "detect": {"any": ["(?i)refunded"]}}
EXPECTED = {"boundary": ["done"], "prohibited_claims": [CLAIM]}


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


@pytest.fixture
def capture(of: factories.People) -> Capture:
    return captures.bring(of.responder, project=of.project, data=TRACE, origin=Origin.PASTE)


def tried(of: factories.People, capture: Capture, **choices: Any) -> Preview:
    return previews.preview(of.responder, drafts.save(of.responder, capture=capture, run=0, choices=choices))


def test_the_incident_is_seen_in_the_recorded_run(of: factories.People, capture: Capture) -> None:
    found = tried(of, capture, **NAMED, expected=EXPECTED)
    assert found.results["done"].result == "violated"
    assert found.incident_is_seen


def test_an_incident_that_did_not_happen_is_not_seen(of: factories.People, capture: Capture) -> None:
    other = {**CLAIM, "detect": {"any": ["cancelled"]}}
    found = tried(of, capture, **NAMED, expected={**EXPECTED, "prohibited_claims": [other]})
    assert found.results["done"].result == "held"
    assert not found.incident_is_seen


def test_what_is_still_to_be_supplied_is_said_with_the_report(of: factories.People, capture: Capture) -> None:
    found = tried(of, capture, case_id="x")
    assert found.refused is not None
    assert "incident_id, frozen_at" in found.refused.message
    assert found.report is not None
    assert not found.results


def test_faults_are_found_before_there_is_an_expectation(of: factories.People, capture: Capture) -> None:
    found = tried(of, capture, **{**NAMED, "time_zone": "Nowhere/At/All"})
    assert [finding.pointer for finding in found.findings if finding.level == "error"] == ["/time_zone"]
    assert not tried(of, capture, **NAMED).findings


def test_a_frozen_time_without_its_offset_is_not_kept(of: factories.People, capture: Capture) -> None:
    with pytest.raises(ImportRefused, match="/frozen_at"):
        tried(of, capture, **{**NAMED, "frozen_at": "2026-01-01"})
    assert drafts.of_run(capture, 0) is None


def test_a_malformed_expectation_is_found(of: factories.People, capture: Capture) -> None:
    found = tried(of, capture, **NAMED, expected={"boundary": ["gone"], "prohibited_claims": [CLAIM]})
    assert any(finding.level == "error" and finding.pointer.startswith("/expected") for finding in found.findings)
    assert not found.results


def test_after_a_horizon_the_recorded_next_call_is_what_crosses(of: factories.People, capture: Capture) -> None:
    expected = {"boundary": ["never"], "tool_sequence": {"id": "never", "forbid": [{"tool": "refund"}]}}
    found = tried(of, capture, **NAMED, expected=expected, horizon_after=3)
    assert found.results["never"].result == "violated"


def test_who_may_not_read_raw_evidence_sees_no_preview(of: factories.People, capture: Capture) -> None:
    draft = drafts.save(of.responder, capture=capture, run=0, choices=NAMED)
    with pytest.raises(PermissionDenied):
        previews.preview(of.qa, draft)


# --- choices, part by part ------------------------------------------------------------------------------------------


def test_a_part_is_changed_and_the_others_stay(of: factories.People, capture: Capture) -> None:
    choosing.choose(of.responder, capture=capture, run=0, parts=NAMED)
    draft = choosing.choose(of.responder, capture=capture, run=0, parts={"case_id": "other", "incident_id": ""})
    assert drafts.choices_of(draft) == {"case_id": "other", "frozen_at": NAMED["frozen_at"]}


def test_a_part_is_changed_as_it_stands_and_not_as_it_was_seen(of: factories.People, capture: Capture) -> None:
    change = partial(choosing.change, of.responder, capture=capture, run=0, part="leave_out")
    for step in (1, 2):
        draft = change(into=lambda there, step=step: [*(there or ()), step])
    assert drafts.choices_of(draft) == {"leave_out": [1, 2]}


def steps(of: factories.People, capture: Capture, shown: range, kept: set[int], end: int | None = None) -> Any:
    draft = choosing.choose_steps(of.responder, capture=capture, run=0, shown=shown, kept=kept, ends_after=end)
    return drafts.choices_of(draft)


def test_steps_that_are_not_shown_stay_as_they_were(of: factories.People, capture: Capture) -> None:
    steps(of, capture, range(1, 3), {1})
    assert steps(of, capture, range(3, 6), {3, 5}) == {"leave_out": [2, 4]}


@pytest.mark.parametrize("by_steps", [False, True])
def test_what_somebody_else_chose_while_the_lock_was_waited_for_stays(
    of: factories.People, capture: Capture, by_steps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = factories.person(of.project, Role.RESPONDER)
    locked, theirs = policies.require_roles_locked, [{"case_id": "theirs", "leave_out": [1]}]

    def waits(*said: Any) -> None:
        if theirs:
            drafts.save(other, capture=capture, run=0, choices=theirs.pop())
        locked(*said)

    monkeypatch.setattr(policies, "require_roles_locked", waits)
    if by_steps:
        assert steps(of, capture, range(3, 6), {3, 5}) == {"case_id": "theirs", "leave_out": [1, 4]}
    else:
        draft = choosing.choose(of.responder, capture=capture, run=0, parts={"incident_id": "INC-7"})
        assert drafts.choices_of(draft) == {"case_id": "theirs", "leave_out": [1], "incident_id": "INC-7"}


def test_a_draft_ends_after_a_step_whatever_is_left_out_before(of: factories.People, capture: Capture) -> None:
    chosen = steps(of, capture, range(1, 6), {1, 3, 4, 5}, 4)
    assert chosen == {"leave_out": [2], "horizon_after": 3}
    assert choosing.ends_after(chosen, outlines.of_run(capture, 0).steps) == 4


def test_an_unanswered_step_is_left_out_and_the_draft_goes_on(of: factories.People) -> None:
    data = transcript(
        user("x"), asks(call("look_up", id="a"), call("refund", id="b")), answers("1", id="b"), says("Ok")
    )
    capture = captures.bring(of.responder, project=of.project, data=data, origin=Origin.PASTE)
    lines = outlines.of_run(capture, 0).steps
    assert [line.whole for line in lines] == [True, False, True, True]
    assert timeline_page.chosen_of({}, lines).left == 1
    with pytest.raises(ValidationError, match="Step 2 lacks its answer"):
        steps(of, capture, range(1, 5), {1, 2, 3, 4}, 3)
    chosen = steps(of, capture, range(1, 5), {1, 3, 4}, 3)
    assert chosen == {"leave_out": [2], "horizon_after": 2}
    assert timeline_page.chosen_of(chosen, lines).left == 2
    found = tried(of, capture, **NAMED, leave_out=[2], expected=EXPECTED)
    assert found.report is not None
    assert [gap.declared for gap in found.report.gaps if gap.name == "left_out_unanswered"] == [False]
    assert found.is_fixture


def test_a_trial_is_remembered_and_shown_no_more_once_the_capture_is_destroyed(
    of: factories.People, capture: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = drafts.save(of.responder, capture=capture, run=0, choices={**NAMED, "expected": EXPECTED})
    found = previews.preview(of.responder, draft)
    monkeypatch.setattr(previews, "to_case", None)
    assert previews.preview(of.responder, draft) is found
    draft.capture.purged_at = timezone.now()
    with pytest.raises(evidence.EvidenceDestroyed):
        previews.preview(of.responder, draft)


def test_something_must_be_left(of: factories.People, capture: Capture) -> None:
    with pytest.raises(ValidationError, match="Nothing would be left"):
        steps(of, capture, range(1, 6), set())
    with pytest.raises(ValidationError, match="no step 9"):
        steps(of, capture, range(1, 6), {1}, 9)


def test_what_is_chosen_of_a_step_reaches_the_fixture(of: factories.People, capture: Capture) -> None:
    other = {"tool": "escalate", "arguments": {}, "outcome": {"type": "result", "value": 1}, "origin": "authored"}
    chosen = {
        **NAMED,
        "expected": EXPECTED,
        "leave_out": [1],
        "optional": [2],
        "alternatives": {"4": [other]},
        "ignore": [{"tool": "refund", "pointer": "/note"}],
        "policies": [{"name": "p", "version": "1", "sha256": "a" * 64}],
    }
    fixture = drafts.imported(of.responder, drafts.save(of.responder, capture=capture, run=0, choices=chosen)).fixture
    assert fixture is not None
    looked_up, _, refund, _ = fixture.events
    assert looked_up.optional
    assert refund.match.ignore == ("/note",)
    assert refund.alternatives[0].tool == "escalate"
    assert fixture.policies[0]["name"] == "p"
