"""What an importer costs: work that grows as the file does, memory of a few times its size. Nothing is timed."""

from __future__ import annotations

import gc
import json
import re
import sys
import tracemalloc
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from replaycases.importers.completeness import report_of
from replaycases.importers.registry import FORMATS, open_recording, to_case
from tests.importers import samples
from tests.importers.transcripts import supplied

JSON = Any
NAMES = sorted(samples.SAMPLES)
TIMES = (3, 6, 12)
GROWTH = 1.01
"""How much more a byte may cost in the second half of a file of twice the size: nothing, but for rounding."""
MEMORY = 8
FIXED = 300_000
# orjson reserves twelve times the text before it reads it, and uses what it needs: counted is what comes after.
RESERVING = ("otlp", "otlp:legacy", "otlp:openinference")


def work(data: bytes) -> None:
    """All of it: every run read, reported on and made a draft of."""
    recording = open_recording(data)
    for head in recording.runs:
        run = recording.read(head.index)
        report_of(run, ())
        to_case(run, supplied())


def calls_in(job: Callable[[], object]) -> int:
    """How many functions are called, of Python's and of C's."""
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        job()
    finally:
        sys.setprofile(None)
    return count


def growth(files: list[bytes]) -> float:
    """The cost of a byte that a file of twice the size has more, as a multiple of the same before."""
    work(files[0])
    costs = [calls_in(lambda data=data: work(data)) for data in files]  # type: ignore[misc]
    first, second = (
        (costs[at + 1] - costs[at]) / (len(files[at + 1]) - len(files[at])) for at in range(len(files) - 1)
    )
    return second / first


@cache
def grown(times: int) -> dict[str, bytes]:
    return samples.samples(times)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_twice_the_size_costs_twice_the_work(name: str) -> None:
    assert growth([grown(times)[name] for times in TIMES]) < GROWTH


def _several(rows: JSON, times: int) -> list[JSON]:
    """The rows of one trace again and again, each time as another trace."""
    text = json.dumps(rows)
    return [
        row for n in range(times) for row in json.loads(re.sub(r'"(t|s|root|[mtu]\d+(?:-\d)?)"', rf'"\1-{n}"', text))
    ]


def several(times: int) -> dict[str, bytes]:
    """Files of so many runs."""
    rounds = samples._rounds(1)
    spans = [json.loads(samples.SAMPLES["otlp"].replace(b"0af7651916cd43dd", b"%016x" % (n + 1))) for n in range(times)]
    return {
        "chat-transcript": json.dumps([{"traj": samples._transcript(1)}] * times).encode(),
        "langsmith": json.dumps(_several(samples._runs(rounds), times)).encode(),
        "langfuse": json.dumps(_several(samples._observations(rounds), times)).encode(),
        "claude-code": "\n".join(map(json.dumps, _several(samples._session(1), times))).encode(),
        "otlp": json.dumps({"resourceSpans": [one for span in spans for one in span["resourceSpans"]]}).encode(),
    }


@pytest.mark.parametrize("name", sorted(several(1)))
def test_a_file_of_twice_the_runs_costs_twice_the_work(name: str) -> None:
    files = [several(times)[name] for times in TIMES]
    assert len(open_recording(files[-1]).runs) == TIMES[-1]
    assert growth(files) < GROWTH


@pytest.mark.parametrize("name", NAMES)
def test_memory_stays_within_eight_times_the_file(name: str) -> None:
    data = padded()[name]
    gc.collect()
    tracemalloc.start()
    try:
        recording = open_recording(data)
        if name in RESERVING:
            tracemalloc.reset_peak()
        to_case(recording.read(recording.runs[-1].index), supplied())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MEMORY * len(data) + FIXED


@cache
def padded() -> dict[str, bytes]:
    """As traces are: more text than structure."""
    return samples.samples(3, pad="x" * 20_000)


def test_every_format_is_measured() -> None:
    assert {name.split(":")[0] for name in NAMES} == {format.name for format in FORMATS}
