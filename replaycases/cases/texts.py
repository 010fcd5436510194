"""What people write about a case: how it is kept, and when it is refused."""

from __future__ import annotations

from django.core.exceptions import ValidationError

from replaycases.cases import evidence

# Characters, as kept: a control character takes six.
TITLE_CAP = 300
NAME_CAP = 200
TEXT_CAP = 4000


def kept(text: str, *, cap: int = TEXT_CAP, missing: str = "", field: str = "") -> str:
    """The text trimmed, with what a text column cannot hold as visible escapes. Raises ValidationError, of `field` if
    it is named: with the sentence `missing` where nothing is said, if there is one, and for more than `cap` characters,
    since a text that was cut would say something else."""
    said = evidence.printable(text.strip())
    fault = ""
    if not said:
        fault = missing
    elif len(said) > cap:
        fault = f"“{said[:40]}…” has {len(said)} characters; at most {cap} are kept."
    if fault:
        raise ValidationError({field: fault} if field else fault)
    return said
