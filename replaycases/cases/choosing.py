"""Choices of a draft, changed part by part: what somebody else chose in the meantime stays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import CAPTURES
from replaycases.cases import drafts, outlines, policies
from replaycases.cases.models import Capture, Draft
from replaycases.importers.outline import reach

JSON = Any


def choose(actor: User, *, capture: Capture, run: int, parts: Mapping[str, JSON]) -> Draft:
    """Set these parts of the choices; None, "" and what is empty takes a part away. Raises as `drafts.save`."""
    with transaction.atomic():
        policies.require_roles_locked(actor, capture.project, *CAPTURES)
        chosen = {**_chosen(capture, run), **parts}
        return drafts.save(actor, capture=capture, run=run, choices=chosen)


def change(actor: User, *, capture: Capture, run: int, part: str, into: Callable[[JSON], JSON]) -> Draft:
    """Set this part to what `into` makes of it as it stands (None: nothing was chosen), so that of two people who
    change it at once neither undoes the other. Raises as `choose`, and whatever `into` raises."""
    with transaction.atomic():
        policies.require_roles_locked(actor, capture.project, *CAPTURES)
        return choose(actor, capture=capture, run=run, parts={part: into(_chosen(capture, run).get(part))})


def choose_steps(
    actor: User,
    *,
    capture: Capture,
    run: int,
    shown: Collection[int],
    kept: Collection[int],
    ends_after: int | None,
) -> Draft:
    """Of the steps `shown` (numbers from 1) only the `kept` ones stay; those not shown stay as they were. The draft
    ends after step `ends_after`, None for where the recording ends, and before the first step that is kept and lacks
    its answer. Raises ValidationError where nothing would be left and for a step that it could not end after, and as
    `drafts.save` and `outlines.of_run`."""
    access.require(actor, capture.project, *CAPTURES)
    steps = outlines.of_run(capture, run).steps
    with transaction.atomic():
        policies.require_roles_locked(actor, capture.project, *CAPTURES)
        before = {number for number in _chosen(capture, run).get("leave_out", ()) if number not in shown}
        out = (before | (set(shown) - set(kept))) & {line.number for line in steps}
        whole = reach(steps, out)
        if ends_after is not None and not 1 <= ends_after <= whole:
            raise ValidationError({"ends_after": _cannot_end(ends_after, whole, len(steps))})
        left = sum(number not in out for number in range(1, (ends_after or whole) + 1))
        if not left:
            raise ValidationError({"keep": "Nothing would be left. Keep the steps that decided the outcome."})
        horizon = left if ends_after is not None else None
        return choose(actor, capture=capture, run=run, parts={"leave_out": sorted(out), "horizon_after": horizon})


def _cannot_end(after: int, whole: int, steps: int) -> str:
    if not 1 <= after <= steps:
        return f"There is no step {after} that the draft could end after."
    return f"Step {whole + 1} lacks its answer: leave it out, or the draft ends before it and not after step {after}."


def ends_after(choices: Mapping[str, JSON], whole: int) -> int | None:
    """The step after which the draft ends: its horizon counts the steps that are left. None where there is none."""
    after, out = choices.get("horizon_after"), set(choices.get("leave_out", ()))
    if after is None:
        return None
    left = [number for number in range(1, whole + 1) if number not in out]
    return left[after - 1] if 1 <= after <= len(left) else None


def _chosen(capture: Capture, run: int) -> dict[str, JSON]:
    draft = drafts.of_run(capture, run)
    return drafts.choices_of(draft) if draft is not None else {}
