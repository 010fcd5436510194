"""Redaction: MB/s of one core over an agent's trace of 1 MB with about 2,500 values, the whole pipeline and the
detectors alone.

Run as `python benchmarks/redaction.py`; the last line is JSON. Each figure is the median of three runs in one process,
in CPU time.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from replaycases.redaction.policy import BUILT_IN
from replaycases.redaction.redact import redact
from replaycases.redaction.scan import Detectors, scan, sources

SIZE = 1_000_000
PROSE = (
    "the order was refunded yesterday because it came late and nobody answered at the warehouse please look at parcel "
    "status again before you promise anything to them as our policy says thirty days"
)
WORDS = tuple(PROSE.split())
WANTED = {"pipeline": 1.0, "detectors": 5.0}


def make_trace() -> dict[str, Any]:
    """A conversation with tool calls: names, mailboxes, ids, phones and keys, again and again, some in nested JSON."""
    draw = random.Random(20261130)
    people = [_person(draw) for _ in range(60)]
    turns: list[Any] = []
    size = 0
    while size < SIZE:
        person = draw.choice(people)
        turn = {
            "role": "user",
            "content": f"I am {person['customer_name']}, {person['email']}. {_prose(draw, 150)}",
            "tool_calls": [{"name": "orders.find", "arguments": json.dumps({**person, "note": _prose(draw, 30)})}],
            "result": {"order_id": f"ord-{draw.randrange(10**6):06}", "text": _prose(draw, 100), "state": "late"},
        }
        turns.append(turn)
        size += len(json.dumps(turn))
    return {"turns": turns}


def _person(draw: random.Random) -> dict[str, str]:
    first, family = (draw.choice("BCDFGKLMNPRST") + "".join(draw.choices("aeiou", k=4)) for _ in range(2))
    return {
        "customer_name": f"{first} {family}",
        "email": f"{first}.{family}@corp{draw.randrange(9)}.test".lower(),
        "user_id": f"usr_{draw.randrange(10**6):06}",
        "phone": f"+1 212 867 {draw.randrange(10**4):04}",
        "api_key": f"sk-live-{draw.randrange(16**20):020x}",
    }


def _prose(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(WORDS, k=words))


def rate_of(work: Callable[[], Any], size: int) -> float:
    """MB of the trace's JSON a second of CPU time."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return size / 1e6 / statistics.median(times)


def main() -> None:
    trace = make_trace()
    size = len(json.dumps(trace))
    found = redact(trace, policy=BUILT_IN, key=bytes(32))
    read = sources(trace)
    figures = {
        "pipeline": rate_of(lambda: redact(trace, policy=BUILT_IN, key=bytes(32)), size),
        "detectors": rate_of(lambda: scan(read, Detectors(BUILT_IN), BUILT_IN), size),
    }
    print(f"{size / 1e6:.2f} MB, {len(found.replaced)} values replaced, {len(found.open)} open")
    for name, rate in figures.items():
        print(f"{name}: {rate:.2f} MB/s of one core (at least {WANTED[name]:.0f})")
    print(json.dumps({"size": size, "values": len(found.replaced), **figures}))


if __name__ == "__main__":
    main()
