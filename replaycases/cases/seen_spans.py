"""What a reviewer has looked at: nobody approves what they did not see.

Numbered from 0: every changed span, in the order of the document; every open finding; every page of PAGE values, since
what no detector finds is found only by somebody who reads; and every piece of a text that no page shows whole.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from replaycases.accounts.models import User
from replaycases.cases import policies, reading
from replaycases.cases.models import Redaction, SeenSpans
from replaycases.cases.policies import InvalidTransition
from replaycases.redaction.leaves import leaves
from replaycases.redaction.record import Record

PAGE = 500
SHOWN = 4_000
"""Characters of a text that a page shows; the whole of a longer one stands on a page of its own."""
PIECE = 20_000
"""Characters that this one shows at once."""


def to_be_seen(record: Record, to_be_read: int) -> int:
    """How many there are of a redaction: `to_be_read` is what `pages_and_pieces` says of its document."""
    return first_page(record) + to_be_read


def pages_and_pieces(document: Any) -> int:
    """How many pages of values there are, and how many pieces of long texts."""
    values = [len(leaf.text) for leaf in leaves(document) if leaf.kind != "key"]
    return pages(len(values)) + sum(map(pieces, values))


def pages(values: int) -> int:
    return max(1, -(-values // PAGE))


def pieces(length: int) -> int:
    """In how many pieces a text of so many characters is looked at beside its page."""
    return -(-length // PIECE) if length > SHOWN else 0


def first_open(record: Record) -> int:
    """The number of the first open finding."""
    return record.spans


def first_page(record: Record) -> int:
    """The number of the first page of values."""
    return first_open(record) + len(record.open)


def of(user: User, redaction: Redaction) -> frozenset[int]:
    """The spans that the user has seen."""
    row = SeenSpans.objects.filter(redaction=redaction, user=user).first()
    return frozenset(row.spans) if row is not None else frozenset()


def mark(user: User, *, redaction: Redaction, spans: Collection[int]) -> frozenset[int]:
    """They are on the user's screen, and the user says so. Returns all that are seen now. Raises PermissionDenied for a
    program and for who has the bytes not open, ValidationError for a span that the redaction does not have."""
    policies.refuse_tokens(user)
    reading.require_open(redaction.revision, user)
    if not all(type(span) is int and 0 <= span < redaction.spans for span in spans):
        raise ValidationError({"spans": f"The redaction has {redaction.spans} spans, counted from 0."})
    with transaction.atomic():
        row, _ = SeenSpans.objects.select_for_update().get_or_create(redaction=redaction, user=user)
        row.spans = sorted({*row.spans, *spans})
        row.save()
    return frozenset(row.spans)


def require_all(user: User, redaction: Redaction) -> None:
    """Raises InvalidTransition while the user has not looked at everything."""
    unseen = why_not_approve(user, redaction)
    if unseen:
        raise InvalidTransition(unseen)


def why_not_approve(user: User, redaction: Redaction) -> str:
    """Why the user cannot approve yet, "" once everything was seen."""
    left = redaction.spans - len(of(user, redaction))
    if left <= 0:
        return ""
    return f"You have not looked at {left} of {redaction.spans} places. Look at each of them first."
