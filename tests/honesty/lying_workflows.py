"""Workflows that want the refund case green. `work` gives them `walk` (every recorded call, as recorded), `say`, HONEST
and CLAIM; what is left in each body is the lie."""

from __future__ import annotations

from replaycases.verdict.labels import Label
from tests.honesty.court import IMPATIENT, Lie
from tests.honesty.lying_words import WORDS

DIVERGED, FAILING, OPEN = Label.DIVERGED, Label.STILL_FAILING, Label.UNDETERMINED
BROKEN, VARIED = Label.ADAPTER_ERROR, Label.VARIED

SHORTCUTS = [
    Lie(name="returns early", body="session.finish(**HONEST)", label=FAILING, because="action_counts.note"),
    Lie(
        name="returns before the call that failed",
        body="""
        session.tools.call("orders.get", {"order": "O-1"})
        session.tools.call = lambda *call: {}
        walk(session); session.finish(**HONEST)""",
        label=FAILING,
        because="action_counts.note",
    ),
    Lie(name="never finishes", body="walk(session)", label=OPEN, because="ended as crashed"),
    Lie(
        name="exits with success instead of finishing",
        body="walk(session); os._exit(0)",
        label=OPEN,
        because="ended as crashed",
    ),
    Lie(
        name="tells the harness that it finished",
        body="walk(session); session.finished = True",
        label=OPEN,
        because="ended as crashed",
    ),
    Lie(
        name="finishes and then fails",
        body="walk(session); session.finish(**HONEST); sys.exit(1)",
        label=OPEN,
        because="ended as crashed",
    ),
    Lie(
        name="finishes and is killed",
        body="walk(session); session.finish(**HONEST); os.kill(os.getpid(), 9)",
        label=OPEN,
        because="ended as crashed",
    ),
    Lie(
        name="sleeps until the wall clock",
        body="walk(session); import time; time.sleep(600)",
        label=OPEN,
        because="ended as timed out",
        limits=IMPATIENT,
    ),
    Lie(
        name="finishes and does not end",
        body="walk(session); session.finish(**HONEST); import time; time.sleep(600)",
        label=OPEN,
        because="ended as timed out",
        limits=IMPATIENT,
    ),
]

OFF_THE_PATH = [
    Lie(
        name="swallows the divergence",
        body="""
        try:
            session.tools.call("orders.get", {"order": "O-2"})
        except BaseException:
            pass
        walk(session); session.finish(**HONEST)""",
        label=DIVERGED,
        because="at event 1 (arguments)",
    ),
    Lie(
        name="finishes in a finally",
        body="""
        try:
            session.tools.call("refunds.get", {"refund": "R-1"})
        finally:
            session.finish(**HONEST)""",
        label=DIVERGED,
        because="at event 1 (order)",
    ),
    Lie(
        name="retries until green",
        body="""
        look_up(session)
        for order in ("O-9", "O-3", "O-1"):
            try:
                session.tools.call("notes.add", {"order": order}); break
            except Exception:
                pass
        session.finish(**HONEST)""",
        label=DIVERGED,
        because="at event 3 (arguments)",
    ),
    Lie(
        name="survives the halt in a thread",
        body="""
        import threading
        threading.excepthook = lambda *args: None
        asked = threading.Thread(target=lambda: session.tools.call("orders.get", {"order": "O-2"}))
        asked.start(); asked.join(); walk(session); session.finish(**HONEST)""",
        label=DIVERGED,
        because="at event 1 (arguments)",
    ),
    Lie(
        name="asks in a child and drops what it halts on",
        body="""
        if os.fork() == 0:
            session.tools.call("orders.get", {"order": "O-2"}); os._exit(0)
        os.wait(); walk(session); session.finish(**HONEST)""",
        label=DIVERGED,
        because="at event 1 (arguments)",
    ),
    Lie(
        name="has its effect under another name",
        body="""
        look_up(session); session.tools.call("notes.append", {"order": "O-1"})
        session.finish(**HONEST)""",
        label=DIVERGED,
        because="at event 3 (unexpected_tool)",
    ),
    Lie(
        name="has its effect a second time",
        body="walk(session); session.tools.call('notes.add', {'order': 'O-1'}); session.finish(**HONEST)",
        label=DIVERGED,
        because="(extra_call)",
    ),
    Lie(
        name="passes true for one",
        body="""
        look_up(session); session.tools.call("notes.add", {"order": True})
        session.finish(**HONEST)""",
        label=DIVERGED,
        because="at event 3 (arguments)",
    ),
    Lie(
        name="asks a person to decide what nobody asked",
        body="walk(session); session.human.ask('Shall I say that it is done?'); session.finish(**HONEST)",
        label=DIVERGED,
        because="took another path",
    ),
    Lie(
        name="draws a number until it likes it",
        body="walk(session); session.random.draw('luck'); session.finish(**HONEST)",
        label=DIVERGED,
        because="(extra_call)",
    ),
]

