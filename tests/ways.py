"""One deed with a case, done in each of the ways in: the service, the API, a page's form, and a program's token.

Every way tells its outcome in the same words, so that what one refuses another cannot let through.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from html import unescape
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client
from django.utils import timezone

from replaycases.accounts.models import ApiToken, Scope, User
from replaycases.cases import intake, lifecycle, people, proposals
from replaycases.cases.models import Case, LaneName
from replaycases.cases.policies import InvalidTransition
from tests import factories


class Outcome(StrEnum):
    DONE = "done"
    WRONG_PERSON = "403"
    WRONG_STATE = "409"
    WRONG_SHAPE = "422"


class Way(StrEnum):
    SERVICE = "service"
    API = "API with a session"
    PAGE = "page"


@dataclass(frozen=True, kw_only=True)
class Deed:
    """`says` holds what the person says and saw: hashes, a lane, a reason, the proposal."""

    name: str
    case: Case
    says: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.says[name]


UNTIL_DAYS = 7


def until() -> datetime:
    return timezone.now() + timedelta(days=UNTIL_DAYS)


def do(deed: Deed, by: User, way: Way, *, token: bool = False) -> Outcome:
    """As the person at that way, or, with `token`, as their program, which has no page."""
    if way == Way.SERVICE:
        return _by_service(deed, by, token)
    if way == Way.API or token:
        return _of_status(_by_api(deed, by, token).status_code)
    return _of_status(_by_page(deed, by).status_code)


def _of_status(status: int) -> Outcome:
    if status in (200, 201, 302):
        return Outcome.DONE
    return Outcome(str(422 if status == 400 else status))


# --- services -------------------------------------------------------------------------------------------------------

SERVICES: Mapping[str, Callable[..., object]] = {
    "edit": intake.add_revision,
    "submit": lifecycle.submit,
    "redaction": lifecycle.approve_redaction,
    "expectation": lifecycle.approve_expectation,
    "return expectation": lifecycle.return_expectation,
    "control": lifecycle.approve_control,
    "reproduced": lifecycle.mark_reproduced,
    "send_back": lifecycle.send_back,
    "close": lifecycle.mark_non_replayable,
    "reopen": lifecycle.reopen,
    "promote": lifecycle.promote,
    "propose override": proposals.propose_override,
    "propose demotion": proposals.propose_demotion,
    "propose retirement": proposals.propose_retirement,
    "confirm": proposals.confirm,
}
# These are about something else than the case.
_OF_OTHERS = {"control", "confirm"}


def _by_service(deed: Deed, by: User, token: bool) -> Outcome:
    actor = User.objects.get(pk=by.pk)
    if token:
        actor.token = ApiToken(project=deed.case.project, user=actor, name="nightly", prefix="rc_12345678")
    subject = {} if deed.name in _OF_OTHERS else {"case": deed.case}
    try:
        SERVICES[deed.name](actor, **subject, **deed.says)
    except PermissionDenied:
        return Outcome.WRONG_PERSON
    except InvalidTransition:
        return Outcome.WRONG_STATE
    except ValidationError:
        return Outcome.WRONG_SHAPE
    return Outcome.DONE


# --- API ------------------------------------------------------------------------------------------------------------

_API: Mapping[str, str] = {
    "edit": "revisions/",
    "submit": "cases/{case}/submissions/",
    "redaction": "cases/{case}/redaction-decisions/",
    "expectation": "cases/{case}/expectation-decisions/",
    "return expectation": "cases/{case}/expectation-decisions/",
    "control": "controls/{control}/decisions/",
    "reproduced": "cases/{case}/reproductions/",
    "send_back": "cases/{case}/returns/",
    "close": "cases/{case}/non-replayable-marks/",
    "reopen": "cases/{case}/reopenings/",
    "promote": "cases/{case}/promotions/",
    "propose override": "proposals/",
    "propose demotion": "proposals/",
    "propose retirement": "proposals/",
    "confirm": "proposals/{proposal}/confirmation/",
}


def _by_api(deed: Deed, by: User, token: bool) -> Any:
    address = "/api/v1/" + _API[deed.name].format(case=deed.case.pk, **_ids(deed))
    client, headers = Client(), {}
    if token:
        _, secret = people.create_token(by, project=deed.case.project, name="any", scopes=list(Scope), days=1)
        headers["authorization"] = f"Bearer {secret}"
    else:
        client.force_login(by)
    answer: Any = client.post(address, json.dumps(_body(deed)), "application/json", headers=headers)
    return answer


def _body(deed: Deed) -> dict[str, Any]:
    body = {name: _plain(value) for name, value in deed.says.items() if name not in _OF_OTHERS and name != "proposal"}
    if deed.name == "edit":
        body["fixture"] = json.loads(deed["fixture"])
    if deed.name in {"redaction", "expectation", "return expectation"}:
        body["outcome"] = "returned" if deed.name.startswith("return") else "approved"
        body.setdefault("checks_hash", factories.revision(deed.case).checks_hash)
        if deed.name == "redaction":
            del body["checks_hash"]
    if deed.name.startswith("propose"):
        body["kind"] = deed.name.removeprefix("propose ")
    if deed.name == "edit" or deed.name.startswith("propose"):
        body["case"] = str(deed.case.pk)
    return {name: value for name, value in body.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, User):
        return str(value.pk)
    return value.isoformat() if isinstance(value, datetime) else value


def _ids(deed: Deed) -> dict[str, Any]:
    return {name: deed[name].pk for name in ("control", "proposal") if name in deed.says}


# --- pages ----------------------------------------------------------------------------------------------------------

# The page on which the form stands, and where the form is sent.
_PAGES: Mapping[str, tuple[str, str]] = {
    "edit": ("/cases/{case}/revisions/new/", "/cases/{case}/revisions/new/"),
    "submit": ("/cases/{case}/", "/cases/{case}/submission/"),
    "redaction": ("/cases/{case}/review/redaction-approval/", "/cases/{case}/review/redaction-approval/"),
    "expectation": ("/cases/{case}/review/expectation-approval/", "/cases/{case}/review/expectation-approval/"),
    "return expectation": ("/cases/{case}/review/", "/cases/{case}/review/expectation-return/"),
    "control": ("/cases/{case}/controls/{control}/approval/", "/cases/{case}/controls/{control}/approval/"),
    "reproduced": ("/cases/{case}/", "/cases/{case}/reproduction/"),
    "send_back": ("/cases/{case}/", "/cases/{case}/sending-back/"),
    "close": ("/cases/{case}/", "/cases/{case}/non-replayable/"),
    "reopen": ("/cases/{case}/", "/cases/{case}/reopening/"),
    "promote": ("/cases/{case}/promotion/?to={lane}", "/cases/{case}/promotion/"),
    "propose override": ("/cases/{case}/overrides/?gate=red", "/cases/{case}/overrides/"),
    "propose demotion": ("/cases/{case}/demotion/", "/cases/{case}/demotion/"),
    "propose retirement": ("/cases/{case}/retirement/", "/cases/{case}/retirement/"),
    "confirm": ("/proposals/", "/proposals/{proposal}/confirmation/"),
}


def _by_page(deed: Deed, by: User) -> Any:
    """Look at the page, fill its form in and send it; where the page offers none, send what somebody would forge. What
    was done must have been offered."""
    client = Client()
    client.force_login(by)
    named = {"case": deed.case.readable_id, "lane": deed.says.get("lane", ""), **_ids(deed)}
    page, target = (address.format(**named) for address in _PAGES[deed.name])
    shown = client.get(page).content.decode()
    offered = hidden_fields(shown, target)
    answer: Any = client.post(target, {**(offered or {}), **_filled_in(deed)})
    assert answer.status_code != 302 or offered is not None, f"{deed.name} was done on {page}, which offered it not"
    return answer


def _filled_in(deed: Deed) -> dict[str, Any]:
    """What the person types, and the hashes of the page that they saw."""
    said = {name: value for name, value in deed.says.items() if name not in {"control", "proposal"}}
    if deed.name == "edit":
        behalf = said["on_behalf_of"]
        named = {"on_behalf_of": str(behalf.pk)} if behalf else {}
        return {"seen": said["seen_revision"], "text": said["fixture"].decode(), "changed": said["changed"], **named}
    if deed.name == "propose demotion":
        said["owner"] = f"user:{said['owner'].pk}"
    if "until" in said:
        said["until"] = timezone.localtime(said["until"]).date().isoformat()
    return {name: value.value if isinstance(value, LaneName) else value for name, value in said.items()}


_FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.DOTALL)
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?')


def hidden_fields(html: str, target: str) -> dict[str, str] | None:
    """The hidden fields of the page's form that is sent to `target`; None where there is no such form with a button
    that is on. A form without an address is sent to its own page."""
    for attributes, body in _FORM.findall(html):
        action = re.search(r'action="([^"]*)"', attributes)
        on = re.search(r"<button\b(?![^>]*aria-disabled)[^>]*type=\"submit\"", body)
        if 'method="post"' in attributes and on and (action is None or action[1].partition("#")[0] == target):
            fields = {unescape(name): unescape(value) for name, value in _HIDDEN.findall(body)}
            if action is not None or "logout" not in body:
                return fields
    return None
