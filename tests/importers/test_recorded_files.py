"""Real recorded files of other projects, where they are at hand, cut, doubled, moved and retyped: they are read or
refused, and no call goes by unseen."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replaycases.importers.completeness import report_of
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import ModelStep, NeutralRun, ToolStep
from replaycases.importers.registry import FORMATS, open_recording, to_case
from tests.importers.corpus import CORPUS, apps, http, otlp
from tests.importers.damage import EDITS, closed, edit, opened, spliced
from tests.importers.transcripts import supplied

JSON = Any
LARGEST = 70_000
OURS = "recorded"
"""Our own recorder's: nobody else has such files."""
FILES: dict[str, list[str]] = {
    format.name: sorted({
        row.file
        for row in (*http.READ, *otlp.READ, *apps.READ)
        if row.format == format.name and " + " not in row.file
    })
    for format in FORMATS
    if format.name != OURS
}  # fmt: skip
ANY = settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow])
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the recorded files are not here (REPLAYCASES_CORPUS)")


@cache
def raw(name: str) -> tuple[tuple[bytes, str], ...]:
    """The files of a format that are not too long to be damaged often, each with how it is written."""
    files = [(CORPUS / file).read_bytes() for file in FILES[name]]
    return tuple((data, _how(data)) for data in files if len(data) <= LARGEST)


def _how(data: bytes) -> str:
    if data.lstrip()[:1] not in (b"{", b"["):
        return "yaml"
    try:
        json.loads(data)
    except ValueError:
        return "lines"
    return "json"


def asked(value: JSON) -> Iterator[str]:
    """The arguments of what anybody would take for a call in an answer of the model, as JSON text. What a provider ran
    itself has another type."""
    if isinstance(value, list):
        for item in value:
            yield from asked(item)
    elif isinstance(value, dict):
        call = value.get("function", value) if value.get("type") in ("function", "tool_use", "function_call") else None
        given = (
            next((call[key] for key in ("arguments", "input") if key in call), None) if isinstance(call, dict) else None
        )
        if isinstance(given, dict | str):
            yield _canonical(given)
        else:
            for item in value.values():
                yield from asked(item)


def _canonical(given: JSON) -> str:
    try:
        value = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        value = given
    return json.dumps(value or {}, sort_keys=True)


def assert_no_call_is_lost(run: NeutralRun) -> None:
    """Each answer of the model that asks for what is no step has a note, or there is a note for each such call."""
    answers = [set(asked(step.response)) for step in run.steps if isinstance(step, ModelStep)]
    made = Counter(_canonical(step.arguments) for step in run.steps if isinstance(step, ToolStep))
    lost = Counter(one for answer in answers for one in answer) - made
    assert sum(bool(answer & set(lost)) for answer in answers) <= len(run.notes) or lost.total() <= len(run.notes), lost


def assert_sound(data: bytes) -> int:
    """Nothing but a refusal comes out of it. Returns how many runs were read."""
    try:
        recording = open_recording(data)
    except ImportRefused:
        return 0
    read = 0
    for head in recording.runs[:20]:
        try:
            run = recording.read(head.index)
            report = report_of(run, ())
            made = to_case(run, supplied())
        except ImportRefused:
            continue
        assert_no_call_is_lost(run)
        assert len(made.document["events"]) == (report.replayable or len(made.document["events"]))
        read += 1
    return read


def test_every_format_but_our_own_is_damaged_here() -> None:
    assert [name for name in FILES if not raw(name)] == []


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_recorded_file_as_it_is_loses_no_call(name: str) -> None:
    assert all(assert_sound(data) for data, _ in raw(name))


@pytest.mark.parametrize("name", sorted(FILES))
@given(data=st.data())
@ANY
def test_a_recorded_file_with_values_dropped_doubled_moved_and_retyped(name: str, data: st.DataObject) -> None:
    recorded, how = raw(name)[data.draw(st.integers(0, len(raw(name)) - 1))]
    document = opened(recorded, how)
    for kind in data.draw(st.lists(EDITS, min_size=1, max_size=5)):
        edit(document, kind, data.draw)
    try:
        damaged = closed(document, how)
    except (TypeError, ValueError):
        return
    assert_sound(damaged)


@pytest.mark.parametrize("name", sorted(FILES))
@given(data=st.data(), cut=st.booleans())
@ANY
def test_a_recorded_file_that_breaks_off_or_has_a_piece_turned(name: str, data: st.DataObject, cut: bool) -> None:
    recorded, _ = raw(name)[data.draw(st.integers(0, len(raw(name)) - 1))]
    assert_sound(recorded[: data.draw(st.integers(0, len(recorded)))] if cut else spliced(recorded, data.draw))
