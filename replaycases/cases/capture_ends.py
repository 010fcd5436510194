"""When a capture ends, whether it can still be opened, and what is said in its place once its time is over."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q

from replaycases.accounts.models import User
from replaycases.cases import events, evidence
from replaycases.cases.models import Capture, Payload


def require_there(capture: Capture) -> None:
    """Raise EvidenceDestroyed, with what is left of it, once its time is over."""
    if is_gone(capture):
        raise evidence.EvidenceDestroyed(destroyed(capture))


def is_gone(capture: Capture) -> bool:
    return capture.purged_at is not None or evidence.is_gone(capture.payload)


def destroyed(capture: Capture) -> str:
    """What is said in place of a capture whose time was over: when, and the receipt."""
    payload, name, at = capture.payload, capture.readable_id, capture.purged_at
    if at is None:
        return f"The time of {name} is over: it is opened no more, and destroyed at the next look at the calendar."
    return (
        f"{name} was destroyed on {at:%-d %b %Y} UTC, when its time was over. Its receipt: "
        f"{payload.size} bytes, {payload.digest}. Capture the run anew."
    )


def bring_nearer(actor: User, capture: Capture, until: datetime) -> None:
    """It ends then, with its outlines and what was chosen of its runs, where that is earlier than its end: nobody
    lengthens a capture. A case that was made of it keeps its own end. The caller holds the project's lock."""
    if until >= capture.expires_at:
        return
    before = capture.expires_at
    chosen = capture.drafts.values("choices")
    kept = Q(pk=capture.payload_id) | Q(pk=capture.outline_id) | Q(pk__in=chosen)
    for payload in Payload.objects.filter(kept).order_by("pk").defer("body"):
        evidence.shorten(payload, until)
    capture.expires_at = until
    capture.save(update_fields=["expires_at"])
    events.record(
        actor=actor,
        action="evidence.end_set",
        subject=capture,
        project=capture.project,
        object_hash=capture.payload.digest,
        before={"expires_at": before.isoformat()},
        after={"expires_at": until.isoformat(), "brought_by": capture.readable_id},
    )
