"""One made-up run in every format that is read: two calls at once, then a third one, then the end.

The arguments of each call hold a word of their own, by which it can be found again whatever happens to the file.
"""

from __future__ import annotations

import json
import tempfile
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
IDS = ("c1", "c2", "c3")


def _call(n: int) -> dict[str, JSON]:
    return cassettes.call("look", {"word": WORDS[n]}, IDS[n])


def _told(n: int) -> dict[str, JSON]:
    return cassettes.told(ANSWERS[n], IDS[n])


DONE = {"role": "assistant", "content": "SAID-2"}
TALK = [USER, cassettes.asks(_call(0), _call(1)), _told(0), _told(1), cassettes.asks(_call(2)), _told(2), DONE]
ROUNDS = ((TALK[:1], TALK[1]), (TALK[:4], TALK[4]), (TALK[:6], TALK[6]))
PLAIN = [
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": IDS[n], "name": "look", "arguments": {"word": WORDS[n]}, "requestor": "assistant"} for n in group]}
    for group in ((0, 1), (2,))
]  # fmt: skip


def _lines(rows: list[JSON]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def _json(document: JSON) -> bytes:
    return json.dumps(document).encode()


def _simulations() -> JSON:
    told = [{"role": "tool", "id": IDS[n], "content": ANSWERS[n], "requestor": "assistant"} for n in range(3)]
    talk = [USER, PLAIN[0], told[0], told[1], PLAIN[1], told[2], DONE]
    return {"info": {"agent_info": {"llm": "m"}}, "simulations": [{"id": "s", "messages": talk}]}


def _langchain(message: dict[str, JSON]) -> dict[str, JSON]:
    name = {"user": "HumanMessage", "assistant": "AIMessage", "tool": "ToolMessage"}[message["role"]]
    calls = [
        {"name": "look", "args": json.loads(call["function"]["arguments"]), "id": call["id"], "type": "tool_call"}
        for call in message.get("tool_calls", ())
    ]
    kwargs = {"content": message["content"] or "", "tool_call_id": message.get("tool_call_id"), "tool_calls": calls}
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}


