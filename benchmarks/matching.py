"""Matched calls a second for recordings of growing length: `python benchmarks/matching.py`.

A round replays every recording of one size against itself, once, and makes as many calls for one size as for
another: a hundred recordings of 100 events, ten of 1,000, one of 10,000. (One short recording replayed a hundred times
would stay in the processor's cache and look cheaper than any real one.) Sizes take turns, and the best round of each
counts, in CPU time, since a shared machine only slows things down. The last line is JSON.
"""

from __future__ import annotations

import gc
import json
import time
from typing import Any

import orjson

from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.replay.session import Answer, ReplaySession

SIZES = (100, 1_000, 10_000)
CALLS_A_ROUND = 10_000
ROUNDS = 9
REQUIRED = 20_000


def recording(events: int) -> Fixture:
    """Tool calls as an agent makes them: five leaves, seven tools, no two alike."""
    document = {
        "schema_version": "2.0",
        "case_id": "bench",
        "incident_id": "bench",
        "workflow_version": "1",
        "prompt_version": "1",
        "frozen_at": "2026-03-29T01:30:00+01:00",
        "input": {},
        "identity": {},
        "events": [_event(seq) for seq in range(events)],
        "expected": {"run_status": {"id": "run", "forbid": ["crashed"]}, "boundary": ["run"]},
    }
    return load_fixture(json.dumps(document).encode())


def _event(seq: int) -> dict[str, Any]:
    arguments = {"order": f"o-{seq}", "amount": seq, "lines": [{"sku": "a", "count": 1}], "express": seq % 2 == 0}
    outcome = {"type": "result", "value": {"ok": True, "seq": seq}}
    return {
        "seq": seq,
        "boundary": "tool",
        "attempt": f"a{seq}",
        "tool": f"tool{seq % 7}",
        "arguments": arguments,
        "outcome": outcome,
    }


def seconds_of_pass(fixture: Fixture) -> float:
    """CPU seconds of one replay of the recording against itself, each request parsed from its line as a supervisor
    would; every call must be answered."""
    session = ReplaySession(fixture, serving=None, clock=None)
    session.handle("session.start", {"protocol": 1})
    lines = [orjson.dumps({"tool": event.tool, "arguments": event.arguments}) for event in fixture.events]
    answered = 0
    started = time.process_time()
    for line in lines:
        answered += type(session.handle("tool.call", orjson.loads(line))) is Answer
    elapsed = time.process_time() - started
    assert answered == len(lines)
    return elapsed


def main() -> None:
    recordings = {size: [recording(size) for _ in range(CALLS_A_ROUND // size)] for size in SIZES}
    gc.collect()
    gc.freeze()
    best = dict.fromkeys(SIZES, float("inf"))
    for _ in range(ROUNDS):
        for size, fixtures in recordings.items():
            best[size] = min(best[size], sum(map(seconds_of_pass, fixtures)) / CALLS_A_ROUND)
    rates = {size: 1 / cost for size, cost in best.items()}
    for size, rate in rates.items():
        print(f"{size:>6} events: {rate:>9,.0f} matched calls a second, {1e6 / rate:.1f} µs a call")
    flat = max(best.values()) / min(best.values())
    print(f"dearest over cheapest call: {flat:.2f} (wanted: at most 1.20, and {REQUIRED:,} calls a second)")
    figures = {str(size): round(rate) for size, rate in rates.items()}
    print(json.dumps({"benchmark": "matching", "calls_per_second": figures, "ratio": round(flat, 3)}))


if __name__ == "__main__":
    main()
