"""What a value is because of the field that it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from replaycases.redaction.detectors.base import Context, Hit
from replaycases.redaction.leaves import VALUES
from replaycases.redaction.places import Kind
from replaycases.redaction.policy import FieldKind, FieldRule, folded_key

MOST_NAME = 100
"""Characters beyond which the value of a name's field is taken for free text."""

SHORTEST_ID = 4
"""Characters below which an id tells nobody apart: it is left as it stands."""

BYTE_EXACT = "compared octet by octet: kept whole or dropped whole"
"""Why a signature or an encrypted part is left as it stands."""

_SECRETIVE = (
    "password|passwd|pwd|passphrase|passcode|pin|cvv|cvc|otp|secret|secrets|token|auth|authorization|proxy_authorization"
    "|cookies?|set_cookie|credential|credentials|bearer|api_?key|apikey|private_key|access_key|signing_key|encryption_key"
    "|connection_string|dsn|(?:.*_)?(?:password|passwd|secret|api_?key|access_key|private_key|secret_key|auth_key)"
    "|(?:.*_)?(?:access|refresh|auth|bearer|session|id|csrf|xsrf|security|api|bot|user|device|push|reset|login)_token"
    "|x_(?:.*_)?(?:key|token|secret|auth)"
)
_THINGS = (
    "tool|file|model|function|product|event|field|host|class|type|action|branch|table|column|policy|template|agent"
    "|workflow|item|package|module|variable|parameter|param|argument|method|service|server|project|team|role|group|tag"
    "|category|country|city|state|region|plan|queue|topic|bucket|key|index|schema|database|db|span|scope|operation|step"
    "|task|job|metric|rule|check|test|skill|node|graph|chain|run|thread|channel|store|brand|airline|airport|hotel"
    "|currency|language|attribute|property|header|domain|path|repo|repository|image|container|cluster|namespace|section"
    "|session|trace|observation|generation|dataset|experiment|prompt|scorer|solver|evaluator|registry|sdk|library|tier|executable|command|process"
    "|normal|serialized|environment|deployment|app|application|pod|platform|provider|resource|instance|device|feature"
)
_PEOPLE = (
    "customer|user|person|passenger|passengers|patient|employee|contact|owner|guest|guests|recipient|sender|author"
    "|member|payee|payer|account_holder|holder|traveler|travellers?|client|buyer|seller|driver|student|applicant|profile"
    "|billing|shipping|beneficiary|requester|assignee|manager"
)
_BUILT_IN: tuple[tuple[str, FieldKind], ...] = (
    ("signature|thought_?signature|encrypted_content|redacted_thinking|encrypted_reasoning", "keep"),
    (_SECRETIVE, "secret"),
    (
        "(?:first|last|middle|full|given|family|maiden|nick|legal|birth|preferred|display|real|card_?holder|account_holder)"
        "_?name|surname|forename|card_?holder",
        "person",
    ),
    ("user_?name|login|login_name|screen_name|handle|user_handle|account_name", "username"),
    (
        "company|company_name|organi[sz]ation|organi[sz]ation_name|org_name|employer|employer_name|business_name",
        "organisation",
    ),
    (rf"(?!(?:.*_)?(?:{_THINGS})_name).+_name", "person"),
    (
        "(?:.*_)?(?:phone|phone_?number|mobile|mobile_?number|cell|cell_?phone|tel|telephone|fax|fax_?number|msisdn)",
        "phone",
    ),
    ("(?:.*_)?(?:ssn|social_security(?:_number)?)", "ssn"),
    ("(?:.*_)?(?:iban)", "iban"),
    ("(?:.*_)?(?:card_?number|cc_?number|pan|credit_card)", "card"),
    (
        r"(?!(?:.*_)?(?:server|host|network|peer|source|destination|remote|local|bind|listen)_address)"
        "(?:.*_)?(?:street|street_?address|address_?line_?[0-9]?|address[0-9]?|home_address|postal_address|zip|zip_?code"
        "|post_?code|postal_?code)",
        "address",
    ),
    ("(?:.*_)?(?:dob|date_of_birth|birth_?date|birthday)", "date"),
    (
        "(?:.*_)?(?:passport|passport_?number|licen[cs]e_?number|driver_?licen[cs]e|national_id|tax_?id|tax_?number|vat_id"
        "|account_?number|routing_?number|policy_?number|member_?number|order_?number|booking_?reference|pnr)",
        "id",
    ),
    ("(?:.*_)?(?:id|ids|uid|uuid|guid)|(?:.*_)?(?:idempotency|correlation|dedup(?:lication)?)_(?:key|id)", "id"),
)
_PATTERNS = tuple((re.compile(pattern), kind) for pattern, kind in _BUILT_IN)
_PERSON = re.compile(_PEOPLE)
_MASKED = re.compile(
    r"[\s*xX•.\-_#]*|[<\[({]*\s*(?:redacted|masked|hidden|removed|filtered|secret|none|null)[^a-z]*", re.IGNORECASE
)
_PLAIN_WORD = re.compile(r"[A-Za-z_-]*")
_TELLING: frozenset[Kind] = frozenset({"id", "phone", "card", "ssn"})
"""Kinds whose values hold a digit: a word in such a field is a name of something and no number."""


