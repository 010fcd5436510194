"""What pages of a draft name as what they showed, so that a form may be sent as it stands there."""

from __future__ import annotations

from replaycases.cases import choosing, drafts
from replaycases.cases.models import Draft
from replaycases.web.captures.draft_form import PARTS

RECORD = PARTS
STEPS = choosing.STEPS


def seen_now(*parts: str) -> dict[str, str]:
    """The field that says it, of the only draft as it is."""
    draft = Draft.objects.select_related("choices").get()
    return {"seen": choosing.seen_of(drafts.choices_of(draft), parts)}
