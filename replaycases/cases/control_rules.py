"""What makes a document a control of a revision: a name and an outcome of its own, nothing left to fill in, and calls
that do not contradict the outcome it is said to show."""

from __future__ import annotations

from django.core.exceptions import ValidationError

from replaycases.cases import evidence, neighbours, texts
from replaycases.cases.models import Control, FixtureRevision, OutcomeType
from replaycases.fixture import strict_json
from replaycases.fixture.canonical import digest
from replaycases.fixture.model import JSON, Fixture

# By what people tell documents apart, and who recorded them: no replay or verdict reads it. What a run computes may
# hang on the rest, `frozen_at` too: a second before and a second after the clocks change are two controls.
_NAMES = frozenset({"case_id", "incident_id", "recorded_by"})


def tool_shown(revision: FixtureRevision, loaded: Fixture, tool: str) -> str:
    """The tool with an effect that the control is about, "" where the revision has none."""
    known = revision.effectful_tools
    chosen = tool.strip() or (known[0] if len(known) == 1 else "")
    if chosen not in (known or [""]):
        one_of = f"one of the tools that have an effect: {', '.join(known)}" if known else "none: no tool has an effect"
        raise ValidationError({"tool": f"Name {one_of}."})
    if chosen and chosen not in {event.tool for event in loaded.events}:
        raise ValidationError({"tool": f"The control's fixture does not use {chosen}."})
    return chosen


def require_shows(loaded: Fixture, tool: str, outcome_type: OutcomeType) -> None:
    """Whoever adds a control says what it shows, and its own recorded calls are not against that. Nothing is asked of
    one that names no tool: no gate counts its outcome."""
    why_not = neighbours.why_not_shown(loaded, tool, outcome_type) if tool else ""
    if why_not:
        raise ValidationError({"outcome_type": why_not})


def unfilled(text: str) -> list[str]:
    """What is still to be filled in, by line."""
    return [f"Line {line} still says “{said}”." for line, said in neighbours.unfilled(text)]


def require_filled(fixture: bytes) -> None:
    """Nobody's words stand where only the author knows what the tool says. `fixture` is one that was loaded."""
    left = unfilled(fixture.decode(errors="replace"))
    if left:
        raise ValidationError({"fixture": left})


def free_name(revision: FixtureRevision, name: str) -> str:
    kept = texts.kept(name, cap=texts.NAME_CAP, field="name")
    if revision.controls.filter(name=kept).exists():
        taken = f"Revision {revision.number} has a control of this name already. Choose another one."
        raise ValidationError({"name": taken})
    return kept


def require_other(revision: FixtureRevision, loaded: Fixture) -> None:
    """A control stands beside the incident: the incident itself, or one control under several names or outcomes, is
    none. What is destroyed is compared no more."""
    if loaded.fixture_hash == revision.fixture_hash:
        raise ValidationError({"fixture": "This is the incident itself. A control shows what is well beside it."})
    unnamed = _unnamed(loaded.document)
    for other in revision.controls.filter(checks_hash=loaded.checks_hash).select_related("payload"):
        if other.fixture_hash == loaded.fixture_hash or _unnamed_of(other) == unnamed:
            again = f"This is the control {other.name} again. Each shows an outcome of its own."
            raise ValidationError({"fixture": again})


def _unnamed_of(control: Control) -> str:
    return "" if evidence.is_gone(control.payload) else _unnamed(strict_json.parse(evidence.read(control.payload)))


def _unnamed(document: JSON) -> str:
    return digest({key: value for key, value in document.items() if key not in _NAMES})
