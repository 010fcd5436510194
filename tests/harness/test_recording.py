"""The recorder: it answers as the live world does, writes what crossed, and never stands in the workflow's way."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from replaycases.harness import session as replayed
from replaycases.harness import wire
from replaycases.harness.recording import RecordingRefused, RecordingSession
from tests.harness.loops import finished
from tests.harness.test_freeze import interpreters

NOW = datetime(2026, 3, 2, 10, tzinfo=UTC)
LIVE: dict[str, Any] = {
    "tools": {"pay": lambda arguments: {"paid": arguments["amount"]}},
    "model": lambda request, serving: {"text": "pay"},
    "retrieval": lambda query, parameters: [{"id": "c1", "text": "No.", "score": 0.5}],
    "human": lambda question: "yes",
    "clock": lambda: NOW,
    "random": {"key": lambda: "k-1"},
}
CHUNK = {"id": "c", "text": "t"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="replaycases.recorder")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def of(path: Path, kind: str) -> list[dict[str, Any]]:
    return [line for line in lines(path) if line["line"] == kind]


def cross(session: Any) -> list[Any]:
    seen: list[Any] = [session.input, session.clock.now(), session.retrieval.search("rules", {"k": 1})]
    seen += [session.model.call({"messages": []}, {"provider": "p"}), session.random.draw("key")]
    seen += [session.tools.call("pay", {"amount": 4}, call_id="c-1"), session.human.ask({"ask": "close?"})]
    session.finish("Paid.", status="closed", claims=["paid"])
    return seen


# --- the same session -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["tools", "model", "retrieval", "clock", "random", "human", ""])
def test_it_has_the_methods_of_a_replayed_session(part: str, place: Path) -> None:
    with RecordingSession(place, input=1) as session:
        mine = type(getattr(session, part)) if part else RecordingSession
    theirs = getattr(replayed, part.capitalize()) if part else replayed.Session
    for name, method in inspect.getmembers(theirs, inspect.isfunction):
        if not name.startswith("_"):
            assert str(inspect.signature(getattr(mine, name))) == str(inspect.signature(method)), name


def test_it_has_what_a_replayed_session_holds(place: Path) -> None:
    with RecordingSession(place, input=1) as session:
        held = {"input", "identity", "locale", "time_zone", "workflow_version", "policies", "templates", "finished"}
        assert all(hasattr(session, name) for name in held)
        assert session.ToolError is wire.ToolError


def test_the_workflow_gets_what_the_live_world_answers(place: Path) -> None:
    with RecordingSession(place, input={"order": "o"}, **LIVE) as session:
        seen = cross(session)
    assert seen[1] == NOW
    assert seen[3:] == [{"text": "pay"}, "k-1", {"paid": 4}, "yes"]


def test_every_crossing_is_written_in_the_order_in_which_it_was_sent(place: Path) -> None:
    with RecordingSession(place, input={"order": "o"}, commit="abc", **LIVE) as session:
        cross(session)
    told = [(line["line"], line.get("boundary"), line.get("seq")) for line in lines(place)]
    assert told == [
        ("head", None, None),
        ("read", "clock", 1),
        ("call", "retrieval", 2),
        ("answer", None, 2),
        ("call", "model", 3),
        ("answer", None, 3),
        ("read", "random", 4),
        ("call", "tool", 5),
        ("answer", None, 5),
        ("call", "human", 6),
        ("answer", None, 6),
        ("finish", None, None),
        ("end", None, None),
    ]
    assert of(place, "head")[0]["commit"] == "abc"
    assert of(place, "end")[0]["complete"] is True


def test_what_a_tool_raises_is_recorded_and_raised_as_in_a_replay(place: Path) -> None:
    def pay(arguments: Any) -> Any:
        raise TimeoutError("no answer in 5 s")

    with RecordingSession(place, input=1, tools={"pay": pay}) as session:
        with pytest.raises(session.ToolError, match="no answer") as raised:
            session.tools.call("pay", {})
        assert raised.value.kind == "TimeoutError"
        assert isinstance(raised.value.__cause__, TimeoutError)
    assert of(place, "answer")[0]["error"] == {"kind": "TimeoutError", "message": "no answer in 5 s"}


def test_what_the_model_raises_goes_through(place: Path) -> None:
    def ask(request: Any, serving: Any) -> Any:
        raise ConnectionError("gone")

    with RecordingSession(place, input=1, model=ask) as session, pytest.raises(ConnectionError):
        session.model.call({})
    assert of(place, "answer")[0]["error"]["kind"] == "ConnectionError"


def test_an_interrupt_is_no_error_of_the_tool_and_goes_through(place: Path) -> None:
    def pay(arguments: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), RecordingSession(place, input=1, tools={"pay": pay}) as session:
        session.tools.call("pay", {})
    assert "interrupted" in of(place, "answer")[0]
    assert (of(place, "end")[0]["ended"], of(place, "end")[0]["raised"]) == ("raised", "KeyboardInterrupt")


def test_what_was_asked_is_recorded_as_it_was_when_it_was_sent(place: Path) -> None:
    def pay(arguments: Any) -> Any:
        arguments["amount"] = 99

    with RecordingSession(place, input=1, tools={"pay": pay}) as session:
        session.tools.call("pay", {"amount": 4})
    assert of(place, "call")[0]["asked"]["arguments"] == {"amount": 4}


def test_a_folder_gets_a_file_of_its_own_for_each_run(tmp_path: Path) -> None:
    for _ in range(2):
        with RecordingSession(tmp_path, input=1):
            pass
    found = list(tmp_path.glob("run-*.jsonl"))
    assert len(found) == 2
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in found)


# --- strict ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        2**53,
        1e22,
        "\ud800",
        {1: 2},
        {"\udc00": 1},
        (1,),
        {1, 2},
        b"x",
        datetime,
        "x" * 9_000_000,
    ],
)
def test_an_answer_that_is_no_strict_json_is_refused_at_once_in_strict_mode(value: Any, place: Path) -> None:
    tools = {"pay": lambda arguments: value}
    with RecordingSession(place, input=1, strict=True, tools=tools) as session, pytest.raises(RecordingRefused):
        session.tools.call("pay", {})
    assert of(place, "end")[0]["complete"] is False


def test_in_strict_mode_a_call_that_cannot_be_recorded_is_never_sent(place: Path) -> None:
    sent: list[Any] = []
    session = RecordingSession(place, input=1, strict=True, tools={"pay": sent.append})
    with session, pytest.raises(RecordingRefused, match="/arguments/amount"):
        session.tools.call("pay", {"amount": float("nan")})
    assert sent == []


@pytest.mark.parametrize(
    "chunks", [None, {}, ["x"], [{"id": "c"}], [{**CHUNK, "rank": 1}], [{**CHUNK, "id": ""}], [{**CHUNK, "score": "1"}]]
)
def test_chunks_of_another_shape_are_refused(chunks: Any, place: Path) -> None:
    session = RecordingSession(place, input=1, strict=True, retrieval=lambda query, parameters: chunks)
    with session, pytest.raises(RecordingRefused):
        session.retrieval.search("q")


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.model.call({}, {"provider": "p", "region": "eu"}),
        lambda s: s.model.call({}, {"settings": []}),
        lambda s: s.tools.call("", {}),
        lambda s: s.tools.call("pay", {}, call_id=""),
        lambda s: s.random.draw(""),
        lambda s: s.finish(7),
        lambda s: s.finish("x", claims=[1]),
        lambda s: s.finish("x", policies_used=[{"name": "p", "version": "1"}]),
        lambda s: s.finish("x", policies_used=[{"name": "p", "version": "1", "sha256": "a" * 64, "content": ""}]),
        lambda s: s.finish("x", structured={1: 2}),
    ],
)
def test_other_shapes_are_refused(call: Callable[[Any], Any], place: Path) -> None:
    live = {**LIVE, "random": lambda name: 1}
    with RecordingSession(place, input=1, strict=True, **live) as session, pytest.raises(RecordingRefused):
        call(session)


@pytest.mark.parametrize(
    "head",
    [
        {"input": {1}},
        {"workflow_version": ""},
        {"serving": {"model": "m"}},
        {"policies": [{"name": "p"}]},
        {"templates": [{"name": "p", "version": "1", "content": "x", "by": "me"}]},
        {"templates": [{"name": "p", "version": "1", "sha256": "ABC"}]},
        {"none": ["model"]},
        {"fsync": "often"},
        {"budget_seconds": -1},
        {"budget_seconds": "5"},
        {"identity": float("nan")},
    ],
)
def test_a_recorder_that_is_set_up_wrongly_is_seen_at_its_start(head: dict[str, Any], place: Path) -> None:
    with pytest.raises(RecordingRefused):
        RecordingSession(place, **{"input": 1, **head})
    assert not place.exists()


@pytest.mark.parametrize("part", ["clock", "random", "usage"])
def test_what_is_read_at_once_is_refused_at_the_start_where_it_is_async(part: str, place: Path) -> None:
    async def read(*given: Any) -> Any:
        return None

    with pytest.raises(RecordingRefused, match=f"{part}: is read at once"):
        RecordingSession(place, input=1, **{part: {"key": read} if part == "random" else read})


# --- never in the way -----------------------------------------------------------------------------------------------


def test_a_payload_that_cannot_be_recorded_reaches_the_workflow_and_marks_the_recording(place: Path) -> None:
    with RecordingSession(place, input=1, tools={"pay": lambda arguments: (1, arguments["x"])}) as session:
        assert session.tools.call("pay", {"x": 2}) == (1, 2)
        assert session.faults == ["/: a Python tuple is no JSON"]
    assert of(place, "answer")[0]["lost"] is True
    assert of(place, "end")[0]["complete"] is False


def test_it_says_so_in_the_log_and_quotes_nothing(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, logger="replaycases.recorder")
    with RecordingSession(place, input=1, tools={"pay": lambda arguments: {"secret-word"}}) as session:
        session.tools.call("pay", {})
    assert "is incomplete" in caplog.text
    assert "secret-word" not in caplog.text


def test_a_file_that_cannot_be_made_does_not_keep_the_workflow_from_running(tmp_path: Path) -> None:
    with RecordingSession(tmp_path / "missing" / "run.jsonl", input={"order": "o"}, **LIVE) as session:
        assert cross(session)[-1] == "yes"
        assert session.faults == ["the file cannot be made: No such file or directory"]


def test_an_earlier_recording_is_never_written_over(place: Path) -> None:
    place.write_bytes(b"earlier\n")
    with RecordingSession(place, input={"order": "o"}, **LIVE) as session:
        cross(session)
    assert place.read_bytes() == b"earlier\n"
    assert session.faults


def test_a_recording_that_reaches_its_size_ends_there_and_says_so(place: Path) -> None:
    with RecordingSession(place, input=1, tools=lambda name, arguments: "x" * 1000, max_bytes=20_000) as session:
        for _ in range(50):
            assert session.tools.call("pay", {}) == "x" * 1000
    assert place.stat().st_size <= 20_000
    full, end = lines(place)[-2:]
    assert (full["line"], full["kind"]) == ("fault", "full")
    assert (end["calls"], end["complete"]) == (50, False)
    assert len(session.faults) == 1


def test_a_full_disk_leaves_whole_lines_and_a_workflow_that_goes_on(place: Path) -> None:
    code = """