class Fields:
    """Built-in and policy's field rules. What is a secret by the built-in ones is one; else the policy's come first."""

    def __init__(self, rules: tuple[FieldRule, ...] = ()) -> None:
        self._by_key = tuple(rule for rule in rules if rule.key)
        self._by_pointer = tuple(rule for rule in rules if rule.pointer)

    def hits(self, text: str, context: Context) -> Iterator[Hit]:
        """The whole value, without white space round it, if its field says what it is."""
        if context.leaf == "key":
            return
        value = text.strip()
        found = self._rule(context, value)
        if found is None or not value:
            return
        name, kind, is_own = found
        start = text.index(value)
        end = start + len(value)
        if kind == "keep":
            why = "the policy keeps it" if is_own else BYTE_EXACT
            yield Hit(kind="text", detector=name, start=start, end=end, kept=why)
        else:
            kept = "" if is_own and kind != "secret" else _why_kept(kind, value)
            yield Hit(kind=_kind_of(kind, value), detector=name, start=start, end=end, kept=kept)

    def _rule(self, context: Context, value: str) -> tuple[str, FieldKind, bool] | None:
        keys = _called(context, value)
        kinds = [kind for key, parent in keys if (kind := _built_in(key, parent)) is not None]
        if "secret" in kinds or _is_value_of_secret(context):
            return "field:secret", "secret", False
        rule = self._own_rule(context, [key for key, _ in keys])
        if rule is not None:
            return rule.name, rule.kind, True
        return (f"field:{kinds[0]}", kinds[0], False) if kinds else None

    def _own_rule(self, context: Context, keys: list[str]) -> FieldRule | None:
        for rule in self._by_pointer:
            if rule.pattern.match(context.pointer):
                return rule
        return next((rule for key in keys for rule in self._by_key if rule.pattern.match(key)), None)


def _called(context: Context, value: str) -> list[tuple[str, str]]:
    """What the value is called, each with what is above it: by its key, and beside it. Two strings in a list are a name
    and its value only where the name is that of a secret and the second is no plain word: they may as well be names."""
    keys = context.keys
    called = [(folded_key(keys[-1]), folded_key(keys[-2]) if len(keys) > 1 else "")] if keys else []
    if context.named:
        beside = folded_key(context.named)
        if (keys and keys[-1] in VALUES) or (is_secret(beside) and not _PLAIN_WORD.fullmatch(value)):
            called.append((beside, ""))
    return called


def _is_value_of_secret(context: Context) -> bool:
    """Whether it is the member `value` of something that is called a secret."""
    keys = context.keys
    return len(keys) > 1 and keys[-1] in VALUES and is_secret(folded_key(keys[-2]))


def is_secret(key: str) -> bool:
    """Whether a field of this name, folded, holds a secret."""
    return _built_in(key, "") == "secret"


@lru_cache(maxsize=4096)
def _built_in(key: str, parent: str) -> FieldKind | None:
    if key == "name":
        return "person" if _PERSON.fullmatch(parent) else None
    return next((kind for pattern, kind in _PATTERNS if pattern.fullmatch(key)), None)


def _kind_of(kind: Kind, value: str) -> Kind:
    """Free text in the field of a name is free text; every other value is what its field says."""
    return "text" if kind in ("person", "organisation", "username") and len(value) > MOST_NAME else kind


def is_masked(value: str) -> bool:
    """Whether the value was masked before, or only says that there is one."""
    return _MASKED.fullmatch(value) is not None


def _why_kept(kind: Kind, value: str) -> str:
    if is_masked(value):
        return "masked already"
    if kind in _TELLING and not any(character.isdigit() for character in value):
        return "a word and no number"
    if kind == "id" and len(value) < SHORTEST_ID:
        return "too short to tell anybody apart"
    return ""