def _runs() -> list[JSON]:
    def run(id: str, kind: str, at: int, **fields: JSON) -> JSON:
        named = {"id": id, "trace_id": "t", "parent_run_id": None if id == "root" else "root", "run_type": kind}
        times = {"start_time": f"2026-01-02T03:04:{at:02}Z", "end_time": f"2026-01-02T03:04:{at + 1:02}Z"}
        return {**named, "name": "look", **times, **fields}

    models = [
        run(f"m{n}", "llm", 10 * n + 1, inputs={"messages": [[_langchain(m) for m in sent]]},
            outputs={"generations": [[{"message": _langchain(answer)}]]})
        for n, (sent, answer) in enumerate(ROUNDS)
    ]  # fmt: skip
    tools = [
        run(f"t{n}", "tool", 10 * (n // 2) + 3 + n, inputs={"word": WORDS[n]},
            outputs={"output": {"type": "tool", "content": ANSWERS[n], "tool_call_id": IDS[n]}})
        for n in range(3)
    ]  # fmt: skip
    return [run("root", "chain", 0), *models, *tools]


def _wire() -> JSON:
    ends = ("end_time", "outputs")
    starts = [{key: value for key, value in run.items() if key not in ends} for run in _runs()]
    return {"post": starts, "patch": [{"id": run["id"], **{key: run.get(key) for key in ends}} for run in _runs()]}


def _observations() -> list[JSON]:
    def row(id: str, kind: str, at: int, given: JSON, told: JSON) -> JSON:
        return {"id": id, "traceId": "t", "type": kind, "name": "look", "parentObservationId": "root",
                "startTime": f"2026-01-02T03:04:{at:02}.000Z", "endTime": f"2026-01-02T03:04:{at + 1:02}.000Z",
                "input": json.dumps(given), "output": told if isinstance(told, str) else json.dumps(told)}  # fmt: skip

    models = [row(f"m{n}", "GENERATION", 10 * n + 1, *pair) for n, pair in enumerate(ROUNDS)]
    tools = [row(f"t{n}", "TOOL", 10 * (n // 2) + 3 + n, {"word": WORDS[n]}, ANSWERS[n]) for n in range(3)]
    return [*tools, *models]


def _blocks(*numbers: int) -> list[JSON]:
    return [{"type": "tool_use", "id": IDS[n], "name": "look", "input": {"word": WORDS[n]}} for n in numbers]


def _results(*numbers: int) -> list[JSON]:
    return [{"type": "tool_result", "tool_use_id": IDS[n], "content": ANSWERS[n]} for n in numbers]


def _session() -> list[JSON]:
    parts = [("user", "SAID-1", None), ("assistant", _blocks(0), "m1"), ("assistant", _blocks(1), "m1"),
             ("user", _results(0), None), ("user", _results(1), None), ("assistant", _blocks(2), "m2"),
             ("user", _results(2), None), ("assistant", [{"type": "text", "text": "SAID-2"}], "m3")]  # fmt: skip
    return [
        {"type": kind, "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "sessionId": "s",
         "timestamp": f"2026-01-02T03:04:{at:02}.000Z",
         "message": {"role": kind, "content": content, **({"id": id, "model": "m"} if id else {})}}
        for at, (kind, content, id) in enumerate(parts)
    ]  # fmt: skip


def _chat_cassette() -> bytes:
    return cassettes.cassette(
        *(cassettes.interaction(cassettes.chat(*sent), cassettes.answer(said)) for sent, said in ROUNDS)
    )


def _items(*messages: JSON) -> list[JSON]:
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


def _responses_cassette() -> bytes:
    def said(message: JSON) -> JSON:
        text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "SAID-2"}]}
        output = _items(message) if "tool_calls" in message else [text]
        return {"id": "r", "object": "response", "status": "completed", "model": "m-1", "output": output}

    return cassettes.cassette(
        *(cassettes.interaction({"model": "m", "input": _items(*sent)}, said(answer), url=cassettes.RESPONSES)
          for sent, answer in ROUNDS)
    )  # fmt: skip


def _messages_cassette() -> bytes:
    talk = [
        USER,
        {"role": "assistant", "content": _blocks(0, 1)},
        {"role": "user", "content": _results(0, 1)},
        {"role": "assistant", "content": _blocks(2)},
        {"role": "user", "content": _results(2)},
        {"role": "assistant", "content": [{"type": "text", "text": "SAID-2"}]},
    ]
    return cassettes.cassette(
        *(cassettes.interaction({"model": "m", "max_tokens": 9, "messages": talk[:at]},
                                {"id": "x", "type": "message", "model": "m", **talk[at]}, url=cassettes.MESSAGES)
          for at in (1, 3, 5))
    )  # fmt: skip


def _parts(message: JSON) -> JSON:
    if message["role"] == "tool":
        part = {"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}
        return {"role": "tool", "parts": [part]}
    calls = [{"type": "tool_call", "id": call["id"], **call["function"]} for call in message.get("tool_calls", ())]
    return {"role": message["role"], "parts": calls or [{"type": "text", "content": message["content"]}]}


def _genai() -> list[tuple[str, dict[str, JSON]]]:
    chats = [
        ("chat m", {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "p", "gen_ai.request.model": "m",
                    "gen_ai.input.messages": json.dumps([_parts(message) for message in sent]),
                    "gen_ai.output.messages": json.dumps([{**_parts(said), "finish_reason": "stop"}])})
        for sent, said in ROUNDS
    ]  # fmt: skip
    tools = [
        ("execute_tool look", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look",
                               "gen_ai.tool.call.id": IDS[n], "gen_ai.tool.call.result": ANSWERS[n],
                               "gen_ai.tool.call.arguments": json.dumps({"word": WORDS[n]})})
        for n in range(3)
    ]  # fmt: skip
    return [chats[0], tools[0], tools[1], chats[1], tools[2], chats[2]]


def _legacy() -> bytes:
    bare = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.request.model": "m"}
    logs = []
    for n, (sent, said) in enumerate(ROUNDS, 1):
        named = [("gen_ai.tool.message" if m["role"] == "tool" else f"gen_ai.{m['role']}.message", m) for m in sent]
        rows = [*named, ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": said})]
        logs += [record(name, _logged(body), of=n, at=100 * n + at) for at, (name, body) in enumerate(rows)]
    return export(*(span(n, attributes=bare) for n in (1, 2, 3)), logs=logs)


def _logged(body: JSON) -> JSON:
    return {"id": body["tool_call_id"], "content": body["content"]} if body.get("role") == "tool" else body


def _openinference() -> bytes:
    kind = "openinference.span.kind"
    chats = [
        {
            kind: "LLM",
            "llm.model_name": "m-1",
            **_flat("llm.input_messages", sent),
            **_flat("llm.output_messages", [said]),
        }
        for sent, said in ROUNDS
    ]
    named = {kind: "TOOL", "tool.name": "look"}
    tools = [{**named, "input.value": json.dumps({"word": WORDS[n]}), "output.value": ANSWERS[n]} for n in range(3)]
    rows = [chats[0], tools[0], tools[1], chats[1], tools[2], chats[2]]
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


def _recorded() -> bytes:
    answers = iter(said for _, said in ROUNDS)
    told = dict(zip(WORDS, ANSWERS, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.jsonl")
        look = {"look": lambda arguments: told[arguments["word"]]}
        with RecordingSession(
            path, input="SAID-1", tools=look, model=lambda request, serving: next(answers)
        ) as session:
            for n, (sent, said) in enumerate(ROUNDS):
                session.model.call({"messages": sent})
                for at in range(3)[2 * n :][: len(said.get("tool_calls", ()))]:
                    session.tools.call("look", {"word": WORDS[at]}, call_id=IDS[at])
            session.finish("SAID-2")
        return path.read_bytes()


SAMPLES: dict[str, bytes] = {
    "recorded:lines": _recorded(),
    "chat-transcript": _json({"messages": TALK}),
    "chat-transcript:runs": _json([{"traj": TALK}, {"traj": TALK}]),
    "chat-transcript:lines": _lines(TALK),
    "chat-transcript:simulations": _json(_simulations()),
    "langsmith": _json(_runs()),
    "langsmith:wire": _json(_wire()),
    "langsmith:lines": _lines(_runs()),
    "langfuse": _json({"trace": {"id": "t"}, "observations": _observations()}),
    "langfuse:list": _json({"data": _observations()}),
    "claude-code": _lines(_session()),
    "claude-code:list": _json([{key: row[key] for key in ("type", "message")} for row in _session()]),
    "vcr": _chat_cassette(),
    "vcr:json": _json(yaml.safe_load(_chat_cassette())),
    "vcr:responses": _responses_cassette(),
    "vcr:messages": _messages_cassette(),
    "provider-response": _json(cassettes.answer(TALK[1])),
    "provider-response:stream": sse(
        {"type": "message_start", "message": {"id": "x", "type": "message", "role": "assistant", "content": []}},
        *(
            {"type": "content_block_start", "index": n, "content_block": block}
            for n, block in enumerate(_blocks(0, 1, 2))
        ),
        {"type": "message_stop"},
        named=True,
    ),
    "otlp": export(*(span(n, name, attributes=row) for n, (name, row) in enumerate(_genai(), 1))),
    "otlp:protobuf": sdk_request(_genai()),
    "otlp:legacy": _legacy(),
    "otlp:openinference": _openinference(),
}
