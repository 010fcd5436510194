"""Every route of the pages, as the resolver knows them, with the arguments that lead to one object of a world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPMethod
from typing import Any

from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from replaycases.cases.models import Comparison, Run
from tests.api.world import World

# Which object's id, by the name of the route. A route that is not here has no `pk`, or has no sample.
PK = {
    "control_approval": "controls",
    "control_document": "controls",
    "control_mutation": "controls",
    "comment_resolution": "comments",
    "finding": "findings",
    "finding_capture": "findings",
    "finding_case": "findings",
    "finding_dismissal": "findings",
    "grader_finding_confirmation": "grader-findings",
    "implementation": "implementations",
    "invitation_revocation": "invitations",
    "members_token_revocation": "tokens",
    "notification_reading": "notifications",
    "proposal_confirmation": "proposals",
    "proposal_refusal": "proposals",
    "proposal_withdrawal": "proposals",
    "redaction_rule_withdrawal": "redaction-rules",
    "redaction_seen": "redactions",
    "role_revocation": "memberships",
    "rule_state": "capture-rules",
    "team": "teams",
    "team_members": "teams",
    "team_name": "teams",
    "token_revocation": "tokens",
    "trace_capture": "traces",
    "waiver_confirmation": "waivers",
    "waiver_ending": "waivers",
}
NUMBER = {
    "comparison": Comparison,
    "comparison_cancellation": Comparison,
    "run": Run,
    "run_manifest": Run,
    "run_voiding": Run,
    "capture_step_content": None,
    "redaction_value": None,
    "revision": None,
    "revision_differences": None,
    "revision_comments": None,
    "revision_document": None,
    "redaction_policy_version": None,
}
# No object of a project stands behind these: who holds the secret of the address may come.
BY_SECRET = {
    "invitation_link": {"secret": "nothing"},
    "password_reset_confirm": {"uidb64": "x", "token": "y"},
}
# Anybody may come here.
OPEN = {"login", "logout", "password_reset", "password_reset_done", "invitation", *BY_SECRET}


@dataclass(frozen=True, kw_only=True)
class Route:
    """`takes` are the names of its arguments."""

    name: str
    takes: tuple[str, ...]

    @property
    def of_object(self) -> bool:
        return bool(self.takes) and self.name not in BY_SECRET

    def address(self, world: World) -> str:
        return reverse(self.name, kwargs={name: sample(self.name, name, world) for name in self.takes})


def every_route() -> Iterator[Route]:
    for pattern in get_resolver("replaycases.web.urls").url_patterns:
        assert isinstance(pattern, URLPattern)
        assert pattern.name is not None, f"{pattern} has no name"
        yield Route(name=pattern.name, takes=tuple(pattern.pattern.converters))


def sample(route: str, argument: str, world: World) -> Any:
    """The argument with which the route leads to an object of the world. KeyError where nobody said which."""
    if argument == "pk":
        return world.objects[PK[route]]
    if argument == "number":
        model = NUMBER[route]
        return model._default_manager.get(pk=world.objects[f"{model.__name__.lower()}s"]).number if model else 1
    if argument in BY_SECRET.get(route, {}):
        return BY_SECRET[route][argument]
    fixed: dict[str, Any] = {
        "case_id": world.case.readable_id,
        "key": world.team.project.key,
        "name": "blocking",
        "step": "rollout",
    }
    fixed |= {"capture_id": f"{world.team.project.key}-T1", "run": 0}
    return fixed[argument]


def methods(route: Route, client: Client, world: World) -> list[HTTPMethod]:
    """What the route takes of GET and POST, as it says itself; both where it does not say."""
    told = client.options(route.address(world)).headers.get("Allow", "GET, POST").split(", ")
    return [method for method in (HTTPMethod.GET, HTTPMethod.POST) if method in told]


def ask(route: Route, client: Client, world: World, method: HTTPMethod) -> Any:
    """As a browser asks. A form holds something for whatever a route may read of it."""
    address = route.address(world)
    answer: Any = client.post(address, FORM) if method == HTTPMethod.POST else client.get(address)
    return answer


FORM = {
    "reason": "x",
    "revision": "1",
    "note": "x",
    "resolution": "x",
    "text": "x",
    "why": "drifted",
    "detail": "x",
    "missing": "x",
    "name": "x",
    "flagged": "yes",
    "lane": "nonblocking",
    "fixture_hash": "sha256:" + "0" * 64,
    "runs": "1",
}