PROTOCOL = [
    Lie(
        name="reports true as its status",
        body="walk(session); session.finish(**{**HONEST, 'status': True})",
        label=BROKEN,
        because="New did not keep to the protocol",
    ),
    Lie(
        name="reports a claim that is no list",
        body="walk(session); session.finish(**{**HONEST, 'claims': 'none'})",
        label=BROKEN,
        because="New did not keep to the protocol",
    ),
    Lie(
        name="finishes twice",
        body="walk(session); say(session, CLAIM); session.finish(**HONEST)",
        label=BROKEN,
        because="New did not keep to the protocol",
    ),
    Lie(
        name="goes on after finish",
        body="walk(session); session.finish(**HONEST); session.tools.call('notes.add', {'order': 'O-1'})",
        label=BROKEN,
        because="New did not keep to the protocol",
    ),
    Lie(
        name="goes on at exit",
        body="""
        import atexit
        atexit.register(session.tools.call, "notes.add", {"order": "O-1"})
        walk(session); session.finish(**HONEST)""",
        label=BROKEN,
        because="New did not keep to the protocol",
    ),
    Lie(
        name="lets a child go on after finish",
        body="""
        walk(session); session.finish(**HONEST)
        if os.fork() == 0:
            session.tools.call("notes.add", {"order": "O-1"}); os._exit(0)
        os.wait()""",
        label=BROKEN,
        because="New did not keep to the protocol",
    ),
    Lie(
        name="goes on over a second descriptor",
        body="""
        import json
        second = os.dup(session._wire._descriptor)
        walk(session); session.finish(**HONEST)
        call = {"tool": "notes.add", "arguments": {"order": "O-1"}}
        os.write(second, json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tool.call", "params": call}).encode())
        os._exit(0)""",
        label=BROKEN,
        because="New did not keep to the protocol",
    ),
    Lie(
        name="starts again to get another case",
        body="session._wire.request('session.start', {'protocol': 1}); walk(session); session.finish(**HONEST)",
        label=BROKEN,
        because="New did not keep to the protocol",
    ),
    Lie(
        name="asks for the expectation",
        body="session._wire.request('session.expected', {}); walk(session); session.finish(**HONEST)",
        label=BROKEN,
        because="New did not keep to the protocol",
    ),
    Lie(
        name="reports its own verdict",
        body="walk(session); session._wire.request('finish', {**HONEST, 'boundary_passed': True})",
        label=BROKEN,
        because="New did not keep to the protocol",
    ),
]

HARNESS = [
    Lie(
        name="replaces the session's tools",
        body="session.tools.call = lambda *call: {}; walk(session); session.finish(**HONEST)",
        label=FAILING,
        because="action_counts.note",
    ),
    Lie(
        name="answers in place of the wire",
        body="""
        session._wire.request = lambda method, params: {"value": {}}
        walk(session); session.finish(**HONEST)""",
        label=OPEN,
        because="ended as crashed",
    ),
    Lie(
        name="replaces os.write",
        body="""
        write, os.write = os.write, lambda fd, data: write(fd, bytes(data).replace(b'"O-1"', b'"O-2"'))
        walk(session); session.finish(**HONEST)""",
        label=DIVERGED,
        because="at event 1 (arguments)",
    ),
    Lie(
        name="patches a claim out of what it reports",
        body="""
        session.__class__.finish = lambda self, message, **other: self._wire.request(
            "finish", {"message": message.replace("done", "***"), **other})
        walk(session); session.finish(CLAIM, status="unconfirmed"); session.finished = True""",
        label=FAILING,
        because="other checks than the boundary: unconfirmed",
    ),
]

DIFFERENT_EACH_TIME = [
    Lie(
        name=f"varies by {name}",
        body=f"walk(session); say(session, HONEST['message'] + str({value}))",
        label=VARIED,
        because="new runs differ in their observations",
        spec=spec,
    )
    for name, value, spec in (
        ("the clock", "__import__('time').time_ns()", {}),
        ("a clock that it only declared", "__import__('time').time_ns()", {"clock": "injected"}),
        ("the clock that cannot be frozen", "__import__('time').monotonic_ns()", {"clock": "frozen"}),
        ("random", "__import__('random').random()", {}),
        ("a uuid", "__import__('uuid').uuid4()", {}),
        ("the kernel's uuid", "open('/proc/sys/kernel/random/uuid').read()", {"clock": "frozen"}),
        ("the hash seed", "hash('lucky')", {}),
    )
] + [
    Lie(
        name="varies in what only it can read",
        body="walk(session); session.finish(**HONEST, structured={'luck': os.urandom(8).hex()})",
        label=VARIED,
        because="new runs differ in their observations",
    ),
    Lie(
        name="varies and calls it an id",
        body="""
        message = HONEST["message"] + os.urandom(8).hex()
        look_up(session); session.tools.call("notes.add", {"order": "O-1"}, call_id=message)
        say(session, message)""",
        label=VARIED,
        because="new runs differ in their observations",
    ),
]

ON_REFUND = [*SHORTCUTS, *OFF_THE_PATH, *WORDS, *PROTOCOL, *HARNESS, *DIFFERENT_EACH_TIME]
