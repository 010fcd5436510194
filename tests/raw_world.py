"""A world in which raw evidence, and all that was made of it, holds one word that stands nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replaycases.accounts.models import User
from replaycases.cases import comments, intake, raw_reads
from replaycases.cases.models import Capture, Case, Classification, OutcomeType
from tests import factories
from tests.api import world as worlds
from tests.api.world import World
from tests.importers.transcripts import answers, asks, call, says, transcript, user
from tests.web import recorded

CANARY = "xylocanary"
CALL = ("tool.call", {"tool": "refund.lookup", "arguments": {"order": CANARY}})
ELSEWHERE = ("tool.call", {"tool": "refund.lookup", "arguments": {"order": f"{CANARY}-2"}})
RED = recorded.says(f"{CANARY}: your refund was completed.", CALL, status="done")
GREEN = recorded.says(f"{CANARY}: I could not confirm the refund yet.", CALL, status="open")
LEFT = recorded.says("I could not confirm it.", ELSEWHERE)


def raw_fixture(**changes: object) -> bytes:
    """Values, arguments, answers and checks hold the word."""
    event = {
        "seq": 1,
        "boundary": "tool",
        "attempt": "a-1",
        "tool": "refund.lookup",
        "arguments": {"order": CANARY},
        "outcome": {"type": "result", "value": {"state": CANARY}},
        "effect": {"action": "look_up", "accepted": True},
    }
    claim = {
        "id": "completed",
        "statement": f"{CANARY} was refunded.",
        "detect": {"any": ["(?i)was completed", CANARY]},
    }
    expected = {**factories.EXPECTED, "prohibited_claims": [claim]}
    return factories.fixture(
        **{"case_id": "raw", "input": {"order": CANARY}, "events": [event], "expected": expected, **changes}
    )


def build() -> World:
    """As `tests.api.world`, but every address leads to what is raw, and the capture is too."""
    steps = [user(f"refund {CANARY}"), asks(call("refund", {"id": CANARY})), answers(CANARY), says(f"Done, {CANARY}.")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worlds, "TRACE", transcript(*steps))
        patch.setattr(worlds, "CHOICES", {**worlds.CHOICES, "identity": {"subject": CANARY}})
        made = worlds.build()
    case = raw_case(made.team)
    return replace(made, case=case, objects={**made.objects, **objects_of(case)})


def raw_case(of: factories.People) -> Case:
    case = factories.case(of.project, of.responder, raw_fixture(), classification=Classification.QUARANTINED)
    revision = intake.add_revision(
        of.responder, case=case, fixture=raw_fixture(identity={"subject": CANARY}), changed=f"Said who {CANARY} is."
    )
    case = factories.fresh(case)
    intake.add_control(
        of.engineer,
        revision=revision,
        name="confirmed",
        outcome_type=OutcomeType.SUCCESS,
        fixture=raw_fixture(case_id="raw-control"),
        mutation=f'[{{"op": "replace", "path": "/events/0/outcome/value/state", "value": "{CANARY}-3"}}]'.encode(),
    )
    comments.add(of.privacy, revision=revision, pointer="/input", text=f"Is {CANARY} a person?")
    old, new = (
        factories.implementation(of.project, of.engineer, f"{factories.NEW_CODE}# raw {side}", version=f"raw-{side}")
        for side in (1, 2)
    )
    for ended in (RED, LEFT):
        recorded.finish(recorded.requested(case, of.engineer, old, new), ended, GREEN, stderr=f"Traceback: {CANARY}")
    return factories.fresh(case)


def objects_of(case: Case) -> dict[str, str]:
    revision = factories.revision(case)
    comparison = revision.comparisons.order_by("-number").first()
    assert comparison is not None
    run = comparison.runs().filter(run_set__control=None).first()
    assert run is not None
    return {
        "cases": str(case.pk),
        "revisions": str(revision.pk),
        "controls": str(revision.controls.get().pk),
        "comments": str(revision.comments.get().pk),
        "comparisons": str(comparison.pk),
        "runs": str(run.pk),
        "run-sets": str(run.run_set_id),
    }


def say_why(reader: User, world: World) -> None:
    """Of the case and of the capture."""
    raw_reads.begin(reader, case=world.case, reason="Ticket 4711.")
    raw_reads.begin(reader, capture=Capture.objects.get(pk=world.objects["captures"]), reason="Ticket 4711.")
