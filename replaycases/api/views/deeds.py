"""What a body asks for, put as the call of the one service that does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from replaycases.accounts.models import Invitation, Membership, Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import (
    ci_results,
    details,
    drafts,
    invitations,
    lanes,
    lifecycle,
    people,
    proposals,
    redaction_rules,
    seen_spans,
    waivers,
)
from replaycases.cases.models import (
    Case,
    CaseOwner,
    CiReport,
    Decision,
    DecisionOutcome,
    Draft,
    FixtureRevision,
    LaneName,
    Proposal,
    Provenance,
    Redaction,
    RedactionRule,
    RuleAction,
)
from replaycases.redaction.places import Place

# --- cases ----------------------------------------------------------------------------------------------------------

STATEMENT = ("title", "trigger", "prohibited_outcome", "deciding_evidence", "reported_symptom")
PROVENANCE = ("incident_url", "trace_id", "trace_url", "affected", "fixed", "covering_test")


def edit_statement(actor: User, *, case: Case, seen: str, **changes: str) -> Case:
    """What is not changed is as it was seen: the service refuses another statement than that."""
    said = {name: changes.get(name, getattr(case, name)) for name in STATEMENT}
    edited = details.edit_statement(actor, case=case, seen=seen, **said)
    return Case.objects.select_related("project").get(pk=edited.pk)


def edit_provenance(actor: User, *, case: Case, **changes: Any) -> Provenance:
    kept = case.provenance if hasattr(case, "provenance") else Provenance(case=case)
    said = {name: changes.get(name, getattr(kept, name)) for name in PROVENANCE}
    return details.edit_provenance(actor, case=case, **said)


def set_owners(actor: User, *, case: Case, owners: Sequence[Mapping[str, Any]]) -> list[CaseOwner]:
    return details.set_owners(actor, case=case, owners=_by_boundary(owners))


def case_of_run(actor: User, *, draft: Draft, owners: Sequence[Mapping[str, Any]] = (), **said: Any) -> Case:
    return drafts.make_case(actor, draft=draft, owners=_by_boundary(owners), **said)


def _by_boundary(owners: Sequence[Mapping[str, Any]]) -> dict[Any, Any]:
    """A person and a team for one boundary are told apart from one owner by the service's own rule: the team holds."""
    return {one["boundary"]: one.get("team") or one.get("user") for one in owners}


def decide_redaction(actor: User, *, case: Case, outcome: str, revision: int, content_hash: str, note: str) -> Decision:
    if outcome == DecisionOutcome.APPROVED:
        return lifecycle.approve_redaction(actor, case=case, revision=revision, content_hash=content_hash, note=note)
    return lifecycle.return_redaction(actor, case=case, revision=revision, content_hash=content_hash, note=note)


def decide_expectation(
    actor: User, *, case: Case, outcome: str, revision: int, fixture_hash: str, checks_hash: str, note: str
) -> Decision:
    if outcome == DecisionOutcome.APPROVED:
        return lifecycle.approve_expectation(
            actor, case=case, revision=revision, fixture_hash=fixture_hash, checks_hash=checks_hash, note=note
        )
    return lifecycle.return_expectation(actor, case=case, revision=revision, fixture_hash=fixture_hash, note=note)


# --- redaction ------------------------------------------------------------------------------------------------------


def see(actor: User, *, redaction: Redaction, spans: Sequence[int]) -> dict[str, Any]:
    return {"seen": sorted(seen_spans.mark(actor, redaction=redaction, spans=spans)), "spans": redaction.spans}


def add_rule(
    actor: User, *, source: FixtureRevision, action: RuleAction, place: Mapping[str, Any], **said: Any
) -> RedactionRule:
    other = said.pop("other", None)
    return redaction_rules.add(
        actor, source=source, action=action, place=_place(place), other=_place(other) if other else None, **said
    )


def _place(said: Mapping[str, Any]) -> Place:
    return Place(**{**said, "path": tuple(said["path"])})


def ask_waivers(actor: User, **said: Any) -> dict[str, Any]:
    return {"waivers": waivers.ask(actor, **said)}


# --- reviewing ------------------------------------------------------------------------------------------------------


def propose(actor: User, *, case: Case, kind: str, **said: Any) -> Proposal:
    """The body's shape says which parts each kind has."""
    if kind == "demotion":
        owner = said.pop("owner", None) or said.pop("owner_team", None)
        return proposals.propose_demotion(actor, case=case, owner=owner, **said)
    by_kind: dict[str, Callable[..., Proposal]] = {
        "override": proposals.propose_override,
        "retirement": proposals.propose_retirement,
        "extension": proposals.propose_extension,
    }
    return by_kind[kind](actor, case=case, **said)


# --- lanes ----------------------------------------------------------------------------------------------------------


def preview(actor: User, *, lane: LaneName, cases: Sequence[Case]) -> dict[str, Any]:
    return {"previews": lanes.preview(actor, cases=cases, lane=lane)}


def promote_many(actor: User, *, lane: LaneName, chosen: Sequence[Mapping[str, Any]], note: str) -> dict[str, Any]:
    rows = [(one["case"], one["fixture_hash"]) for one in chosen]
    return {"outcomes": lanes.promote_many(actor, chosen=rows, lane=lane, note=note)}


def report(
    actor: User, *, project: Project, lane: LaneName, results: Sequence[Mapping[str, str]], **said: Any
) -> CiReport:
    reported = ci_results.Reported(results=[ci_results.ReportedResult(**one) for one in results], **said)
    kept, _ = ci_results.receive(actor, project=project, lane=lane, reported=reported)
    return kept


# --- people ---------------------------------------------------------------------------------------------------------


def revoke(actor: User, *, membership: Membership) -> None:
    people.revoke_role(actor, project=membership.project, user=membership.user, role=Role(membership.role))


def invite(actor: User, *, project: Project, email: str, roles: Sequence[Role]) -> dict[str, Any]:
    made, secret = invitations.invite(actor, project=project, email=email, roles=roles)
    return {"invitation": made, "link": invitations.link_to(secret)}


def revoke_invitation(actor: User, *, invitation: Invitation) -> Invitation:
    invitations.revoke_invitation(actor, invitation=invitation)
    invitation.refresh_from_db()
    return invitation


def make_token(actor: User, *, project: Project, name: str, scopes: Sequence[str], days: int) -> dict[str, Any]:
    token, secret = people.create_token(actor, project=project, name=name, scopes=scopes, days=days)
    return {"token": token, "secret": secret}
