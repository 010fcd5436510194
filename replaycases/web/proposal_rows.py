"""Proposals as pages show them: what was asked for, and whether this person may decide it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import proposals
from replaycases.cases.models import Proposal


@dataclass(frozen=True, kw_only=True)
class Row:
    """`why_not` is why this person may not confirm or decline it, "" if they may; `mine` is whether they made it;
    `second` are the roles of which the second person holds one; `stale` is why nobody can confirm it any more."""

    proposal: Proposal
    why_not: str
    mine: bool
    second: str
    stale: str


def seen_by(user: User) -> QuerySet[Proposal]:
    return (
        Proposal.objects.visible_to(user)
        .select_related("case__project", "revision", "lane_entry", "proposed_by", "decided_by", "owner", "owner_team")
        .order_by("-proposed_at")
    )


def rows(found: Iterable[Proposal], user: User) -> list[Row]:
    """Each pending proposal with what this person may do with it. Two queries."""
    every = list(found)
    return [
        row(proposal, user, why_not)
        for proposal, why_not in zip(every, proposals.why_not_decide_each(user, every), strict=True)
    ]


def row(proposal: Proposal, user: User, why_not: str) -> Row:
    return Row(
        proposal=proposal,
        why_not=why_not,
        mine=proposal.proposed_by_id == user.pk,
        second=in_words(proposals.confirmers(proposal)),
        stale=proposals.why_stale(proposal),
    )


def in_words(roles: Iterable[Role]) -> str:
    return " or ".join(sorted(role.label for role in roles))
