"""Whether a capture can still be opened, and what is said in its place once its time is over."""

from __future__ import annotations

from replaycases.cases import evidence
from replaycases.cases.models import Capture


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
