from __future__ import annotations

import json
from pathlib import Path

from replaycases.cli.init import PROBE
from tests.cli.conftest import Command


def test_init_writes_an_adapter_that_speaks_as_it_stands(command: Command, tmp_path: Path) -> None:
    code, out, err = command("init", tmp_path)
    assert (code, err) == (0, "")
    assert "it speaks: the session started and finished" in out


def test_init_overwrites_nothing(command: Command, tmp_path: Path) -> None:
    (tmp_path / "replay_adapter.py").write_text("# mine\n")
    code, _, err = command("init", tmp_path)
    assert code == 2
    assert "is there already" in err
    assert (tmp_path / "replay_adapter.py").read_text() == "# mine\n"
    assert not (tmp_path / "implementation.json").exists()


def test_check_says_what_the_workflow_asks_for_first(command: Command, tmp_path: Path) -> None:
    command("init", tmp_path)
    adapter = tmp_path / "replay_adapter.py"
    adapter.write_text(adapter.read_text().replace('return "nothing is wired up yet"', "return tools.lookup(order=1)"))
    code, out, _ = command("init", "--check", tmp_path / "implementation.json")
    assert code == 0
    assert "asked for a tool answer first" in out


def test_check_shows_the_traceback_of_a_workflow_that_does_not_speak(command: Command, tmp_path: Path) -> None:
    command("init", tmp_path)
    adapter = tmp_path / "replay_adapter.py"
    adapter.write_text("raise RuntimeError('not today')\n" + adapter.read_text())
    code, _, err = command("init", "--check", tmp_path / "implementation.json")
    assert code == 60
    assert "it does not speak: run adapter_error" in err
    assert "not today" in err


def test_the_adapter_stands_in_for_an_openai_style_client(command: Command, tmp_path: Path) -> None:
    command("init", tmp_path)
    adapter = tmp_path / "replay_adapter.py"
    wired = 'return client.chat.completions.create(model="m", messages=[]).choices[0].message.content'
    adapter.write_text(adapter.read_text().replace('return "nothing is wired up yet"', wired))
    code, out, _ = command("init", "--check", tmp_path / "implementation.json")
    assert code == 0
    assert "asked for a model answer first" in out


def test_the_serving_stands_in_one_place_the_implementation_file(command: Command, tmp_path: Path) -> None:
    command("init", tmp_path)
    adapter, spec = tmp_path / "replay_adapter.py", tmp_path / "implementation.json"
    asks = 'return client.chat.completions.create(messages=[{"role": "user", "content": "hi"}]).text'
    adapter.write_text(adapter.read_text().replace('return "nothing is wired up yet"', asks))
    document = json.loads(spec.read_text())
    document.setdefault("serving", {}).update(requested_model="m-1")
    spec.write_text(json.dumps(document))
    request = {"messages": [{"role": "user", "content": "hi"}]}
    events = [{"seq": 1, "boundary": "model", "request": request, "response": {"text": "hello"}}]
    case = tmp_path / "case.json"
    case.write_text(json.dumps({**PROBE, "events": events, "serving": document["serving"]}))
    code, out, err = command("replay", case, "--implementation", spec, "--runs", "1")
    assert (code, "run completed" in out) == (0, True), out + err


def test_check_says_that_a_workflow_which_wants_its_input_needs_a_fixture(command: Command, tmp_path: Path) -> None:
    command("init", tmp_path)
    adapter = tmp_path / "replay_adapter.py"
    adapter.write_text(adapter.read_text().replace('"nothing is wired up yet"', 'user_input["message"]'))
    code, _, err = command("init", "--check", tmp_path / "implementation.json")
    assert code == 60
    assert "KeyError: 'message'" in err
    assert "go on with a fixture" in err


LOOP = """
    messages = []
    while True:
        message = client.chat.completions.create(messages=messages).choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message)
        for call in message.tool_calls:
            found = getattr(tools, call.function.name)(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": found})
"""


def test_a_reply_is_put_into_the_messages_as_it_came(command: Command, tmp_path: Path) -> None:
    command("init", tmp_path)
    adapter, spec = tmp_path / "replay_adapter.py", tmp_path / "implementation.json"
    adapter.write_text(adapter.read_text().replace('    return "nothing is wired up yet"', LOOP))
    asked = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": '{"n": 1}'}}]}
    found = {"role": "tool", "tool_call_id": "c1", "content": "one"}
    said = {"role": "assistant", "content": "It is one."}
    events = [
        {"seq": 1, "boundary": "model", "request": {"messages": []}, "response": {"choices": [{"message": asked}]}},
        {"seq": 2, "boundary": "tool", "attempt": "a", "tool": "look", "arguments": {"n": 1},
         "outcome": {"type": "result", "value": "one"}},
        {"seq": 3, "boundary": "model", "request": {"messages": [asked, found]},
         "response": {"choices": [{"message": said}]}},
    ]  # fmt: skip
    case = tmp_path / "case.json"
    case.write_text(json.dumps({**PROBE, "events": events, "serving": json.loads(spec.read_text())["serving"]}))
    code, out, err = command("replay", case, "--implementation", spec, "--runs", "1")
    assert (code, "run completed" in out) == (0, True), out + err
