"""Whatever an implementation does ends in an honest manifest. Every run here is a real process in a real sandbox."""

from __future__ import annotations

import itertools
import json
import socket
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from replaycases.replay.sandbox.base import MIB, Limits, Tier
from replaycases.replay.sandbox.tiers import tiers
from replaycases.replay.staging import StagingFailed
from replaycases.replay.supervisor import RunLabels, replay_once
from replaycases.verdict.manifest import Manifest, RunSet, dump, parse
from tests.replay.implementations import PROHIBITED, by_hand, one_refund, sandbox, workflow, written, zoned_refund
from tests.services import require

PATIENT = Limits(wall_seconds=60.0, grace_seconds=30.0)
SHORT = Limits(wall_seconds=1.0, grace_seconds=1.0)
"""For what would never end by itself."""
HONEST = """
try:
    session.tools.call("refund", {"order": session.input["order"]})
except session.ToolError as error:
    session.finish("The refund is pending: %s." % error.kind)
"""
START = 'ask("session.start", {"protocol": 1})'
CALL = 'ask("tool.call", {"tool": "refund", "arguments": {"order": "O-1"}})'
REFUND = f"{START}\n{CALL}\n"
FINISH = {"message": "Pending.", "status": None, "action": None, "authorization": None, "structured": None}
DONE = f"ask('finish', {FINISH!r})\n"
PROTOCOL = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()


@pytest.fixture(scope="module")
def tier() -> Tier:
    return sandbox()


@pytest.fixture
def run(tier: Tier, tmp_path: Path) -> Any:
    def replay(body: str, limits: Limits = PATIENT, **spec: Any) -> Manifest:
        return replay_once(one_refund(), workflow(tmp_path, body, **spec), tier=tier, limits=limits)

    return replay


@pytest.fixture
def speak(tier: Tier, tmp_path: Path) -> Any:
    def replay(body: str, limits: Limits = PATIENT) -> Manifest:
        return replay_once(one_refund(), by_hand(tmp_path, body), tier=tier, limits=limits)

    return replay


