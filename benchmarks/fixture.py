"""Cost of a 10 MB fixture of 10,000 events: digest, whole validation, peak memory.

Run as `python benchmarks/fixture.py`; the last line is JSON. Seconds are the median of three runs in fresh processes;
the hash includes reading the JSON. Peak memory is the high-water mark of the process, interpreter and imports included.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from replaycases.fixture import canonical, load, strict_json

EVENTS = 10_000
WORDS = ("refund", "parcel", "order", "größe", "status", "\n", '"quoted"', "late", "ünïcode", "42.5")


def make_fixture() -> bytes:
    """About 10 MB of 2.0: tool, model, retrieval and clock events, groups, effects, ignore rules, floats, Unicode."""
    draw = random.Random(20260329)
    events = [_event(draw, seq) for seq in range(1, EVENTS + 1)]
    document = {
        "schema_version": "2.0",
        "case_id": "BENCH-1",
        "incident_id": "INC-1",
        "workflow_version": "1",
        "prompt_version": "1",
        "frozen_at": "2026-03-29T01:59:00+01:00",
        "input": {"message": "Where is my parcel?"},
        "identity": {"subject": "customer-1"},
        "events": events,
        "expected": {"boundary": ["action_counts.refund"], "action_counts": {"refund": {"max": 1}}},
    }
    return json.dumps(document, ensure_ascii=False).encode()


def _event(draw: random.Random, seq: int) -> dict[str, Any]:
    kind = seq % 10
    if kind == 0:
        return {"seq": seq, "boundary": "clock", "now": f"2026-03-29T02:{seq % 60:02}:00.{seq % 1000:03}+01:00"}
    if kind == 1:
        chunks = [{"id": f"c{seq}-{n}", "text": _text(draw, 60), "score": draw.random()} for n in range(2)]
        return {"seq": seq, "boundary": "retrieval", "query": _text(draw, 6), "chunks": chunks}
    if kind == 2:
        messages = [{"role": role, "content": _text(draw, 60)} for role in ("system", "user", "assistant")]
        request = {"trace_id": f"t-{seq}", "messages": messages}
        return {
            "seq": seq,
            "boundary": "model",
            "request": request,
            "response": {"text": _text(draw, 60)},
            "match": {"ignore": ["/trace_id"]},
            "usage": {"input_tokens": 500, "output_tokens": 90, "cost": 0.00125},
        }
    return _tool_event(draw, seq, group=f"g{seq // 10}" if kind > 6 else None)


def _tool_event(draw: random.Random, seq: int, *, group: str | None) -> dict[str, Any]:
    event: dict[str, Any] = {
        "seq": seq,
        "boundary": "tool",
        "attempt": f"a-{seq}",
        "tool": "refund" if seq % 100 == 3 else "lookup",
        "arguments": {
            "order": f"o-{seq}",
            "key": f"k-{seq}",
            "request_id": str(seq),
            "amount": draw.randrange(400) / 4,
        },
        "outcome": {"type": "result", "value": {"rows": [{"id": n, "text": _text(draw, 24)} for n in range(4)]}},
        "match": {"ignore": ["/request_id"]},
    }
    if group:
        event["group"] = group
    if event["tool"] == "refund":
        event["effect"] = {"action": "refund", "key": "/key", "accepted": True}
    return event


def _text(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(WORDS, k=words))


def measure(task: str) -> dict[str, float]:
    """Seconds and peak bytes of one task over the fixture on standard input, in this process."""
    data = sys.stdin.buffer.read()
    started = time.perf_counter()
    if task == "hash":
        canonical.digest(strict_json.parse(data))
    else:
        load.load_fixture(data)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def in_fresh_process(task: str, data: bytes) -> dict[str, float]:
    """The median time and highest peak of three runs."""
    command = [sys.executable, __file__, task]
    runs = [json.loads(subprocess.run(command, input=data, capture_output=True, check=True).stdout) for _ in range(3)]
    return {
        "seconds": statistics.median(run["seconds"] for run in runs),
        "peak": max(run["peak"] for run in runs),
    }


def main() -> None:
    data = make_fixture()
    hashed, validated = in_fresh_process("hash", data), in_fresh_process("validate", data)
    figures = {
        "benchmark": "fixture",
        "bytes": len(data),
        "events": EVENTS,
        "hash_seconds": round(hashed["seconds"], 3),
        "validate_seconds": round(validated["seconds"], 3),
        "peak_memory_ratio": round(validated["peak"] / len(data), 2),
    }
    print(f"fixture of {len(data) / 1e6:.1f} MB, {EVENTS:,} events")
    print(f"read and hashed in {figures['hash_seconds']} s (promise: under 1 s)")
    print(f"validated whole in {figures['validate_seconds']} s (promise: under 3 s)")
    print(f"peak memory {figures['peak_memory_ratio']} times the file (promise: under 12)")
    print(json.dumps(figures))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps(measure(sys.argv[1])))
    else:
        main()
