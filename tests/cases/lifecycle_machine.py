"""Several people with several roles try anything with a case, beside a plain model of what may be.

Where something is done, the model must allow it; where it is refused, nothing may have changed, and the refusal says
whether it is the person or the state; and the proper next step by the proper person must succeed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from replaycases.accounts.models import Membership, User
from replaycases.accounts.roles import Role
from replaycases.cases import events
from replaycases.cases.models import (
    AuditEvent,
    AuditHead,
    Case,
    Classification,
    Decision,
    LaneEntry,
    LaneName,
    Proposal,
)
from tests import factories, ways
from tests.ways import Deed, Outcome, Way

PEOPLE = 4
# Roles that somebody can do something with here, and what the rules say who may do what, written down a second time.
ROLES = ["responder", "workflow_engineer", "privacy_reviewer", "incident_owner", "qa", "qa_lead", "viewer"]
MAY: dict[str, set[str]] = {
    "edit": {"responder", "privacy_reviewer", "workflow_engineer"},
    "submit": {"responder"},
    "redaction": {"privacy_reviewer"},
    "expectation": {"incident_owner"},
    "control": {"privacy_reviewer"},
    "reproduced": {"workflow_engineer", "responder", "qa", "qa_lead"},
    "send_back": {"privacy_reviewer", "incident_owner", "qa", "qa_lead"},
    "close": {"incident_owner", "qa", "qa_lead"},
    "reopen": {"incident_owner", "qa", "qa_lead"},
    "promote": {"qa", "qa_lead"},
    "propose override": {"qa_lead"},
    "propose demotion": {"qa", "qa_lead"},
    "propose retirement": {"qa_lead"},
    "confirm override": {"incident_owner"},
    "confirm demotion": {"qa", "qa_lead", "incident_owner"},
    "confirm retirement": {"qa", "qa_lead", "incident_owner"},
}
# Nobody decides about what they cannot read: until a redaction is approved, only these read.
READS_RAW = {"responder", "privacy_reviewer"}
BY_TOKEN = {"edit", "submit", "reproduced"}
# A gate can be closed that the model knows nothing of.
BEHIND_GATES = {"submit", "redaction", "reproduced", "promote", "propose override", "confirm override"}
OPEN = ("quarantined", "in_review", "redaction_approved", "reproduced")
CONTENTS = {"A": "1", "B": "2", "C": "3"}
CHECKS = {"x": factories.EXPECTED, "y": factories.EXPECTED_MORE}

# (which, whether one of those who hold a role for it is preferred)
who = st.tuples(st.integers(0, PEOPLE - 1), st.sampled_from([True, True, True, False]))
tokens = st.sampled_from([False] * 7 + [True])


@dataclass
class Model:
    """What the case must be. A revision is (content, checks); lanes map to revision numbers, from 1."""

    stage: str = "quarantined"
    revisions: list[tuple[str, str]] = field(default_factory=list)
    contributors: set[Any] = field(default_factory=set)
    redaction: bool = False
    expectation: bool = False
    control_approved: set[int] = field(default_factory=set)
    red: set[int] = field(default_factory=set)
    lanes: dict[str, int] = field(default_factory=dict)
    stood_in_nonblocking: set[int] = field(default_factory=set)
    history: bool = False

    @property
    def now(self) -> int:
        return len(self.revisions)

    @property
    def approved(self) -> set[str]:
        return {kind for kind in ("redaction", "expectation") if getattr(self, kind)}

    def void(self, *kinds: str) -> None:
        for kind in kinds:
            setattr(self, kind, False)


def document(content: str, checks: str) -> bytes:
    return factories.fixture(prompt_version=CONTENTS[content], expected=CHECKS[checks])


def mostly(*stages: str) -> Callable[[Any], Any]:
    """The rule is tried in these stages, and every fourth time wherever the case is."""
    return precondition(lambda self: self.model.stage in stages or self.turn % 4 == 0)


class Lifecycle(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.model, self.turn = Model(), 0
        self.pending: dict[Any, tuple[str, int]] = {}
        self.looked: set[tuple[int, int]] = set()
        self.kept = transaction.savepoint()

    def teardown(self) -> None:
        try:
            assert events.verify() == []
        finally:
            transaction.savepoint_rollback(self.kept)

    @initialize(
        held=st.lists(st.sets(st.sampled_from(ROLES), min_size=2, max_size=4), min_size=PEOPLE, max_size=PEOPLE),
        steps=st.integers(0, 9),
    )
    def begin(self, held: list[set[str]], steps: int) -> None:
        at = factories.project()
        self.of = factories.people(at)
        self.roles = [set(roles) for roles in held]
        self.people = [factories.person(at, *roles) for roles in held]  # type: ignore[arg-type]
        # Says of raw tools too that they have no effect, so that it stands beside each red.
        self.of.vendor.memberships.create(project=at, role=Role.SECURITY_OWNER)
        made = factories.case(at, self.of.responder, document("A", "x"), classification=Classification.QUARANTINED)
        factories.describe(self.of, made)
        self.case_id, self.model = made.pk, Model(revisions=[("A", "x")], contributors={self.of.responder.pk})
        self.go_on(steps)

    @property
    def case(self) -> Case:
        return factories.fresh(Case(pk=self.case_id))

    # --- trying ------------------------------------------------------------------------------------------------------

    def pick(self, somebody: tuple[int, bool], act: str) -> int:
        which, able = somebody
        holding = [person for person in range(PEOPLE) if self.roles[person] & MAY[act]]
        return holding[which % len(holding)] if able and holding else which

    def deed(self, name: str, **says: Any) -> Deed:
        return Deed(name=name, case=self.case, says=says)

    def expectation_of(self, shown: Any) -> Deed:
        seen = {"fixture_hash": shown.fixture_hash, "checks_hash": shown.checks_hash}
        return self.deed("expectation", revision=shown.number, **seen)

    def promotion(self, lane: str) -> Deed:
        return self.deed("promote", lane=LaneName(lane), fixture_hash=self.seen().fixture_hash)

    def attempt(
        self,
        person: int,
        act: str,
        allowed: bool,
        deed: Deed,
        *,
        own: bool = True,
        token: bool = False,
        second: bool = True,
    ) -> bool:
        """Whether it was done, in one of the ways. `allowed` is what the model says of the state, `own` whether one's
        own work is no obstacle, `second` whether this is not the same person as the first of two."""
        actor, way = self.people[person], self.way(person)
        before, head = self.snapshot(), AuditHead.objects.get().sequence
        outcome = ways.do(deed, actor, way, token=token)
        own_work = not own and actor.pk in self.model.contributors
        may = second and bool(self.roles[person] & MAY[act]) and (not token or act in BY_TOKEN)
        # Who made the case promotes it to blocking never: there it is a gate that says so.
        may, allowed = may and (not own_work or act == "promote"), allowed and not own_work
        told = f"{outcome}: {act} by {self.roles[person]} by {way}, token {token}, in {self.model}"
        if outcome != Outcome.DONE:
            assert self.snapshot() == before, told
            assert not self.events_of_case(head).exists(), told
            self.refused(outcome, act, may=may, reads=self.reads(person), allowed=allowed, told=told)
            return False
        assert may, told
        assert allowed, told
        assert self.events_of_case(head).filter(actor=actor).exists(), told
        return True

    def reads(self, person: int) -> bool:
        return self.model.redaction or bool(self.roles[person] & READS_RAW)

    def refused(self, outcome: Outcome, act: str, *, may: bool, reads: bool, allowed: bool, told: str) -> None:
        """The person comes before the state, and what nothing stands in the way of is done. A gate may be closed on
        what the model allows; an edit may be refused for its content by who may edit."""
        if not may:
            assert outcome == Outcome.WRONG_PERSON, told
        elif act == "expectation" and not reads:
            assert outcome in (Outcome.WRONG_PERSON, Outcome.WRONG_STATE), told
        elif act == "edit":
            assert not allowed or outcome != Outcome.WRONG_PERSON, told
        else:
            assert outcome == Outcome.WRONG_STATE, told
            assert not allowed or act in BEHIND_GATES, told

    def must(self, actor: User, deed: Deed) -> None:
        """What the right person does at the right time is done."""
        way = self.way(0)
        assert (ways.do(deed, actor, way), way) == (Outcome.DONE, way), f"{deed.name} in {self.model}"

    def way(self, person: int) -> Way:
        """By which way the next deed goes."""
        return Way.SERVICE

    def events_of_case(self, since: int) -> QuerySet[AuditEvent]:
        return AuditEvent.objects.filter(sequence__gt=since, case=self.case_id)

    def snapshot(self) -> tuple[Any, ...]:
        return (
            Case.objects.filter(pk=self.case_id).values().get(),
            list(Decision.objects.order_by("pk").values("pk", "voided_at")),
            list(LaneEntry.objects.order_by("pk").values("pk", "left_at")),
            list(Proposal.objects.order_by("pk").values("pk", "state")),
        )

    @mostly(*OPEN)
    @rule(
        somebody=who,
        content=st.sampled_from("ABC"),
        checks=st.sampled_from("xy"),
        behalf=st.none() | st.integers(0, PEOPLE - 1),
        token=tokens,
    )
    def edit(self, somebody: tuple[int, bool], content: str, checks: str, behalf: int | None, token: bool) -> None:
        person = self.pick(somebody, "edit")
        model, last = self.model, self.model.revisions[-1]
        engineer_only = not self.roles[person] & {"responder", "privacy_reviewer"}
        allowed = model.stage in OPEN and (content, checks) != last and not (engineer_only and content != last[0])
        for_whom = self.people[behalf] if behalf is not None else None
        if self.attempt(
            person,
            "edit",
            allowed and behalf != person,
            self.deed(
                "edit",
                fixture=document(content, checks),
                changed="Something.",
                on_behalf_of=for_whom,
                seen_revision=model.now,
            ),
            token=token,
        ):
            self.edited(content, checks, {self.people[person].pk, *([for_whom.pk] if for_whom else [])})

    def edited(self, content: str, checks: str, by: set[Any]) -> None:
        model = self.model
        same = content == model.revisions[-1][0]
        model.revisions.append((content, checks))
        model.contributors |= by
        model.history = False
        model.void("expectation", *([] if same else ["redaction"]))
        if not same and model.stage in ("redaction_approved", "reproduced"):
            model.stage = "in_review"
        elif same and model.stage == "reproduced":
            model.stage = "redaction_approved"

    @mostly("quarantined")
    @rule(somebody=who, token=tokens)
    def submit(self, somebody: tuple[int, bool], token: bool) -> None:
        person = self.pick(somebody, "submit")
        allowed = self.model.stage == "quarantined" and self.model.now in self.model.red
        if self.attempt(
            person,
            "submit",
            allowed,
            self.deed("submit", fixture_hash=self.seen().fixture_hash),
            token=token,
        ):
            self.model.stage = "in_review"

    def seen(self, number: int = 0) -> Any:
        return self.case.revisions.get(number=number or self.model.now)

    @mostly("in_review")
    @rule(
        somebody=who, back=st.sampled_from([0, 0, 0, 1, 2]), looked=st.sampled_from([True, True, False]), token=tokens
    )
    def approve_redaction(self, somebody: tuple[int, bool], back: int, looked: bool, token: bool) -> None:
        person = self.pick(somebody, "redaction")
        now, shown = self.model.now, self.seen(max(1, self.model.now - back))
        if looked and self.model.stage == "in_review" and self.roles[person] & MAY["redaction"]:
            factories.see_everything(self.people[person], self.case)
            self.looked.add((person, now))
        # What somebody edited is red by itself; of the first revision red was asked for before the review.
        shows_bug = now == 1 or now in self.model.red
        if self.attempt(
            person,
            "redaction",
            self.model.stage == "in_review" and shown.number == now and shows_bug and (person, now) in self.looked,
            self.deed("redaction", revision=shown.number, content_hash=shown.content_hash),
            own=False,
            token=token,
        ):
            self.model.stage, self.model.redaction = "redaction_approved", True

    @mostly(*OPEN[1:])
    @rule(somebody=who, back=st.sampled_from([0, 0, 0, 1, 2]), token=tokens)
    def approve_expectation(self, somebody: tuple[int, bool], back: int, token: bool) -> None:
        person = self.pick(somebody, "expectation")
        shown = self.seen(max(1, self.model.now - back))
        if self.attempt(
            person,
            "expectation",
            self.model.stage in OPEN[1:] and shown.number == self.model.now and not self.model.expectation,
            self.expectation_of(shown),
            own=False,
            token=token,
        ):
            self.model.expectation = True

    @mostly(*OPEN[1:])
    @rule(somebody=who)
    def return_expectation(self, somebody: tuple[int, bool]) -> None:
        person = self.pick(somebody, "expectation")
        if self.attempt(
            person,
            "expectation",
            self.model.stage in OPEN[1:],
            self.deed(
                "return expectation", revision=self.model.now, fixture_hash=self.seen().fixture_hash, note="Again."
            ),
        ):
            self.model.expectation = False

    @mostly("redaction_approved")
    @rule(somebody=who, token=tokens)
    def mark_reproduced(self, somebody: tuple[int, bool], token: bool) -> None:
        person = self.pick(somebody, "reproduced")
        allowed = self.model.stage == "redaction_approved" and self.model.now in self.model.red
        if self.attempt(
            person,
            "reproduced",
            allowed,
            self.deed("reproduced", fixture_hash=self.seen().fixture_hash),
            token=token,
        ):
            self.model.stage = "reproduced"

    @mostly(*OPEN[2:])
    @rule(somebody=who, token=tokens)
    def send_back(self, somebody: tuple[int, bool], token: bool) -> None:
        person = self.pick(somebody, "send_back")
        if self.attempt(
            person,
            "send_back",
            self.model.stage in OPEN[2:],
            self.deed("send_back", reason="Look again."),
            token=token,
        ):
            self.model.stage = "in_review"
            self.model.void("redaction", "expectation")

    @mostly(*OPEN)
    @rule(somebody=who, seldom=st.integers(0, 3))
    def close(self, somebody: tuple[int, bool], seldom: int) -> None:
        if seldom:
            return
        person = self.pick(somebody, "close")
        if self.attempt(
            person,
            "close",
            self.model.stage in OPEN and not self.model.lanes,
            self.deed("close", reason="It cannot be replayed.", missing="The vendor's answer."),
        ):
            self.model.stage = "non_replayable"

    @mostly("non_replayable")
    @rule(somebody=who)
    def reopen(self, somebody: tuple[int, bool]) -> None:
        person = self.pick(somebody, "reopen")
        if self.attempt(
            person,
            "reopen",
            self.model.stage == "non_replayable",
            self.deed("reopen", reason="It can."),
        ):
            self.reopened()

    def reopened(self) -> None:
        self.model.stage = "in_review" if self.model.now in self.model.red else "quarantined"
        self.model.void("redaction", "expectation")

    @mostly("reproduced")
    @rule(somebody=who, lane=st.sampled_from(["nonblocking", "blocking", "compatibility"]), token=tokens)
    def promote(self, somebody: tuple[int, bool], lane: str, token: bool) -> None:
        person = self.pick(somebody, "promote")
        if self.attempt(
            person,
            "promote",
            self.may_enter(lane),
            self.promotion(lane),
            own=lane != "blocking",
            token=token,
        ):
            self.entered(lane)

    def may_enter(self, lane: str) -> bool:
        model = self.model
        ready = (
            model.stage == "reproduced" and model.approved == {"redaction", "expectation"} and model.now in model.red
        )
        ready = (
            ready
            and model.now in model.control_approved
            and model.now
            not in (
                model.lanes.get(lane),
                model.lanes.get("blocking"),
            )
        )
        return ready and (lane == "nonblocking" or (lane == "blocking" and self.tried_long_enough()))

    def tried_long_enough(self) -> bool:
        return self.model.lanes.get("nonblocking") == self.model.now and self.model.history

    def entered(self, lane: str) -> None:
        self.model.lanes[lane] = self.model.now
        if lane == "nonblocking":
            self.model.stood_in_nonblocking.add(self.model.now)
            self.model.history = False
        else:
            self.model.lanes.pop("nonblocking", None)

    # --- two people --------------------------------------------------------------------------------------------------

    @mostly(*OPEN)
    @rule(somebody=who, kind=st.sampled_from(["override", "demotion", "retirement"]), token=tokens)
    def propose(self, somebody: tuple[int, bool], kind: str, token: bool) -> None:
        person = self.pick(somebody, f"propose {kind}")
        model, until = self.model, ways.until()
        waits = kind in {told for told, _ in self.pending.values()}
        allowed = {
            "override": model.stage in OPEN and model.now not in model.red,
            "demotion": model.stage in OPEN and "blocking" in model.lanes,
            "retirement": model.stage != "retired",
        }[kind]
        says: dict[str, dict[str, Any]] = {
            "override": {"gate": "red", "reason": "The old service is gone.", "until": until},
            "demotion": {"reason": "It flickers.", "until": until, "owner": self.of.engineer},
            "retirement": {"reason": "Covered."},
        }
        deed = self.deed(f"propose {kind}", **says[kind])
        if self.attempt(person, f"propose {kind}", allowed and not waits, deed, token=token):
            made = Proposal.objects.filter(case=self.case_id, state="pending", kind=kind).get()
            self.pending[made.pk] = (kind, person)

    @precondition(lambda self: self.pending)
    @rule(somebody=who, data=st.data(), token=tokens)
    def confirm(self, somebody: tuple[int, bool], data: st.DataObject, token: bool) -> None:
        key = data.draw(st.sampled_from(sorted(self.pending)))
        kind, proposer = self.pending[key]
        person = self.pick(somebody, f"confirm {kind}")
        proposal, model = Proposal.objects.select_related("revision").get(pk=key), self.model
        bound = {
            "override": proposal.revision is not None and proposal.revision.number == model.now,
            "demotion": "blocking" in model.lanes,
            "retirement": model.stage != "retired",
        }[kind]
        still = bool(self.roles[proposer] & MAY[f"propose {kind}"])
        if self.attempt(
            person,
            f"confirm {kind}",
            bound and still,
            self.deed("confirm", proposal=proposal),
            own=kind != "override",
            token=token,
            second=person != proposer,
        ):
            del self.pending[key]
            self.confirmed(kind)

    def confirmed(self, kind: str) -> None:
        model = self.model
        if kind == "override":
            model.red.add(model.now)
        elif kind == "demotion":
            number = model.lanes.pop("blocking")
            model.lanes.setdefault("nonblocking", number)
            model.history = model.history and model.lanes["nonblocking"] != number
        else:
            model.stage, model.lanes = "retired", {}

    @precondition(lambda self: self.turn % 3 == 0)
    @rule(person=st.integers(0, PEOPLE - 1), role=st.sampled_from(ROLES))
    def change_roles(self, person: int, role: str) -> None:
        held = Membership.objects.filter(user=self.people[person], project=self.of.project, role=role)
        if role in self.roles[person]:
            held.delete()
        else:
            Membership.objects.create(user=self.people[person], project=self.of.project, role=role)
        self.roles[person] ^= {role}

    # --- the proper next step ----------------------------------------------------------------------------------------

    @rule(steps=st.integers(1, 6))
    def go_on(self, steps: int) -> None:
        """By those whose part it is, who made nothing of the case but for the one who captured it: it must succeed."""
        for _ in range(steps):
            self.step()

    def step(self) -> None:
        model, case, of = self.model, self.case, self.of
        if model.stage == "non_replayable":
            self.must(of.owner, self.deed("reopen", reason="It can."))
            self.reopened()
        elif model.stage in OPEN and model.now not in model.red:
            self.replay(case)
        elif model.stage == "quarantined":
            self.must(of.responder, self.deed("submit", fixture_hash=self.seen().fixture_hash))
            model.stage = "in_review"
        elif model.stage == "in_review":
            now = self.seen()
            factories.see_everything(of.privacy, case)
            self.must(of.privacy, self.deed("redaction", revision=now.number, content_hash=now.content_hash))
            model.stage, model.redaction = "redaction_approved", True
        elif model.stage == "redaction_approved":
            self.must(of.qa, self.deed("reproduced", fixture_hash=self.seen().fixture_hash))
            model.stage = "reproduced"
        elif model.stage == "reproduced":
            self.step_towards_blocking(case)

    def replay(self, case: Case) -> None:
        if not self.seen().controls.exists():
            factories.control(self.seen(), self.of.engineer)
        factories.no_effect(self.of, case)
        factories.replayed(self.of, case)
        self.model.red.add(self.model.now)

    def step_towards_blocking(self, case: Case) -> None:
        model, of = self.model, self.of
        if not self.seen().controls.exists() or not case.verdict:
            self.replay(case)
        if not model.expectation:
            self.must(of.owner, self.expectation_of(self.seen()))
            model.expectation = True
        elif model.now not in model.control_approved:
            control = self.seen().controls.get()
            self.must(of.privacy, self.deed("control", control=control, fixture_hash=control.fixture_hash))
            model.control_approved.add(model.now)
        elif model.now in (model.lanes.get("blocking"),):
            return
        elif model.lanes.get("nonblocking") != model.now:
            self.must(of.qa, self.promotion("nonblocking"))
            self.entered("nonblocking")
        elif not model.history:
            factories.with_history(of, case)
            model.history = True
        else:
            self.must(of.qa, self.promotion("blocking"))
            self.entered("blocking")

    # --- what must hold ----------------------------------------------------------------------------------------------

    @invariant()
    def the_case_is_what_the_model_says(self) -> None:
        self.turn += 1
        case, model = self.case, self.model
        inside = LaneEntry.objects.filter(case=case, left_at=None).select_related("lane", "revision")
        strongest = next((lane for lane in ("blocking", "nonblocking") if lane in model.lanes), "")
        assert (case.stage, case.lane) == (model.stage, strongest)
        assert sorted((entry.lane.name, entry.revision.number) for entry in inside) == sorted(model.lanes.items())
        assert factories.revision(case).number == model.now
        assert {given.kind for given in self.standing()} - {"control"} == model.approved

    @invariant()
    def no_approval_of_own_work_or_of_other_bytes_stands(self) -> None:
        current = factories.revision(self.case)
        for given in self.standing():
            # Who approved the redaction may change what is expected afterwards, and nobody else's content by that.
            assert given.decided_by_id not in self.model.contributors or given.kind == "redaction"
            if given.kind == "redaction":
                assert given.content_hash == current.content_hash
            elif given.kind == "expectation":
                assert (given.fixture_hash, given.checks_hash) == (current.fixture_hash, current.checks_hash)
        if self.model.stage in ("redaction_approved", "reproduced"):
            assert "redaction" in {given.kind for given in self.standing()}

    @invariant()
    def only_what_stood_in_nonblocking_blocks_and_what_is_closed_runs_nowhere(self) -> None:
        entries = LaneEntry.objects.filter(case=self.case_id)
        for entry in entries.filter(lane__name="blocking").select_related("revision"):
            earlier = entries.filter(
                lane__name="nonblocking",
                revision__fixture_hash=entry.revision.fixture_hash,
                entered_at__lt=entry.entered_at,
            )
            assert earlier.exists()
        if self.case.stage in ("retired", "non_replayable"):
            assert not entries.filter(left_at=None).exists()

    def standing(self) -> list[Decision]:
        return list(Decision.objects.filter(case=self.case_id, outcome="approved", voided_at=None))
