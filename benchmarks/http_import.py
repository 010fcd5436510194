"""A VCR cassette in: MB/s of one core from the bytes of a 10 MB YAML file to a run, and the time as a multiple of
`json.loads` of the same interactions in JSON.

Run as `python benchmarks/http_import.py`; the last line is JSON. Each figure is the median of three runs in fresh
processes.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

SIZE = 10_000_000
TURNS = 12
WORDS = ("refund", "parcel", "order", "größe", "status", "late", "ünïcode", "42.5", "customer", "warehouse", "please")
TOOLS = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]


def make_cassette() -> dict[str, Any]:
    """Conversations of a dozen turns, each an exchange that asks for a tool; every other answer is streamed."""
    draw = random.Random(20261130)
    interactions: list[Any] = []
    size = 0
    while size < SIZE:
        if len(interactions) % TURNS == 0:
            talk = [{"role": "user", "content": _text(draw, 60)}]
        name = f"call_{len(interactions):08x}"
        function = {"name": "find", "arguments": json.dumps({"id": _text(draw, 2)})}
        call = {"id": name, "type": "function", "function": function}
        interactions.append(_interaction(talk, call, streamed=len(interactions) % 2 == 1))
        size += len(json.dumps(interactions[-1]))
        talk = [*talk, {"role": "assistant", "tool_calls": [call]}]
        talk.append({"role": "tool", "tool_call_id": name, "content": _text(draw, 60)})
    return {"interactions": interactions, "version": 1}


def _interaction(talk: list[Any], call: dict[str, Any], *, streamed: bool) -> dict[str, Any]:
    request = {"model": "m", "temperature": 0, "messages": talk, "tools": TOOLS, "stream": streamed}
    told = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {"id": "c", "object": "chat.completion", "model": "m-1", "choices": [{"index": 0, "message": told}]}
    text = _stream(call) if streamed else json.dumps(body)
    return {
        "request": {
            "method": "POST",
            "uri": "https://api.openai.com/v1/chat/completions",
            "body": json.dumps(request, ensure_ascii=False),
            "headers": {"content-type": ["application/json"]},
        },
        "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": text}},
    }


def _stream(call: dict[str, Any]) -> str:
    text = call["function"]["arguments"]
    head = {"index": 0, **call, "function": {"name": "find", "arguments": ""}}
    pieces = [{"index": 0, "function": {"arguments": text[at : at + 4]}} for at in range(0, len(text), 4)]
    deltas = [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None} for piece in (head, *pieces)]
    ended = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    chunks = [{"id": "c", "object": "chat.completion.chunk", "choices": [choice]} for choice in (*deltas, ended)]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def _text(draw: random.Random, words: int) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(words))


def measure() -> dict[str, float]:
    import yaml

    from replaycases.importers.registry import open_recording

    cassette = make_cassette()
    written = yaml.dump(cassette, Dumper=yaml.CSafeDumper, allow_unicode=True).encode()
    as_json = json.dumps(cassette, ensure_ascii=False)
    began = time.process_time()
    json.loads(as_json)
    plain = time.process_time() - began
    began = time.process_time()
    run = open_recording(written).read()
    took = time.process_time() - began
    assert len(run.steps) > len(cassette["interactions"])
    return {"mb_per_s": len(written) / 1e6 / took, "ratio": took / plain, "exchanges": len(cassette["interactions"])}


def main() -> None:
    if sys.argv[1:] == ["one"]:
        print(json.dumps(measure()))
        return
    runs = [json.loads(subprocess.check_output([sys.executable, __file__, "one"])) for _ in range(3)]
    found = {name: round(statistics.median(run[name] for run in runs), 1) for name in runs[0]}
    print(f"{found['mb_per_s']} MB/s, {found['ratio']} times json.loads, {found['exchanges']:.0f} exchanges")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
