"""The parts of an e-mail address that tell somebody by themselves: `jane.doe` and the domain of an employer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from replaycases.redaction.detectors.personal import EMAIL
from replaycases.redaction.places import Kind

SHORTEST = 6
"""Characters below which a part is not looked for: it would be found in what it is no part of."""

ROUND = 330
"""Characters round a part in which the address is looked for that it stands in."""

_ROLE = re.compile(
    "abuse|account|accounting|accounts|admin|administrator|alert|alerts|api|billing|booking|bookings|bot|care"
    "|careers|contact|contacts|customer|customers|demo|desk|dev|do|donotreply|email|enquiries|example|feedback"
    "|finance|hello|help|helpdesk|hostmaster|hr|info|inquiries|invoice|invoices|jobs|legal|list|mail|mailer"
    "|marketing|me|media|member|members|newsletter|news|no|noreply|not|notification|notifications|office|ops|order"
    "|orders|payment|payments|postmaster|press|privacy|refund|refunds|reply|reservations|returns|root|sales"
    "|security|service|services|shop|staff|store|support|system|team|test|tester|the|us|user|users|web|webmaster"
)
_PROVIDER = re.compile(
    r"(?:gmail|googlemail|yahoo|ymail|rocketmail|hotmail|outlook|live|msn|passport|icloud|aol|gmx|proton|protonmail|fastmail"
    r"|zoho|yandex|tutanota|orange|libero|t-online|freenet|comcast|verizon|mailinator)\.(?:[a-z]{2,3}\.)?[a-z]{2,4}"
    r"|(?:me|mac|att|mail|hey|qq|163|126|naver|free|web|pm|laposte)\.(?:com|net|de|fr|me|ru)"
    r"|example\.(?:com|net|org)|(?:.*\.)?(?:example|invalid|localhost)"
)
"""Domains that tell nobody apart: whoever wants has a mailbox there, and those that are reserved for examples."""

_WORD = re.compile(r"[^\W\d_]+")


class Parts:
    """What is looked for of addresses: neither what is `allowed`, alone or in an address, nor kinds that are `off`."""

    def __init__(self, allowed: Iterable[str] = (), off: Collection[str] = ()) -> None:
        self._off = off
        self._allowed = frozenset(part.casefold() for text in allowed for part in (text, *text.split("@")[:2]))

    def of(self, address: str) -> Iterator[tuple[Kind, str]]:
        """The local part of an address without its tag, as a user name, if it has two words or a digit, and the domain,
        as a URL. A mailbox of a role (support@) has none."""
        local, _, domain = address.partition("@")
        local = local.partition("+")[0]
        words = _WORD.findall(local.casefold())
        if words and all(_ROLE.fullmatch(word) for word in words):
            return
        is_telling = len(words) > 1 or any(character.isdigit() for character in local)
        if is_telling and self._is_looked_for("username", local):
            yield "username", local
        if not _PROVIDER.fullmatch(domain.casefold()) and self._is_looked_for("url", domain):
            yield "url", domain

    def _is_looked_for(self, kind: Kind, part: str) -> bool:
        return len(part) >= SHORTEST and kind not in self._off and part.casefold() not in self._allowed


def is_in_address(text: str, start: int, end: int) -> bool:
    """Whether the span lies within an e-mail address, which is found as one or may stand as one."""
    first, last = start, end
    while first > max(start - ROUND, 0) and _may_be_in_one(text[first - 1]):
        first -= 1
    while last < min(end + ROUND, len(text)) and _may_be_in_one(text[last]):
        last += 1
    near = text[first:last]
    return "@" in near and any(
        first + match.start() <= start and end <= first + match.end() for match in EMAIL.finditer(near)
    )


def _may_be_in_one(character: str) -> bool:
    return character.isalnum() or character in "_.%+'@-"