import sys, resource, signal, logging
logging.disable()
sys.path.insert(0, sys.argv[1])
from harness.recording import RecordingSession
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
with RecordingSession(sys.argv[2], input=1, tools=lambda name, arguments: "x" * 700) as session:
    for at in range(10):
        session.tools.call("pay", {"at": at})
    print(session.faults)
"""
    done = subprocess.run([sys.executable, "-c", code, HARNESS, place], capture_output=True, text=True, check=True)
    assert "it cannot be written: File too large" in done.stdout
    assert place.read_bytes().endswith(b"\n")
    assert lines(place)[0]["line"] == "head"


HARNESS = str(Path(wire.__file__).parents[1])


@pytest.mark.parametrize("python", interpreters())
def test_a_process_that_is_killed_leaves_every_line_that_was_written(python: str, place: Path) -> None:
    code = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from harness.recording import RecordingSession
tools = {"ok": lambda a: a, "die": lambda a: os.kill(os.getpid(), signal.SIGKILL)}
session = RecordingSession(sys.argv[2], input=1, tools=tools)
session.tools.call("ok", {"n": 1})
session.tools.call("die", {"n": 2})
"""
    done = subprocess.run([python, "-c", code, HARNESS, place], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert [line["line"] for line in lines(place)] == ["head", "call", "answer", "call"]


def test_a_child_that_forks_away_writes_nothing(place: Path) -> None:
    with RecordingSession(place, input=1, tools={"pay": lambda arguments: 1}) as session:
        session.tools.call("pay", {})
        child = os.fork()
        if not child:
            session.tools.call("pay", {})
            session.close()
            os._exit(0)
        os.waitpid(child, 0)
        before = place.read_bytes()
        assert len(lines(place)) == 3
    assert place.read_bytes().startswith(before)


def test_a_payload_that_changes_while_it_is_written_ends_the_recording_alone(place: Path) -> None:
    class Shifting(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError("changed")

    with RecordingSession(place, input=1, tools={"pay": lambda arguments: "well"}) as session:
        assert session.tools.call("pay", Shifting(a=1)) == "well"
        assert session.faults == ["the recorder failed with RuntimeError"]


def test_calls_after_finish_and_a_second_finish_are_said(place: Path) -> None:
    with RecordingSession(place, input=1, tools={"pay": lambda arguments: 1}) as session:
        session.finish("one")
        session.finish("two")
        assert session.tools.call("pay", {}) == 1
    assert [line["kind"] for line in of(place, "fault")] == ["misuse", "misuse"]
    assert len(of(place, "finish")) == 1


def test_a_session_that_is_closed_twice_ends_once(place: Path) -> None:
    with RecordingSession(place, input=1) as session:
        session.close()
    assert [line["line"] for line in lines(place)] == ["head", "end"]
    assert session.faults == []


def test_a_call_after_the_end_is_answered_and_said(place: Path) -> None:
    with RecordingSession(place, input=1, tools={"pay": lambda arguments: 1}) as session:
        pass
    assert session.tools.call("pay", {}) == 1
    assert set(session.faults) == {"the session was used after it was closed"}


def test_threads_that_call_at_once_write_whole_lines_with_numbers_of_their_own(place: Path) -> None:
    together = threading.Barrier(8)

    def pay(arguments: Any) -> Any:
        together.wait(30)
        return arguments

    with RecordingSession(place, input=1, tools={"pay": pay}) as session:
        threads = [threading.Thread(target=session.tools.call, args=("pay", {"n": n})) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(line["seq"] for line in of(place, "call")) == list(range(1, 9))
    asked = {line["seq"]: line["asked"]["arguments"] for line in of(place, "call")}
    assert all(asked[line["seq"]] == line["value"] for line in of(place, "answer"))


@pytest.mark.parametrize(("fsync", "least"), [("never", 0), ("end", 1), ("always", 4)])
def test_fsync_is_as_often_as_was_asked_for(
    fsync: str, least: int, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with RecordingSession(place, input=1, fsync=fsync, tools={"pay": lambda arguments: 1}) as session:
        session.tools.call("pay", {})
    assert len(synced) >= least
    assert fsync != "never" or not synced


# --- async ----------------------------------------------------------------------------------------------------------


class Gates:
    """Live functions that are async; each waits for its gate. `order` is that in which they were called."""

    def __init__(self) -> None:
        self.order: list[Any] = []
        self.open: dict[Any, asyncio.Event] = {}

    async def __call__(self, *asked: Any) -> Any:
        self.order.append(asked[0])
        await self.open.setdefault(json.dumps(asked[0]), asyncio.Event()).wait()
        return [{"id": "c", "text": "t"}] if asked[0] == "rules" else asked[0]


def started(work: Callable[[RecordingSession, Gates], Coroutine[Any, Any, None]], place: Path) -> Gates:
    gates = Gates()
    with RecordingSession(place, input=1, tools={"pay": gates}, model=gates, retrieval=gates, human=gates) as session:
        finished(work(session, gates))
    return gates


def test_calls_that_wait_at_once_keep_their_numbers_whatever_comes_back_first(place: Path) -> None:
    async def work(session: RecordingSession, gates: Gates) -> None:
        asked: list[Any] = [session.tools.acall("pay", {"n": 1}, "c1"), session.tools.acall("pay", {"n": 2}, "c2")]
        asked += [session.model.acall({"n": 3}), session.retrieval.asearch("rules"), session.human.aask({"n": 5})]
        tasks = [asyncio.ensure_future(one) for one in asked]
        await asyncio.sleep(0)
        assert [line["line"] for line in lines(place)] == ["head", *["call"] * 5]
        for at in (4, 3, 2, 1, 0):
            gates.open[json.dumps(gates.order[at])].set()
            await tasks[at]
        assert [task.result() for task in tasks] == [{"n": 1}, {"n": 2}, {"n": 3}, [CHUNK], {"n": 5}]

    assert [one if one == "rules" else one["n"] for one in started(work, place).order] == [1, 2, 3, "rules", 5]
    assert [line["seq"] for line in of(place, "call")] == [1, 2, 3, 4, 5]
    assert [line["asked"].get("call_id") for line in of(place, "call")[:2]] == ["c1", "c2"]
    assert [line["seq"] for line in of(place, "answer")] == [5, 4, 3, 2, 1]
    assert of(place, "answer")[-1]["value"] == {"n": 1}
    assert of(place, "end")[0]["complete"] is True


def test_a_call_that_is_cancelled_while_it_waits_is_interrupted_and_no_error(place: Path) -> None:
    async def work(session: RecordingSession, gates: Gates) -> None:
        task = asyncio.ensure_future(session.tools.acall("pay", {"n": 1}))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started(work, place)
    assert of(place, "answer")[0]["interrupted"]["kind"] == "CancelledError"


def test_what_an_async_tool_raises_arrives_as_in_a_replay_and_what_the_model_raises_goes_through(place: Path) -> None:
    async def pay(*asked: Any) -> Any:
        raise TimeoutError("late")

    async def work(session: RecordingSession) -> None:
        with pytest.raises(session.ToolError, match="late"):
            await session.tools.acall("pay", {})
        with pytest.raises(TimeoutError):
            await session.model.acall({})

    with RecordingSession(place, input=1, tools={"pay": pay}, model=pay) as session:
        finished(work(session))
    assert [line["error"]["kind"] for line in of(place, "answer")] == ["TimeoutError", "TimeoutError"]


def test_what_is_not_async_may_be_awaited_too(place: Path) -> None:
    async def work(session: RecordingSession) -> list[Any]:
        called = [await session.tools.acall("pay", {"amount": 4}), await session.model.acall({})]
        return [*called, await session.retrieval.asearch("q"), await session.human.aask("?")]

    with RecordingSession(place, input=1, **LIVE) as session:
        assert finished(work(session)) == [{"paid": 4}, {"text": "pay"}, LIVE["retrieval"](1, 2), "yes"]


@pytest.mark.parametrize(
    ("call", "instead"),
    [
        (lambda session: session.tools.call("pay", {}), "tools.acall"),
        (lambda session: session.model.call({}), "model.acall"),
        (lambda session: session.retrieval.search("q"), "retrieval.asearch"),
        (lambda session: session.human.ask("?"), "human.aask"),
    ],
)
def test_an_async_function_that_nobody_awaits_is_refused_before_it_is_sent(
    call: Callable[[Any], Any], instead: str, place: Path
) -> None:
    gates = Gates()
    session = RecordingSession(place, input=1, tools={"pay": gates}, model=gates, retrieval=gates, human=gates)
    with session, pytest.raises(TypeError, match=f"await session.{instead}"):
        call(session)
    assert (gates.order, of(place, "call")) == ([], [])


def test_a_function_that_turns_out_to_be_async_is_said_and_never_left_waiting(place: Path) -> None:
    async def ask() -> None: ...

    session = RecordingSession(place, input=1, model=lambda request, serving: ask())
    with session, pytest.raises(TypeError, match=r"await session\.model\.acall"):
        session.model.call({})
    assert of(place, "answer")[0]["error"]["kind"] == "TypeError"
