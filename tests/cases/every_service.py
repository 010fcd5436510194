"""Every service that writes, as the modules themselves name them, each with one call that would do something."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from axes.models import AccessAttempt
from django.utils import timezone

import replaycases.cases
from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import (
    capture_rules,
    captures,
    choosing,
    ci_results,
    closing,
    comments,
    dependency,
    details,
    drafts,
    flags,
    incident_reports,
    intake,
    invitations,
    jobs,
    lane_export,
    lanes,
    people,
    proposals,
    raw_reads,
    redacting,
    redaction_marks,
    redaction_policies,
    redaction_rows,
    redaction_rules,
    registry,
    returns,
    trace_buffer,
    trace_captures,
    users,
    waivers,
)
from replaycases.cases import lifecycle as stages
from replaycases.cases.models import (
    Boundary,
    Case,
    ClosingStep,
    Comparison,
    FlagReason,
    Lane,
    LaneName,
    Origin,
    RuleKind,
)
from replaycases.redaction.places import Place
from tests import factories
from tests.api.otlp_requests import TRACE, as_json, chat
from tests.importers.transcripts import answers, asks, call, says, transcript, user

# What takes an actor and decides nothing: questions, exports that are read, and parts of a service's transaction.
NO_SERVICE = {
    "audit_export": {"export", "export_case"},
    "available": {"available_actions", "why_not_around"},
    "behalf": {"in_event", "note_senders", "require_member"},
    "capture_ends": {"bring_nearer"},
    "captures": {"recording_of"},
    "drafts": {"imported"},
    "decisions": {"last_approval", "own_work", "own_work_of", "record", "require_not_author"},
    "declaring": {"declare"},
    "details": {"why_not_confirm"},
    "flags": {"open_reasons", "why_not_review_again"},
    "events": {"record"},
    "expiry": {"end_with", "extend"},
    "gate_rules": {"promoter"},
    "gates": {"gates_from", "gates_of", "gates_of_many", "require_open"},
    "held_documents": {"of_revision"},
    "incident_reports": {"settle_with"},
    "lane_moves": {"enter"},
    "lanes": {"preview"},
    "lifecycle": {"demote", "retire", "revision_added"},
    "people": {"record_roles", "require_administrator"},
    "policies": {
        "refuse_tokens",
        "require",
        "require_locked",
        "require_roles_locked",
        "why_not_allowed",
        "why_unread",
    },
    "previews": {"preview"},
    "proposals": {"why_not_decide", "why_not_decide_each", "why_not_second"},
    "recorded_provenance": {"keep"},
    "redacting": {"preview"},
    "redaction_rows": {"forget", "in_event"},
    "redaction_rules": {"read"},
    "redaction_scans": {"keep"},
    "registry": {"register_path"},  # another way to the same as an archive
    "returns": {"last_of"},
    "waivers": {"why_not_confirm"},
    "users": {"note_password_set", "require_superuser"},
}


def named() -> set[str]:
    """ "module.function" of every public function that takes an actor or records an event, but for those above."""
    return {f"{module}.{name}" for module, name in _functions() if name not in NO_SERVICE.get(module, ())}


def _functions() -> Iterator[tuple[str, str]]:
    for found in pkgutil.iter_modules(replaycases.cases.__path__):
        if found.ispkg or found.name.startswith(("admin", "demo", "read_only")):
            continue
        module = importlib.import_module(f"replaycases.cases.{found.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            own = function.__module__ == module.__name__ and not name.startswith("_")
            if own and ("actor" in inspect.signature(function).parameters or _records(function)):
                yield found.name, name


def _records(function: Callable[..., object]) -> bool:
    source = inspect.getsource(function)
    return any(f"{name}(" in source for name in ("events.record", "_event", "note_password_set"))


@dataclass(frozen=True, kw_only=True)
class Call:
    """`actor` is None where the service finds out who it is from a secret."""

    actor: User | None
    act: Callable[[], object]


def calls() -> Mapping[str, Call]:
    """One call of each service in one project, all of them possible now."""
    of = factories.people(factories.project())
    return {
        **_capturing(of),
        **_sent(of),
        **_on_cases(of),
        **_deciding(of),
        **_redacting(of),
        **_replaying(of),
        **_lanes(of),
        **_people(of),
        **_accounts(),
    }


def _call(actor: User, service: Callable[..., object], **said: Any) -> Call:
    return Call(actor=actor, act=partial(service, actor, **said))


def _as(name: str, at: factories.People, make: Callable[..., Case]) -> Case:
    return make(at, factories.fixture(case_id=name))


def _sent(of: factories.People) -> dict[str, Call]:
    """What programs send, and what people make of it."""
    administrator = factories.person(of.project, Role.ADMINISTRATOR)
    token, _ = people.create_token(of.responder, project=of.project, name="collector", scopes=["captures"], days=1)
    sender = User.objects.get(pk=of.responder.pk)
    sender.token = token
    trace_buffer.receive(sender, project=of.project, signal="traces", body=as_json(chat()), protobuf=False)
    rule = capture_rules.add(administrator, project=of.project, kind=RuleKind.ERROR)
    finding = {"grader": "monitor", "version": "3", "label": "claimed"}
    report = partial(incident_reports.report, of.responder, project=of.project, **finding)
    first, second = report(trace_id="1"), report(trace_id="2")
    return {
        "capture_rules.add": _call(
            administrator, capture_rules.add, project=of.project, kind=RuleKind.ATTRIBUTE, key="outcome", value="bad"
        ),
        "capture_rules.set_enabled": _call(administrator, capture_rules.set_enabled, rule=rule, enabled=False),
        "trace_captures.capture_trace": _call(
            of.responder, trace_captures.capture_trace, project=of.project, trace_id=TRACE
        ),
        "incident_reports.report": Call(actor=of.responder, act=partial(report, trace_id="3")),
        "incident_reports.dismiss": _call(
            of.responder, incident_reports.dismiss, incident_report=first, reason="It is a test."
        ),
        "incident_reports.take": _call(
            of.responder,
            incident_reports.take,
            incident_report=second,
            **{name: text for name, text in factories.STATEMENT.items() if name != "reported_symptom"},
        ),
    }


def _capturing(of: factories.People) -> dict[str, Call]:
    traces = [
        transcript(user(f"refund {number}"), asks(call("refund", {"id": number})), answers("timed out"), says("Done."))
        for number in range(3)
    ]
    expected = {"boundary": ["refunds"], "tool_sequence": {"id": "refunds", "tools": [], "mode": "exact"}}
    chosen = {"incident_id": "INC-7", "frozen_at": "2026-11-01T09:00:00+01:00", "expected": expected}
    bring = partial(captures.bring, of.responder, project=of.project, origin=Origin.UPLOAD)
    told = {name: text for name, text in factories.STATEMENT.items() if name != "incident_id"}
    blank, made = (
        drafts.save(of.responder, capture=bring(data=trace), run=0, choices={**chosen, "case_id": name})
        for name, trace in zip(("blank", "made"), traces[1:], strict=True)
    )
    drafts.make_case(of.responder, draft=made, seen=made.choices.digest, **told)
    changed = {**chosen, "case_id": "made", "identity": {"role": "customer"}}
    made = drafts.save(of.responder, capture=made.capture, run=0, choices=changed)
    return {
        "captures.bring": Call(actor=of.responder, act=partial(bring, data=traces[0])),
        "choosing.choose": _call(
            of.responder, choosing.choose, capture=blank.capture, run=0, parts={"locale": "de-DE"}
        ),
        "choosing.change": _call(
            of.responder,
            choosing.change,
            capture=blank.capture,
            run=0,
            part="time_zone",
            into=lambda there: "Europe/Berlin",
        ),
        "choosing.choose_steps": _call(
            of.responder, choosing.choose_steps, capture=made.capture, run=0, shown={1}, kept={1}, ends_after=2
        ),
        "drafts.save": _call(of.responder, drafts.save, capture=blank.capture, run=0, choices={}),
        "drafts.make_case": _call(of.responder, drafts.make_case, draft=blank, seen=blank.choices.digest, **told),
        "drafts.revise": _call(of.responder, drafts.revise, draft=made, changed="Who asked.", seen=made.choices.digest),
    }


def _on_cases(of: factories.People) -> dict[str, Call]:
    case = _as("described", of, factories.quarantined)
    revision = factories.revision(case)
    stated = factories.person(of.project, Role.DEPENDENCY_OWNER)
    incident = intake.create_case(of.responder, project=of.project, **factories.STATEMENT, security_incident=True)
    comment = comments.add(of.privacy, revision=revision, pointer="", text="Look here.")
    raise_flag = partial(flags.raise_flag, reason=FlagReason.DRIFTED, detail="It drifted.")
    finding = details.record_grader_finding(of.engineer, case=case, grader="judge", version="1", label="bad", result="")
    flagged = _as("flagged", of, factories.quarantined)
    raise_flag(of.qa, case=flagged)
    statement = {**factories.STATEMENT, "title": "Another title", "reported_symptom": ""}
    del statement["incident_id"]
    provenance = dict.fromkeys(("incident_url", "trace_id", "trace_url", "covering_test"), "")
    return {
        "intake.create_case": _call(
            of.responder, intake.create_case, project=of.project, **factories.STATEMENT, fixture=factories.fixture()
        ),
        "intake.add_revision": _call(
            of.responder, intake.add_revision, case=case, fixture=factories.fixture(case_id="described", input={})
        ),
        "intake.add_control": _call(
            of.engineer,
            intake.add_control,
            revision=revision,
            name="another",
            outcome_type="uncertain",
            fixture=factories.control_fixture("another"),
        ),
        "comments.add": _call(of.privacy, comments.add, revision=revision, pointer="", text="And here."),
        "comments.resolve": _call(of.privacy, comments.resolve, comment=comment, resolution="Done."),
        "raw_reads.begin": _call(of.privacy, raw_reads.begin, case=case, reason="I look for names."),
        "details.edit_statement": _call(of.responder, details.edit_statement, case=case, **statement),
        "details.edit_provenance": _call(
            of.engineer, details.edit_provenance, case=case, affected=None, fixed=None, **provenance
        ),
        "details.set_owners": _call(of.engineer, details.set_owners, case=case, owners={Boundary.PRIVACY: of.privacy}),
        "details.set_security_incident": _call(of.engineer, details.set_security_incident, case=case, flagged=True),
        "details.confirm_containment": _call(of.security, details.confirm_containment, case=incident, note="Closed."),
        "details.record_grader_finding": _call(
            of.engineer, details.record_grader_finding, case=case, grader="judge", version="2", label="bad", result=""
        ),
        "details.confirm_grader_finding": _call(of.owner, details.confirm_grader_finding, finding=finding),
        "dependency.state": _call(
            stated,
            dependency.state,
            case=case,
            revision_number=1,
            fixture_hash=revision.fixture_hash,
            acceptance="unknown",
        ),
        "closing.note_step": _call(of.qa, closing.note_step, case=case, step=ClosingStep.ROLLOUT, note="It is out."),
        "flags.raise_flag": Call(actor=of.qa, act=partial(raise_flag, of.qa, case=case)),
        "flags.review_again": _call(of.qa, flags.review_again, case=flagged, note="Still right."),
    }


def _deciding(of: factories.People) -> dict[str, Call]:
    draft, waits, approved, ready = (_as(f"at-{stage}", of, make) for stage, make in factories.STAGES.items())
    factories.see_everything(of.privacy, waits)
    closed = _as("closed", of, factories.in_review)
    stages.mark_non_replayable(of.qa, case=closed, reason="Gone.", missing="The recording.")
    unseen = factories.case(of.project, of.responder, factories.fixture(case_id="unseen"))
    seen = factories.revision(waits)
    control = seen.controls.get()
    released = factories.revision(approved)
    hashes = {"fixture_hash": released.fixture_hash, "checks_hash": released.checks_hash}
    until = timezone.now() + timedelta(days=3)
    pending = [proposals.propose_retirement(of.lead, case=one, reason="Gone.") for one in (draft, waits, approved)]
    evidence = timezone.now() + timedelta(days=60)
    because: dict[str, Any] = {"reason": "It is covered elsewhere."}
    return {
        "lifecycle.submit": _call(
            of.responder, stages.submit, case=draft, fixture_hash=factories.revision(draft).fixture_hash
        ),
        "lifecycle.approve_redaction": _call(
            of.privacy, stages.approve_redaction, case=waits, revision=1, content_hash=seen.content_hash
        ),
        "lifecycle.return_redaction": _call(
            of.privacy, stages.return_redaction, case=waits, revision=1, content_hash=seen.content_hash, note="No."
        ),
        "lifecycle.approve_expectation": _call(
            of.owner, stages.approve_expectation, case=approved, revision=1, **hashes
        ),
        "lifecycle.return_expectation": _call(
            of.owner,
            stages.return_expectation,
            case=approved,
            revision=1,
            fixture_hash=released.fixture_hash,
            note="No.",
        ),
        "lifecycle.approve_control": _call(
            of.privacy, stages.approve_control, control=control, fixture_hash=control.fixture_hash
        ),
        "lifecycle.mark_reproduced": _call(
            of.qa, stages.mark_reproduced, case=approved, fixture_hash=released.fixture_hash
        ),
        "lifecycle.send_back": _call(of.qa, stages.send_back, case=approved, **because),
        "lifecycle.mark_non_replayable": _call(
            of.qa, stages.mark_non_replayable, case=approved, missing="The recording.", **because
        ),
        "lifecycle.reopen": _call(of.qa, stages.reopen, case=closed, **because),
        "lifecycle.promote": _call(
            of.qa,
            stages.promote,
            case=ready,
            lane=LaneName.NONBLOCKING,
            fixture_hash=factories.revision(ready).fixture_hash,
        ),
        "proposals.propose_override": _call(
            of.lead, proposals.propose_override, case=unseen, gate="red", until=until, **because
        ),
        "proposals.propose_retirement": _call(of.lead, proposals.propose_retirement, case=ready, **because),
        "proposals.propose_extension": _call(
            of.responder, proposals.propose_extension, case=draft, until=evidence, **because
        ),
        "proposals.confirm": _call(of.qa, proposals.confirm, proposal=pending[0]),
        "proposals.decline": _call(of.qa, proposals.decline, proposal=pending[1], note="Not yet."),
        "proposals.withdraw": _call(of.lead, proposals.withdraw, proposal=pending[2]),
    }


def _redacting(of: factories.People) -> dict[str, Call]:
    other = factories.person(of.project, Role.PRIVACY_REVIEWER)
    message = {"message": "Write to jane.doe@corp.test or to joe.roe@corp.test."}
    case = factories.in_review(of, factories.fixture(case_id="personal", input=message))
    revision = factories.revision(case)
    looked = redaction_rows.require_newest(revision)
    first, second = (found["finding"] for found in looked.open)
    until = timezone.now() + timedelta(days=3)
    ask = partial(waivers.ask, of.privacy, redaction=looked, reason="Made up.", until=until)
    [waits] = ask(findings=[first])
    back = _as("returned", of, factories.in_review)
    seen = {"revision": 1, "content_hash": factories.revision(back).content_hash}
    stages.return_redaction(of.privacy, case=back, note="No.", **seen)
    add = {"source": revision, "action": "keep", "place": Place(pointer="/input/message", start=0, end=5)}
    rule = redaction_rules.add(of.responder, reason="No name.", **add)
    return {
        "redacting.redact": _call(of.responder, redacting.redact, case=case, seen_revision=1),
        "redacting.look_again": _call(
            of.responder, redacting.look_again, case=_as("looked", of, factories.in_review), seen_revision=1
        ),
        "redaction_rules.add": _call(of.responder, redaction_rules.add, reason="No name.", **add),
        "redaction_marks.mark_every": _call(
            of.responder,
            redaction_marks.mark_every,
            source=revision,
            pointer="/input/message",
            in_key=False,
            text="Write",
            kind="text",
            reason="No name.",
        ),
        "redaction_rules.withdraw": _call(of.responder, redaction_rules.withdraw, rule=rule),
        "redaction_policies.save": _call(
            of.privacy, redaction_policies.save, project=of.project, data={"dates": "shift"}, note="Dates.", seen=0
        ),
        "returns.take_back": _call(of.privacy, returns.take_back, case=back),
        "waivers.ask": Call(actor=of.privacy, act=partial(ask, findings=[second])),
        "waivers.confirm": _call(other, waivers.confirm, waiver=waits),
        "waivers.end": _call(of.privacy, waivers.end, waiver=waits),
    }


def _replaying(of: factories.People) -> dict[str, Call]:
    case = _as("replayed", of, factories.quarantined)
    revision, sides = factories.revision(case), case.provenance
    wanted = {"revision": revision, "implementation": sides.fixed, "size": 1}
    done = Comparison.objects.get(revision=revision).run_sets.filter(implementation=sides.affected).get()
    waiting = jobs.request_run_set(of.engineer, **wanted)
    archive = factories.archive(factories.NEW_CODE, version="another")
    return {
        "registry.register_archive": _call(
            of.engineer,
            registry.register_archive,
            project=of.project,
            archive=archive,
            spec_path="implementation.json",
        ),
        "jobs.request_run_set": _call(of.engineer, jobs.request_run_set, **wanted),
        "jobs.request_comparison": _call(
            of.engineer, jobs.request_comparison, revision=revision, old=sides.affected, new=sides.fixed
        ),
        "jobs.cancel": _call(of.engineer, jobs.cancel, subject=waiting),
        "jobs.void": _call(of.qa, jobs.void, run_set=done, reason="The host had no disk space."),
    }


def _lanes(of: factories.People) -> dict[str, Call]:
    case = _as("blocking", of, factories.blocking)
    ready = _as("one-of-many", of, factories.reproduced)
    lane = Lane.objects.get(project=of.project, name=LaneName.BLOCKING)
    digest = lane_export.take(of.qa, lane=lane).index.digest
    code = {"name": "agent", "version": "2", "commit": "", "digest": digest}
    reported = ci_results.Reported(lane_digest=digest, implementation=code, exit_code=30, build_url="", results=[])
    hashed = factories.revision(ready).fixture_hash
    return {
        "lanes.request_history": _call(of.qa, lanes.request_history, case=case, runs=1),
        "lanes.set_policy": _call(of.qa, lanes.set_policy, lane=lane, repeated_runs=3, minimum_history=4),
        "lanes.promote_many": _call(
            of.qa, lanes.promote_many, chosen=[(ready, hashed)], lane=LaneName.NONBLOCKING, note=""
        ),
        "lane_export.take": _call(of.qa, lane_export.take, lane=lane),
        "ci_results.receive": _call(
            of.engineer, ci_results.receive, project=of.project, lane=LaneName.BLOCKING, reported=reported
        ),
        "proposals.propose_demotion": _call(
            of.qa,
            proposals.propose_demotion,
            case=case,
            reason="It flickers.",
            until=timezone.now() + timedelta(days=3),
            owner=of.engineer,
        ),
    }


def _people(of: factories.People) -> dict[str, Call]:
    admin, at = factories.person(of.project, Role.ADMINISTRATOR), {"project": of.project}
    team = people.create_team(admin, **at, name="Refunds")
    token, _ = people.create_token(of.engineer, **at, name="CI", scopes=["read"], days=1)
    offered = {**at, "roles": [Role.QA]}
    made, _ = invitations.invite(admin, **offered, email="one@example.invalid")
    _, secret = invitations.invite(admin, **offered, email="two@example.invalid")
    _, joins = invitations.invite(admin, **offered, email=of.viewer.email)
    account = {"username": "two", "display_name": "Two", "password": "a long pass phrase"}
    return {
        "people.grant_role": _call(admin, people.grant_role, **at, user=of.viewer, role=Role.QA),
        "people.revoke_role": _call(admin, people.revoke_role, **at, user=of.viewer, role=Role.VIEWER),
        "people.create_team": _call(admin, people.create_team, **at, name="Payments"),
        "people.rename_team": _call(admin, people.rename_team, team=team, name="Returns"),
        "people.set_team_members": _call(admin, people.set_team_members, team=team, members=[of.qa]),
        "people.edit_project": _call(admin, people.edit_project, **at, retention_days=10, review_after_days=10),
        "people.create_token": _call(of.engineer, people.create_token, **at, name="x", scopes=["read"], days=1),
        "people.revoke_token": _call(admin, people.revoke_token, token=token),
        "invitations.invite": _call(admin, invitations.invite, **offered, email="three@example.invalid"),
        "invitations.revoke_invitation": _call(admin, invitations.revoke_invitation, invitation=made),
        "invitations.join": _call(of.viewer, invitations.join, secret=joins),
        "invitations.accept_invitation": Call(
            actor=None, act=partial(invitations.accept_invitation, secret, **account)
        ),
    }


def _accounts() -> dict[str, Call]:
    root = User.objects.create_superuser("root", "root@example.invalid")
    other = User.objects.create_user("other", "other@example.invalid")
    AccessAttempt.objects.create(username="other", ip_address="192.0.2.1", failures_since_start=5)
    new = User(username="new", email="new@example.invalid", password="!")
    return {
        "people.create_project": _call(root, people.create_project, key="NEW", name="New"),
        "users.create_user": _call(root, users.create_user, user=new),
        "users.edit_user": _call(root, users.edit_user, user=other, changes={"is_active": False}),
        "users.set_own_password": _call(other, users.set_own_password, password="a long pass phrase"),
        "users.forget_attempts": _call(root, users.forget_attempts, username="other", address="192.0.2.1"),
    }