def line(method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n"


def processes_with(mark: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "cmdline").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found


class TestAHonestRun:
    def test_is_completed_and_judged(self, run: Any) -> None:
        manifest = run(HONEST)
        assert (manifest.status, manifest.boundary_passed, manifest["exit_status"]) == ("completed", True, 0)
        assert manifest["raw_outcome"]["message"] == "The refund is pending: timeout."
        assert [call["seq"] for call in manifest["calls"]] == [1]

    def test_that_makes_the_prohibited_claim_is_violated(self, run: Any) -> None:
        manifest = run(HONEST.replace('"The refund is pending: %s." % error.kind', repr(PROHIBITED)))
        assert (manifest.status, manifest.boundary_passed) == ("completed", False)

    def test_says_what_ran_and_under_which_control(self, run: Any, tier: Tier) -> None:
        manifest = run(HONEST)
        assert manifest["isolation"]["tier"] == tier.name
        assert manifest["surfaces"]["network"] == "denied"
        assert (manifest["surfaces"]["clock"], manifest["surfaces"]["randomness"]) == ("uncontrolled", "uncontrolled")
        assert manifest["limits"]["wall_seconds"] == 60.0
        assert manifest["implementation"]["python"]["version"].startswith("3.")

    def test_leaves_a_manifest_that_reads_back(self, run: Any) -> None:
        manifest = run(HONEST)
        assert parse(dump(manifest)) == manifest

    def test_names_nothing_of_this_machine(self, run: Any, tmp_path: Path) -> None:
        text = dump(run(HONEST)).decode()
        assert str(tmp_path) not in text
        assert socket.gethostname() not in text
        assert sys.prefix not in text

    def test_by_the_python_example_of_the_documentation(self, tier: Tier, tmp_path: Path) -> None:
        agent = written(tmp_path, PROTOCOL.split("```python\n")[1].split("```")[0])
        manifest = replay_once(one_refund(), agent, tier=tier, limits=PATIENT)
        assert (manifest.status, manifest.boundary_passed) == ("completed", True)

    def test_may_be_asynchronous(self, tier: Tier, tmp_path: Path) -> None:
        source = """
        async def replay(session):
            try:
                session.tools.call("refund", {"order": "O-1"})
            except session.ToolError:
                session.finish("Pending.")
        """
        assert replay_once(one_refund(), written(tmp_path, source), tier=tier, limits=PATIENT).status == "completed"

    def test_finds_modules_beside_it_before_those_of_the_interpreter(self, tier: Tier, tmp_path: Path) -> None:
        (tmp_path / "code").mkdir()
        (tmp_path / "code" / "colorsys.py").write_text("NAME = 'ours'\n")
        body = "import colorsys; sys.stderr.write(colorsys.NAME)"
        manifest = replay_once(one_refund(), workflow(tmp_path, body), tier=tier, limits=PATIENT)
        assert manifest["stderr"].startswith("ours")

    def test_by_a_command_in_another_language_is_the_one_in_the_documentation(self, tier: Tier, tmp_path: Path) -> None:
        script = PROTOCOL.split("```bash\n")[1].split("```")[0]
        agent = written(tmp_path, "", adapter={"kind": "command", "argv": ["bash", "-c", script]})
        manifest = replay_once(one_refund(), agent, tier=tier, limits=PATIENT)
        assert (manifest.status, manifest.boundary_passed) == ("completed", True)
        assert json.loads(manifest["stderr"])["error"]["data"] == {"kind": "timeout", "message": "no answer in 5 s"}


class TestTheClock:
    READ = """
    import datetime, random, uuid
    seen = [str(datetime.datetime.now()), time.time(), str(uuid.uuid4()), random.random(), list({"a", "b", "c"})]
    sys.stderr.write(repr(seen))
    """

    def test_is_frozen_with_randomness_where_it_is_declared(self, run: Any) -> None:
        first, second = run(self.READ, clock="frozen"), run(self.READ, clock="frozen")
        assert first["stderr"] == second["stderr"]
        assert "2025-03-30 00:59:59.5" in first["stderr"]
        assert first["clock"] == "frozen"
        assert (first["surfaces"]["clock"], first["surfaces"]["randomness"]) == ("controlled", "controlled")
        assert first["implementation"]["python"]["frozen_by"] in ("stdlib", "time-machine")

    def test_is_the_machines_where_nothing_is_declared(self, run: Any) -> None:
        manifest = run(self.READ)
        assert "2025-03-30" not in manifest["stderr"]
        assert manifest["clock"] == "uncontrolled"
        assert manifest["implementation"]["python"]["frozen_by"] is None

    def test_is_taken_from_the_session_where_that_is_declared(self, run: Any) -> None:
        manifest = run("sys.stderr.write(session.clock.now().isoformat())", clock="injected")
        assert manifest["stderr"].startswith("2025-03-30T00:59:59.500000+00:00")
        assert (manifest["clock"], manifest["surfaces"]["randomness"]) == ("injected", "uncontrolled")

    def test_shows_the_local_time_of_the_case(self, tier: Tier, tmp_path: Path) -> None:
        agent = workflow(tmp_path, "import datetime; sys.stderr.write(str(datetime.datetime.now()))", clock="frozen")
        manifest = replay_once(zoned_refund("Europe/Berlin"), agent, tier=tier, limits=PATIENT)
        assert manifest["stderr"].startswith("2025-03-30 01:59:59.5")


class TestBeforeTheSession:
    def test_an_import_that_fails_is_an_adapter_error_with_its_traceback(self, tier: Tier, tmp_path: Path) -> None:
        manifest = replay_once(one_refund(), written(tmp_path, "import no_such_module"), tier=tier, limits=PATIENT)
        assert (manifest.status, manifest.boundary_passed) == ("adapter_error", None)
        assert "ModuleNotFoundError" in manifest["stderr"]

    def test_a_target_that_is_not_there_is_named(self, tier: Tier, tmp_path: Path) -> None:
        manifest = replay_once(one_refund(), written(tmp_path, "x = 1"), tier=tier, limits=PATIENT)
        assert manifest.status == "adapter_error"
        assert "replay is not a function in agent" in manifest["stderr"]

    def test_a_program_that_is_not_there_is_an_adapter_error(self, tier: Tier, tmp_path: Path) -> None:
        agent = written(tmp_path, "", adapter={"kind": "command", "argv": ["no-such-program"]})
        manifest = replay_once(one_refund(), agent, tier=tier, limits=PATIENT)
        assert manifest.status == "adapter_error"
        assert "no-such-program" in manifest["stderr"]

    def test_one_that_never_speaks_is_timed_out(self, speak: Any) -> None:
        manifest = speak("time.sleep(600)", SHORT)
        assert (manifest.status, manifest.boundary_passed) == ("timed_out", None)
        assert "1.0 seconds" in manifest["reason"]

    @pytest.mark.parametrize("line", ["hello", "{}", "[]", '[{"jsonrpc": "2.0"}]', "", "null", "\\xff", "{"])
    def test_garbage_is_an_adapter_error(self, speak: Any, line: str) -> None:
        assert speak(f"send(b'{line}' + b'\\n'); time.sleep(600)").status == "adapter_error"

    @pytest.mark.parametrize(
        "line",
        [
            '{"jsonrpc": "1.0", "id": 1, "method": "session.start", "params": {"protocol": 1}}',
            '{"id": 1, "method": "session.start", "params": {"protocol": 1}}',
            '{"jsonrpc": "2.0", "method": "session.start", "params": {"protocol": 1}}',
            '{"jsonrpc": "2.0", "id": "1", "method": "session.start", "params": {"protocol": 1}}',
            '{"jsonrpc": "2.0", "id": 1.0, "method": "session.start", "params": {"protocol": 1}}',
            '{"jsonrpc": "2.0", "id": true, "method": "session.start", "params": {"protocol": 1}}',
            '{"jsonrpc": "2.0", "id": null, "method": "session.start", "params": {"protocol": 1}}',
            '{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "session.start", "params": {"protocol": 1}}',
            '{"jsonrpc": "2.0", "id": 1, "method": "session.start", "params": {"protocol": 1}, "to": "x"}',
            '{"jsonrpc": "2.0", "id": 1, "method": "session.start", "params": [1]}',
            '{"jsonrpc": "2.0", "id": 1, "method": "session.start", "params": {"protocol": NaN}}',
            '{"jsonrpc": "2.0", "id": 1, "method": "session.start", "params": {"protocol": 2}}',
            '{"jsonrpc": "2.0", "id": 1, "method": "session.stop", "params": {}}',
            '{"jsonrpc": "2.0", "id": 1, "method": ["finish"], "params": {}}',
            '{"jsonrpc": "2.0", "id": 1, "method": "tool.call", "params": {"tool": "refund", "arguments": {}}}',
            '{"jsonrpc": "2.0", "id": 1, "result": {}}',
        ],
    )
    def test_a_line_that_is_no_valid_request_is_an_adapter_error(self, speak: Any, line: str) -> None:
        manifest = speak(f"send({line!r} + '\\n'); time.sleep(600)")
        assert (manifest.status, manifest["calls"]) == ("adapter_error", [])
        assert manifest["reason"]


class TestLimits:
    def test_a_message_is_never_read_beyond_its_limit(self, speak: Any) -> None:
        limits = Limits(wall_seconds=10, message_bytes=1000)
        manifest = speak("\nwhile True: send(b'x' * 65536)", limits)
        assert (manifest.status, "1000 bytes" in manifest["reason"]) == ("limit_exceeded", True)

    def test_a_message_of_just_the_limit_is_read(self, speak: Any) -> None:
        start = '{"jsonrpc": "2.0", "id": 1, "method": "session.start", "params": {"protocol": 1}}'
        limits = Limits(wall_seconds=20, message_bytes=len(start))
        told = "print(lines.readline().decode()[:9], end='', file=sys.stderr, flush=True)"
        body = "send({!r} + '\\n'); " + told + "; send({!r} + '\\n')"
        manifest = speak(body.format(start, start + " "), limits)
        assert (manifest["stderr"], manifest.status) == ('{"jsonrpc', "limit_exceeded")

    @pytest.mark.parametrize("stream", [1, 2])
    def test_a_flood_of_output_ends_the_run(self, speak: Any, stream: int) -> None:
        limits = Limits(wall_seconds=20, output_bytes=MIB)
        manifest = speak(f"\nwhile True: os.write({stream}, b'x' * 65536)", limits)
        assert (manifest.status, "output" in manifest["reason"]) == ("limit_exceeded", True)
        assert len(manifest["stderr"]) < 70_000

    def test_a_flood_before_a_clean_exit_counts_too(self, speak: Any) -> None:
        manifest = speak(REFUND + DONE + "os.write(1, b'x' * 40000)", Limits(wall_seconds=5, output_bytes=30_000))
        assert manifest.status == "limit_exceeded"

    def test_both_ends_of_a_long_standard_error_are_kept(self, run: Any) -> None:
        body = "os.write(2, b'first' + b'x' * 200000 + b'last\\x00\\xff'); os._exit(1)"
        text = run(body)["stderr"]
        assert (text[:5], text[-6:], "bytes left out" in text) == ("first", "last\ufffd\ufffd", True)

    def test_sleep_ends_with_the_wall_clock(self, run: Any) -> None:
        manifest = run("time.sleep(600)", SHORT)
        assert (manifest.status, manifest.boundary_passed) == ("timed_out", None)

    def test_a_busy_loop_ends_with_the_cpu_time(self, run: Any) -> None:
        manifest = run("while True: pass", Limits(wall_seconds=30, cpu_seconds=1))
        assert (manifest.status, "CPU" in manifest["reason"]) == ("limit_exceeded", True)

    def test_allocation_without_end_is_a_crash_that_shows_why(self, run: Any) -> None:
        manifest = run("x = []\nwhile True: x.append(bytearray(1 << 24))", Limits(wall_seconds=30))
        assert (manifest.status, "MemoryError" in manifest["stderr"]) == ("crashed", True)

    def test_a_huge_file_is_refused(self, run: Any) -> None:
        body = "f = open(os.environ['TMPDIR'] + '/big', 'wb')\nwhile True: f.write(b'x' * 65536)"
        manifest = run(body, Limits(wall_seconds=30, file_bytes=MIB))
        assert manifest.status in ("crashed", "limit_exceeded")

    def test_forks_without_end_are_held_and_none_is_left(self, run: Any) -> None:
        mark = f"forked-{uuid4()}"
        body = f"""
        import subprocess
        children = []
        try:
            while True:
                children.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "{mark}"]))
        except OSError as error:
            sys.stderr.write("held at %d: %s" % (len(children), error.strerror))
            sys.stderr.flush()
        """
        manifest = run(body, Limits(wall_seconds=20, processes=12))
        assert "held at" in manifest["stderr"]
        assert manifest.status == "crashed"
        assert processes_with(mark) == []

    def test_who_does_not_read_answers_cannot_make_us_hoard_them(self, tier: Tier, tmp_path: Path) -> None:
        agent = by_hand(tmp_path, REFUND + f"\nwhile True: send({line('clock.now') * 100!r})")
        manifest = replay_once(one_refund(), agent, tier=tier, limits=SHORT)
        assert manifest.status == "timed_out"

    def test_output_is_drained_while_an_answer_waits_to_be_read(self, tier: Tier, tmp_path: Path) -> None:
        """A big answer fills the socket while the implementation is stuck on a full standard error."""
        start = line("session.start", protocol=1)
        agent = by_hand(tmp_path, f"send({start!r}); os.write(2, b'x' * 3000000); lines.readline()\n{CALL}\n{DONE}")
        fixture = one_refund(input={"order": "O-1", "page": "p" * 2_000_000})
        manifest = replay_once(fixture, agent, tier=tier, limits=Limits(wall_seconds=10))
        assert manifest.status == "completed"


class TestTheEnd:
    def test_returning_without_finish_is_a_crash_that_is_explained(self, run: Any) -> None:
        manifest = run("pass")
        assert (manifest.status, manifest.boundary_passed) == ("crashed", None)
        assert "without calling session.finish" in manifest["stderr"]

    def test_an_exception_is_a_crash_with_its_traceback(self, run: Any) -> None:
        manifest = run("1 / 0")
        assert (manifest.status, "ZeroDivisionError" in manifest["stderr"]) == ("crashed", True)

    @pytest.mark.parametrize("early", ["sys.exit(0)", "os._exit(0)", "os.kill(os.getpid(), 9)"])
    def test_an_early_exit_is_a_crash(self, run: Any, early: str) -> None:
        manifest = run(early)
        assert (manifest.status, manifest.boundary_passed) == ("crashed", None)

    def test_another_exit_status_after_finish_is_a_crash(self, run: Any) -> None:
        manifest = run(HONEST + "raise ValueError('late')")
        assert (manifest.status, manifest["exit_status"], manifest.boundary_passed) == ("crashed", 1, None)

    def test_finishing_twice_is_an_adapter_error(self, run: Any) -> None:
        manifest = run(HONEST + "session.finish('Again.')")
        assert (manifest.status, manifest.boundary_passed) == ("adapter_error", None)

    @pytest.mark.parametrize("more", ["x", "\\n", '{\\"jsonrpc\\": \\"2.0\\"'])
    def test_anything_after_finish_is_an_adapter_error(self, speak: Any, more: str) -> None:
        assert speak(REFUND + DONE + f'send("{more}")').status == "adapter_error"

    def test_a_request_sent_with_finish_in_one_breath_is_an_adapter_error(self, speak: Any) -> None:
        finish = line("finish", **FINISH)
        assert speak(REFUND + f"send({finish * 2!r}); time.sleep(600)").status == "adapter_error"

    def test_finish_is_heard_from_one_that_does_not_wait_for_the_answer(self, speak: Any) -> None:
        assert speak(REFUND + f"send({line('finish', **FINISH)!r}); os._exit(0)").status == "completed"

    def test_a_call_is_counted_from_one_that_does_not_wait_for_the_answer(self, speak: Any) -> None:
        manifest = speak(
            f"{START}\nsend({line('tool.call', tool='refund', arguments={'order': 'O-1'})!r}); os._exit(0)"
        )
        assert (manifest.status, len(manifest["calls"])) == ("crashed", 1)

    def test_lingering_after_finish_is_timed_out(self, run: Any) -> None:
        manifest = run(HONEST + "time.sleep(600)", Limits(wall_seconds=30, grace_seconds=0.5))
        assert (manifest.status, "did not exit" in manifest["reason"]) == ("timed_out", True)
        assert manifest.boundary_passed is None

    def test_a_half_closed_socket_is_no_finish(self, speak: Any) -> None:
        assert speak(REFUND + "wire.shutdown(socket.SHUT_WR)").status == "crashed"

    def test_a_closed_socket_and_a_sleeping_process_is_timed_out(self, speak: Any) -> None:
        body = "lines.close(); wire.shutdown(socket.SHUT_RDWR); time.sleep(600)"
        assert speak(REFUND + body, SHORT).status == "timed_out"

    def test_a_child_left_behind_cannot_speak_for_the_dead(self, speak: Any) -> None:
        body = f"""
        if os.fork() == 0:
            time.sleep(0.2)
            ask('finish', {FINISH!r})
            time.sleep(600)
        os._exit(0)
        """
        manifest = speak("\n" + REFUND + "\n".join(line[8:] for line in body.splitlines()))
        assert (manifest.status, manifest["raw_outcome"]) == ("crashed", None)

    def test_cancelling_ends_it(self, tier: Tier, tmp_path: Path) -> None:
        looks = itertools.count()
        mark = f"cancelled-{uuid4()}"
        argv = ["python3", "-c", "import time; time.sleep(600)", mark]
        agent = written(tmp_path, "", adapter={"kind": "command", "argv": argv})
        manifest = replay_once(one_refund(), agent, tier=tier, cancelled=lambda: next(looks) > 2)
        assert (manifest.status, manifest.boundary_passed) == ("cancelled", None)
        assert processes_with(mark) == []


class TestADivergence:
    WRONG = 'session.tools.call("refund", {"order": "O-2"})'

    def test_ends_the_process_and_is_the_status(self, run: Any) -> None:
        manifest = run(self.WRONG)
        assert (manifest.status, manifest.boundary_passed) == ("diverged", None)
        assert manifest["first_divergence"]["kind"] == "arguments"

    def test_cannot_be_swallowed(self, run: Any) -> None:
        body = f"""
        for attempt in range(100):
            try:
                {self.WRONG}
            except BaseException:
                pass
        session.finish("Pending.")
        """
        manifest = run(body, Limits(wall_seconds=20))
        assert (manifest.status, len(manifest["calls"]), manifest["raw_outcome"]) == ("diverged", 1, None)

    def test_cannot_be_left_by_going_on_behind_the_harness(self, speak: Any) -> None:
        wrong = line("tool.call", tool="pay", arguments={})
        manifest = speak(f"{START}\nsend({wrong!r})\n{CALL}\n{DONE}")
        assert (manifest.status, manifest["raw_outcome"]) == ("diverged", None)

    def test_cannot_be_survived_by_a_child(self, run: Any) -> None:
        mark = f"survivor-{uuid4()}"
        body = f"""
        import subprocess
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "{mark}"], start_new_session=True)
        {self.WRONG}
        """
        assert run(body).status == "diverged"
        assert processes_with(mark) == []


class TestWhatIsInside:
    def test_no_network(self, run: Any) -> None:
        body = """
        import socket
        for family, kind in ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM)):
            try:
                socket.socket(family, kind).connect(("127.0.0.1", 9))
                sys.stderr.write("open")
            except OSError:
                sys.stderr.write("denied ")
        """
        assert run(body)["stderr"].startswith("denied denied ")

    def test_no_environment_of_ours(self, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REPLAYCASES_CANARY", "secret-canary")
        manifest = run("sys.stderr.write(repr(dict(os.environ)))")
        assert "secret-canary" not in manifest["stderr"]

    def test_no_descriptor_but_the_streams_and_the_session(self, run: Any) -> None:
        manifest = run("sys.stderr.write(repr(sorted(map(int, os.listdir('/proc/self/fd')))))")
        found = json.loads(manifest["stderr"].split("replaycases:")[0])
        assert found[:3] == [0, 1, 2]
        assert len(found) == 5, "the session's and the one of this listing"

    def test_the_folder_is_the_working_directory_and_read_only(self, run: Any) -> None:
        body = """
        sys.stderr.write(repr(sorted(os.listdir("."))))
        try:
            open("note", "w")
        except OSError as error:
            sys.stderr.write(error.strerror)
        """
        text = run(body)["stderr"]
        assert text.startswith(("['agent.py']Read-only", "['agent.py']Permission denied"))

    def test_nothing_is_left_for_the_next_run(self, tier: Tier, tmp_path: Path) -> None:
        body = """
        note = os.environ["TMPDIR"] + "/note"
        sys.stderr.write("found" if os.path.exists(note) else "clean")
        open(note, "w").close()
        """
        agent = workflow(tmp_path, body)
        seen = [replay_once(one_refund(), agent, tier=tier, limits=PATIENT)["stderr"][:5] for _ in range(2)]
        assert seen == ["clean", "clean"]

    def test_neither_the_expectation_nor_a_later_event_is_told(self, run: Any) -> None:
        manifest = run("sys.stderr.write(repr(vars(session)) + repr(sys.argv))")
        assert PROHIBITED not in manifest["stderr"]
        assert "refund" not in manifest["stderr"]


class TestTheHarness:
    """It runs on the accused's side: changing it gains nothing."""

    def test_claiming_to_have_finished_is_no_finish(self, run: Any) -> None:
        assert run("session.finished = True").status == "crashed"

    def test_a_wire_that_answers_itself_leaves_the_recorded_call_unconsumed(self, run: Any) -> None:
        body = """
        real = type(session._wire).request
        def request(self, method, params):
            return real(self, method, params) if method == "finish" else {"value": "refunded"}
        type(session._wire).request = request
        session.tools.call("refund", {"order": "O-1"})
        session.finish("Pending.")
        """
        manifest = run(body)
        assert (manifest["calls"], manifest["unconsumed"], manifest.boundary_passed) == ([], [1], None)

    def test_a_second_finish_that_takes_the_first_back_is_refused(self, run: Any) -> None:
        body = HONEST.replace('"The refund is pending: %s." % error.kind', repr(PROHIBITED))
        manifest = run(body + "session._wire.request('finish', {'message': 'Pending.'})")
        assert (manifest.status, manifest["raw_outcome"]["message"]) == ("adapter_error", PROHIBITED)
        assert manifest.boundary_passed is not True

    def test_an_exit_that_skips_the_harness_is_judged_by_what_was_seen(self, run: Any) -> None:
        assert run("import replaycases_harness.wire as w; w._halt = lambda: None; os._exit(0)").status == "crashed"


class TestTheEnvironment:
    def test_an_interpreter_that_cannot_run_is_environment_unavailable(self, run: Any, tmp_path: Path) -> None:
        (tmp_path / "python3").write_text("no program")
        manifest = run(HONEST, python="python3")
        assert (manifest.status, manifest.boundary_passed, manifest["calls"]) == ("environment_unavailable", None, [])
        assert "Set the implementation's `python`" in manifest["reason"]

    def test_no_tier_is_environment_unavailable_and_says_what_to_install(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("replaycases.replay.sandbox.tiers.tiers", tuple)
        manifest = replay_once(one_refund(), workflow(tmp_path, HONEST), limits=PATIENT)
        assert (manifest.status, manifest["isolation"]["tier"]) == ("environment_unavailable", "none")
        assert "No isolation tier works here" in manifest["reason"]

    def test_a_changed_folder_is_refused_before_anything_runs(self, tier: Tier, tmp_path: Path) -> None:
        agent = workflow(tmp_path, HONEST)
        (agent.path / "agent.py").write_text("changed")
        with pytest.raises(StagingFailed):
            replay_once(one_refund(), agent, tier=tier)

    def test_labels_stand_in_the_manifest(self, tier: Tier, tmp_path: Path) -> None:
        labels = RunLabels(run_id="r-2", run_set=RunSet(id="s-1", index=1, size=2), attempt=3, parent_run="r-1")
        manifest = replay_once(one_refund(), workflow(tmp_path, HONEST), tier=tier, limits=PATIENT, labels=labels)
        assert manifest["run"] == {"id": "r-2", "set": {"id": "s-1", "index": 1, "size": 2}}
        assert (manifest["attempt"], manifest["parent_run"]) == (3, "r-1")


@pytest.mark.parametrize("each", tiers(), ids=lambda tier: tier.name)
class TestEveryTier:
    """What holds whatever confines the process."""

    def ran(self, each: Tier, folder: Path, body: str, **spec: Any) -> Manifest:
        require(each.name, each.unavailable())
        return replay_once(one_refund(), workflow(folder, body, **spec), tier=each, limits=PATIENT)

    def test_an_honest_run_is_completed(self, each: Tier, tmp_path: Path) -> None:
        manifest = self.ran(each, tmp_path, HONEST, clock="frozen")
        assert (manifest.status, manifest.boundary_passed, manifest["stderr"]) == ("completed", True, "")
        assert manifest["isolation"]["tier"] == each.name

    def test_only_a_denied_network_controls_what_is_answered(self, each: Tier, tmp_path: Path) -> None:
        surfaces = self.ran(each, tmp_path, HONEST)["surfaces"]
        controlled = "uncontrolled" if each.name == "process" else "controlled"
        assert (surfaces["tools"], surfaces["model"]) == (controlled, controlled)

    def test_a_divergence_leaves_no_process(self, each: Tier, tmp_path: Path) -> None:
        mark = f"survivor-{uuid4()}"
        body = f"""
        import subprocess
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "{mark}"], start_new_session=True)
        session.tools.call("refund", {{"order": "O-2"}})
        """
        assert self.ran(each, tmp_path, body).status == "diverged"
        assert processes_with(mark) == []

    def test_a_crash_keeps_its_status_and_traceback(self, each: Tier, tmp_path: Path) -> None:
        manifest = self.ran(each, tmp_path, "1 / 0")
        assert (manifest.status, manifest["exit_status"]) == ("crashed", 1)
        assert "ZeroDivisionError" in manifest["stderr"]
