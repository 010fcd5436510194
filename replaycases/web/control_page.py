"""What the page shows on which a control is written from a revision."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import QueryDict

from replaycases.cases import fixtures, texts
from replaycases.cases.models import FixtureRevision, OutcomeType
from replaycases.cases.neighbours import Call, Neighbour, calls_of, neighbour
from replaycases.fixture.findings import Finding
from replaycases.fixture.json_lines import lines_of
from replaycases.fixture.model import Fixture
from replaycases.fixture.pointer import resolve
from replaycases.web import document_rows, words
from replaycases.web.forms_review import EDITED_BYTES
from replaycases.web.pages import ROWS_A_PAGE
from replaycases.web.revision_page import FindingLine, beside_lines

Named = Mapping[tuple[str, str], Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Way:
    """One type of outcome of one call: where a control of it is written, and the controls that its tool has of it."""

    outcome_type: OutcomeType
    query: str
    controls: Sequence[str]
    is_recorded: bool


@dataclass(frozen=True, kw_only=True)
class Row:
    """A recorded call, its recorded outcome in few words, and the ways in which a control may end it."""

    call: Call
    outcome: words.Shown
    accepted: str
    ways: Sequence[Way]


@dataclass(frozen=True, kw_only=True)
class Start:
    """What a control is written from. `same`: the recorded outcome is of its type already; `accepted` as JSON; `lines`
    are those of the text on which the outcome and what is expected begin."""

    of: Neighbour
    initial: Mapping[str, Any]
    outcome: words.Shown
    accepted: str

    @property
    def same(self) -> bool:
        return self.of.call.recorded_as == self.of.outcome_type

    @property
    def is_success(self) -> bool:
        return self.of.outcome_type == OutcomeType.SUCCESS

    @property
    def is_timeout(self) -> bool:
        return self.of.outcome_type == OutcomeType.TIMEOUT

    @property
    def lines(self) -> Mapping[str, int]:
        places = {"answer": f"{self.of.call.event.pointer}/outcome", "expected": "/expected"}
        found = lines_of(self.initial["text"], places.values())
        return {name: found[pointer] for name, pointer in places.items()}

    @property
    def fits(self) -> bool:
        return len(self.initial["text"]) <= EDITED_BYTES


def rows_of(revision: FixtureRevision, asked: str | None) -> Page[Row]:
    """The calls to choose from, on the page that is asked for."""
    fixture = fixtures.of_revision(revision)
    page: Page[Any] = Paginator(calls_of(fixture), ROWS_A_PAGE).get_page(asked)
    named = _controls(revision)
    page.object_list = [_row(fixture, call, named) for call in page.object_list]
    return page


def start_of(revision: FixtureRevision, asked: QueryDict) -> Start | None:
    """As `?call=` and `?outcome=` ask: the number (seq) of a call and a type. None for what there is not."""
    fixture, number, outcome = fixtures.of_revision(revision), asked.get("call", ""), asked.get("outcome")
    call = next((call for call in calls_of(fixture) if str(call.event.seq) == number), None)
    if call is None or outcome not in OutcomeType.values:
        return None
    of = neighbour(fixture, call, OutcomeType(outcome))
    return Start(
        of=of,
        initial={
            "seen": revision.number,
            "name": _free(f"{call.event.tool}: {of.outcome_type.label.lower()}", revision),
            "outcome_type": of.outcome_type.value,
            "tool": call.event.tool,
            "text": document_rows.as_json(of.document),
            "mutation": document_rows.as_json(of.mutation),
        },
        outcome=_told(fixture, call),
        accepted=json.dumps(of.accepted),
    )


def _row(fixture: Fixture, call: Call, named: Named) -> Row:
    effect = call.event.effect
    return Row(
        call=call,
        outcome=_told(fixture, call),
        accepted=json.dumps(effect.accepted) if effect is not None else "",
        ways=[
            Way(
                outcome_type=outcome_type,
                query=f"call={call.event.seq}&outcome={outcome_type.value}",
                controls=named.get((call.event.tool, outcome_type.value), ()),
                is_recorded=outcome_type == call.recorded_as,
            )
            for outcome_type in OutcomeType
        ],
    )


def _told(fixture: Fixture, call: Call) -> words.Shown:
    outcome = resolve(fixture.document, f"{call.event.pointer}/outcome")
    return words.whole(document_rows.told(outcome))


def _controls(revision: FixtureRevision) -> Named:
    found = defaultdict[tuple[str, str], list[str]](list)
    for tool, outcome_type, name in revision.controls.values_list("tool", "outcome_type", "name").order_by("name"):
        found[tool, outcome_type].append(name)
    return found


def _free(name: str, revision: FixtureRevision) -> str:
    """The name, with a number where a control bears it already."""
    taken = set(revision.controls.values_list("name", flat=True))
    short = name[: texts.NAME_CAP - 10]
    return next(each for n in range(1, len(taken) + 2) if (each := short if n == 1 else f"{short} {n}") not in taken)


def beside(findings: Sequence[Finding], *, text: str, mutation: str) -> tuple[str, list[FindingLine]]:
    """What cannot be used, and its findings beside their lines: those of the mutation stand in its own text."""
    if any(finding.id == "mutation.invalid" for finding in findings):
        return "The mutation cannot be used", beside_lines(findings, mutation)
    return "The fixture cannot be used", beside_lines(findings, text)
