"""One made-up run in every format that is read: two calls at once, then a third one, then the end.

The arguments of each call hold a word of their own, by which it can be found again whatever happens to the file.
`samples` makes it longer: the same again and again, one conversation after the other in one run.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from replaycases.harness.recording import RecordingSession
from tests.importers import cassettes
from tests.importers.http.streams import sse
from tests.importers.otlp.exports import export, record, sdk_request, span

JSON = Any
WORDS = ("CALL-1", "CALL-2", "CALL-3")
ANSWERS = ("TOLD-1", "TOLD-2", "TOLD-3")
USER = {"role": "user", "content": "SAID-1"}
DONE = {"role": "assistant", "content": "SAID-2"}


@dataclass(frozen=True, kw_only=True)
class Round:
    """What the model was sent, what it said, and the numbers of the calls that it asked for. Numbers go on."""

    sent: list[JSON]
    said: JSON
    calls: tuple[int, ...]


def _id(n: int) -> str:
    return f"c{n + 1}"


def _word(n: int) -> str:
    return f"CALL-{n + 1}"


def _answer(n: int) -> str:
    return f"TOLD-{n + 1}"


def _call(n: int) -> dict[str, JSON]:
    return cassettes.call("look", {"word": _word(n)}, _id(n))


def _told(n: int) -> dict[str, JSON]:
    return cassettes.told(_answer(n), _id(n))


def _talk(first: int) -> list[JSON]:
    one, two, three = first, first + 1, first + 2
    asked = cassettes.asks(_call(one), _call(two)), cassettes.asks(_call(three))
    return [USER, asked[0], _told(one), _told(two), asked[1], _told(three), DONE]


def _rounds(times: int) -> list[Round]:
    found = []
    for first in range(0, 3 * times, 3):
        talk = _talk(first)
        for at, calls in ((1, (first, first + 1)), (4, (first + 2,)), (6, ())):
            found.append(Round(sent=talk[:at], said=talk[at], calls=calls))
    return found


def _calls_in(rounds: Sequence[Round]) -> list[int]:
    return [n for one in rounds for n in one.calls]


def _at(second: int) -> str:
    return (datetime(2026, 1, 2, 3, 4, tzinfo=UTC) + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S")


def _lines(rows: list[JSON]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def _json(document: JSON) -> bytes:
    return json.dumps(document).encode()


def _transcript(times: int) -> list[JSON]:
    return [message for first in range(0, 3 * times, 3) for message in _talk(first)]


def _simulations(times: int) -> JSON:
    def plain(message: JSON) -> JSON:
        if message["role"] == "tool":
            return {"role": "tool", "id": message["tool_call_id"], "content": message["content"],
                    "requestor": "assistant"}  # fmt: skip
        calls = [
            {"id": call["id"], "name": "look", "arguments": json.loads(call["function"]["arguments"]),
             "requestor": "assistant"}
            for call in message.get("tool_calls", ())
        ]  # fmt: skip
        return {**message, **({"tool_calls": calls} if calls else {})}

    talk = [plain(message) for message in _transcript(times)]
    return {"info": {"agent_info": {"llm": "m"}}, "simulations": [{"id": "s", "messages": talk}]}


def _langchain(message: dict[str, JSON]) -> dict[str, JSON]:
    name = {"user": "HumanMessage", "assistant": "AIMessage", "tool": "ToolMessage"}[message["role"]]
    calls = [
        {"name": "look", "args": json.loads(call["function"]["arguments"]), "id": call["id"], "type": "tool_call"}
        for call in message.get("tool_calls", ())
    ]
    kwargs = {"content": message["content"] or "", "tool_call_id": message.get("tool_call_id"), "tool_calls": calls}
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}


def _runs(rounds: Sequence[Round]) -> list[JSON]:
    def run(id: str, kind: str, at: int, **fields: JSON) -> JSON:
        named = {"id": id, "trace_id": "t", "parent_run_id": None if id == "root" else "root", "run_type": kind}
        return {**named, "name": "look", "start_time": f"{_at(at)}Z", "end_time": f"{_at(at + 1)}Z", **fields}

    models = [
        run(f"m{n}", "llm", 10 * n + 1, inputs={"messages": [[_langchain(m) for m in one.sent]]},
            outputs={"generations": [[{"message": _langchain(one.said)}]]})
        for n, one in enumerate(rounds)
    ]  # fmt: skip
    tools = [
        run(f"t{call}", "tool", 10 * n + 3 + at, inputs={"word": _word(call)},
            outputs={"output": {"type": "tool", "content": _answer(call), "tool_call_id": _id(call)}})
        for n, one in enumerate(rounds) for at, call in enumerate(one.calls)
    ]  # fmt: skip
    return [run("root", "chain", 0), *models, *tools]


def _wire(rounds: Sequence[Round]) -> JSON:
    ends, runs = ("end_time", "outputs"), _runs(rounds)
    starts = [{key: value for key, value in run.items() if key not in ends} for run in runs]
    return {"post": starts, "patch": [{"id": run["id"], **{key: run.get(key) for key in ends}} for run in runs]}


def _observations(rounds: Sequence[Round]) -> list[JSON]:
    def row(id: str, kind: str, at: int, given: JSON, told: JSON) -> JSON:
        return {"id": id, "traceId": "t", "type": kind, "name": "look", "parentObservationId": "root",
                "startTime": f"{_at(at)}.000Z", "endTime": f"{_at(at + 1)}.000Z",
                "input": json.dumps(given), "output": told if isinstance(told, str) else json.dumps(told)}  # fmt: skip

    models = [row(f"m{n}", "GENERATION", 10 * n + 1, one.sent, one.said) for n, one in enumerate(rounds)]
    tools = [
        row(f"t{call}", "TOOL", 10 * n + 3 + at, {"word": _word(call)}, _answer(call))
        for n, one in enumerate(rounds)
        for at, call in enumerate(one.calls)
    ]
    return [*tools, *models]


def _blocks(*numbers: int) -> list[JSON]:
    return [{"type": "tool_use", "id": _id(n), "name": "look", "input": {"word": _word(n)}} for n in numbers]


def _results(*numbers: int) -> list[JSON]:
    return [{"type": "tool_result", "tool_use_id": _id(n), "content": _answer(n)} for n in numbers]


def _session(times: int) -> list[JSON]:
    """Lines of which the first two are one message, in two parts."""
    parts: list[tuple[str, JSON, str | None]] = []
    for first in range(0, 3 * times, 3):
        parts += [("user", "SAID-1", None), ("assistant", _blocks(first), f"m{first}-1"),
                  ("assistant", _blocks(first + 1), f"m{first}-1"), ("user", _results(first), None),
                  ("user", _results(first + 1), None), ("assistant", _blocks(first + 2), f"m{first}-2"),
                  ("user", _results(first + 2), None),
                  ("assistant", [{"type": "text", "text": "SAID-2"}], f"m{first}-3")]  # fmt: skip
    return [
        {"type": kind, "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "sessionId": "s",
         "timestamp": f"{_at(at)}.000Z",
         "message": {"role": kind, "content": content, **({"id": id, "model": "m"} if id else {})}}
        for at, (kind, content, id) in enumerate(parts)
    ]  # fmt: skip


def _chat_cassette(rounds: Sequence[Round]) -> bytes:
    return cassettes.cassette(
        *(cassettes.interaction(cassettes.chat(*one.sent), cassettes.answer(one.said)) for one in rounds)
    )


def _items(messages: Iterable[JSON]) -> list[JSON]:
    found: list[JSON] = []
    for message in messages:
        if message["role"] == "tool":
            found.append(
                {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
            )
        elif "tool_calls" in message:
            found += [{"type": "function_call", "id": f"f{call['id']}", "call_id": call["id"], **call["function"]}
                      for call in message["tool_calls"]]  # fmt: skip
        else:
            found.append(message)
    return found


def _responses_cassette(rounds: Sequence[Round]) -> bytes:
    def said(message: JSON) -> JSON:
        text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "SAID-2"}]}
        output = _items([message]) if "tool_calls" in message else [text]
        return {"id": "r", "object": "response", "status": "completed", "model": "m-1", "output": output}

    return cassettes.cassette(
        *(cassettes.interaction({"model": "m", "input": _items(one.sent)}, said(one.said), url=cassettes.RESPONSES)
          for one in rounds)
    )  # fmt: skip


def _messages_cassette(times: int) -> bytes:
    made = []
    for first in range(0, 3 * times, 3):
        talk = [
            USER,
            {"role": "assistant", "content": _blocks(first, first + 1)},
            {"role": "user", "content": _results(first, first + 1)},
            {"role": "assistant", "content": _blocks(first + 2)},
            {"role": "user", "content": _results(first + 2)},
            {"role": "assistant", "content": [{"type": "text", "text": "SAID-2"}]},
        ]
        for at in (1, 3, 5):
            asked = {"model": "m", "max_tokens": 9, "messages": talk[:at]}
            said = {"id": "x", "type": "message", "model": "m", **talk[at]}
            made.append(cassettes.interaction(asked, said, url=cassettes.MESSAGES))
    return cassettes.cassette(*made)


def _parts(message: JSON) -> JSON:
    if message["role"] == "tool":
        part = {"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}
        return {"role": "tool", "parts": [part]}
    calls = [{"type": "tool_call", "id": call["id"], **call["function"]} for call in message.get("tool_calls", ())]
    return {"role": message["role"], "parts": calls or [{"type": "text", "content": message["content"]}]}


def _genai(rounds: Sequence[Round]) -> list[tuple[str, dict[str, JSON]]]:
    found = []
    for one in rounds:
        chat = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "p", "gen_ai.request.model": "m",
                "gen_ai.input.messages": json.dumps([_parts(message) for message in one.sent]),
                "gen_ai.output.messages": json.dumps([{**_parts(one.said), "finish_reason": "stop"}])}  # fmt: skip
        found.append(("chat m", chat))
        for n in one.calls:
            tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look",
                    "gen_ai.tool.call.id": _id(n), "gen_ai.tool.call.result": _answer(n),
                    "gen_ai.tool.call.arguments": json.dumps({"word": _word(n)})}  # fmt: skip
            found.append(("execute_tool look", tool))
    return found


def _legacy(rounds: Sequence[Round]) -> bytes:
    bare = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.request.model": "m"}
    logs = []
    for n, one in enumerate(rounds, 1):
        named = [("gen_ai.tool.message" if m["role"] == "tool" else f"gen_ai.{m['role']}.message", m) for m in one.sent]
        rows = [*named, ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": one.said})]
        logs += [record(name, _logged(body), of=n, at=100 * n + at) for at, (name, body) in enumerate(rows)]
    return export(*(span(n, attributes=bare) for n in range(1, len(rounds) + 1)), logs=logs)


def _logged(body: JSON) -> JSON:
    return {"id": body["tool_call_id"], "content": body["content"]} if body.get("role") == "tool" else body


def _openinference(rounds: Sequence[Round]) -> bytes:
    kind = "openinference.span.kind"
    rows: list[dict[str, JSON]] = []
    for one in rounds:
        sent, said = _flat("llm.input_messages", one.sent), _flat("llm.output_messages", [one.said])
        rows.append({kind: "LLM", "llm.model_name": "m-1", **sent, **said})
        for n in one.calls:
            told = {"input.value": json.dumps({"word": _word(n)}), "output.value": _answer(n)}
            rows.append({kind: "TOOL", "tool.name": "look", **told})
    return export(*(span(n, attributes=row) for n, row in enumerate(rows, 1)))


def _flat(base: str, messages: list[JSON]) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    for at, message in enumerate(messages):
        place = f"{base}.{at}.message"
        found |= {f"{place}.{key}": message[key] for key in ("role", "content", "tool_call_id") if message.get(key)}
        for n, call in enumerate(message.get("tool_calls", ())):
            found[f"{place}.tool_calls.{n}.tool_call.id"] = call["id"]
            found |= {
                f"{place}.tool_calls.{n}.tool_call.function.{key}": call["function"][key] for key in call["function"]
            }
    return found


def _recorded(rounds: Sequence[Round]) -> bytes:
    answers = iter(one.said for one in rounds)
    told = {_word(n): _answer(n) for n in _calls_in(rounds)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.jsonl")
        look = {"look": lambda arguments: told[arguments["word"]]}
        session = RecordingSession(
            path, input="SAID-1", tools=look, model=lambda request, serving: next(answers), fsync="never"
        )
        with session:
            for one in rounds:
                session.model.call({"messages": one.sent})
                for n in one.calls:
                    session.tools.call("look", {"word": _word(n)}, call_id=_id(n))
            session.finish("SAID-2")
        return path.read_bytes()


def _stream(calls: Sequence[int]) -> list[JSON]:
    blocks = ({"type": "content_block_start", "index": n, "content_block": _blocks(n)[0]} for n in calls)
    opened = {"type": "message_start", "message": {"id": "x", "type": "message", "role": "assistant", "content": []}}
    return [opened, *blocks, {"type": "message_stop"}]


def samples(times: int, *, pad: str = "") -> dict[str, bytes]:
    """The run in every format, with the conversation so many times; `pad` stands before each answer of a tool."""
    written = {name: data.replace(b"TOLD-", f"{pad}TOLD-".encode()) for name, data in _samples(times).items()}
    rows = [
        (name, {key: value.replace("TOLD-", f"{pad}TOLD-") for key, value in row.items()})
        for name, row in _genai(_rounds(times))
    ]
    return {**written, "otlp:protobuf": sdk_request(rows)}


def _samples(times: int) -> dict[str, bytes]:
    rounds, talk, session = _rounds(times), _transcript(times), _session(times)
    calls = _calls_in(rounds)
    return {
        "recorded:lines": _recorded(rounds),
        "chat-transcript": _json({"messages": talk}),
        "chat-transcript:runs": _json([{"traj": talk}, {"traj": talk}]),
        "chat-transcript:lines": _lines(talk),
        "chat-transcript:simulations": _json(_simulations(times)),
        "langsmith": _json(_runs(rounds)),
        "langsmith:wire": _json(_wire(rounds)),
        "langsmith:lines": _lines(_runs(rounds)),
        "langfuse": _json({"trace": {"id": "t"}, "observations": _observations(rounds)}),
        "langfuse:list": _json({"data": _observations(rounds)}),
        "claude-code": _lines(session),
        "claude-code:list": _json([{key: row[key] for key in ("type", "message")} for row in session]),
        "vcr": _chat_cassette(rounds),
        "vcr:json": _json(yaml.safe_load(_chat_cassette(rounds))),
        "vcr:responses": _responses_cassette(rounds),
        "vcr:messages": _messages_cassette(times),
        "provider-response": _json(cassettes.answer(cassettes.asks(*map(_call, calls[: max(2, len(calls) - 1)])))),
        "provider-response:stream": sse(*_stream(calls), named=True),
        "provider-response:lines": _lines(_stream(calls)),
        "otlp": export(*(span(n, name, attributes=row) for n, (name, row) in enumerate(_genai(rounds), 1))),
        "otlp:legacy": _legacy(rounds),
        "otlp:openinference": _openinference(rounds),
    }


SAMPLES = samples(1)
