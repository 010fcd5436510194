"""Programs that write to the protocol socket themselves. `walk` sends every recorded call of the refund case and reads
its answer; `request` is one line; HONEST and CLAIM are what the workflows of that case say."""

from __future__ import annotations

from replaycases.replay.sandbox.base import Limits
from replaycases.verdict.labels import Label
from tests.honesty.court import Lie

OPEN, BROKEN, FAILING = Label.UNDETERMINED, Label.ADAPTER_ERROR, Label.STILL_FAILING
PROTOCOL = "New did not keep to the protocol"
SMALL = Limits(wall_seconds=5.0, message_bytes=64 * 1024)

SHARED = """
CLAIM = {"message": "The refund is done.", "status": "unconfirmed"}
HONEST = {"message": "I could not confirm where the refund stands.", "status": "unconfirmed"}
CALLS = [("orders.get", {"order": "O-1"}), ("refunds.get", {"refund": "R-1"}), ("notes.add", {"order": "O-1"})]
def request(method, params, id=1):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\\n"
def walk():
    ask("session.start", {"protocol": 1})
    for tool, arguments in CALLS:
        ask("tool.call", {"tool": tool, "arguments": arguments})
"""


def broken(name: str, body: str) -> Lie:
    return Lie(name=name, body=body, label=BROKEN, because=PROTOCOL)


ON_THE_WIRE = [
    broken("two finishes in one packet", "walk(); send(request('finish', CLAIM) + request('finish', HONEST))"),
    broken("a call in the packet of the finish", "walk(); send(request('finish', HONEST) + request('clock.now', {}))"),
    broken("half a line after finish", "walk(); send(request('finish', HONEST) + '{')"),
    broken("a finish before the start", "send(request('finish', HONEST)); walk()"),
    broken("a call before the start", "send(request('tool.call', {'tool': 'notes.add', 'arguments': {}})); walk()"),
    broken(
        "a notification without id",
        """
        walk(); send(json.dumps({"jsonrpc": "2.0", "method": "finish", "params": HONEST}) + "\\n")""",
    ),
    broken("an id that is true", "walk(); send(request('finish', HONEST, id=True))"),
    broken("an id that is a text", "walk(); send(request('finish', HONEST, id='1'))"),
    broken("a batch", "walk(); send('[' + request('finish', HONEST).strip() + ']\\n')"),
    broken("an answer in place of a request", 'walk(); send(\'{"jsonrpc": "2.0", "id": 1, "result": {}}\\n\')'),
    broken(
        "a message that is there twice",
        """
        walk(); send(request("finish", HONEST).replace('"status"', '"message": "The refund is done.", "status"'))""",
    ),
    broken("half a surrogate pair", "walk(); send(request('finish', {**HONEST, 'structured': '\\ud800'}))"),
    broken("a number beyond 2^53", "walk(); send(request('finish', {**HONEST, 'structured': 2**53}))"),
    broken("no number", "walk(); send(request('finish', {**HONEST, 'structured': float('nan')}))"),
    broken("bytes that are no text", "walk(); send(request('finish', HONEST).encode('utf-16'))"),
    broken("no JSON", "walk(); send('finish\\n')"),
    broken("another protocol", "send(request('session.start', {'protocol': 2})); walk()"),
    broken("a call with an expectation of its own", "walk(); send(request('finish', {**HONEST, 'checks': []}))"),
    broken("silence", "pass"),
    broken("a verdict instead of a run", 'send(\'{"status": "completed", "boundary_passed": true}\\n\')'),
    Lie(
        name="a line that never ends",
        body='walk(); send(\'{"jsonrpc": "2.0", "pad": "\' + \'a\' * 100_000)',
        label=OPEN,
        because="ended as limit exceeded",
        limits=SMALL,
    ),
    Lie(
        name="a finish without its end of line",
        body="walk(); send(request('finish', HONEST).strip())",
        label=OPEN,
        because="ended as crashed",
    ),
    Lie(
        name="hangs up and calls it a day",
        body="walk(); wire.close()",
        label=OPEN,
        because="ended as crashed",
    ),
    Lie(
        name="floods its output before it finishes",
        body="walk(); sys.stdout.write('a' * 300_000); sys.stdout.flush(); ask('finish', HONEST)",
        label=OPEN,
        because="ended as limit exceeded",
        limits=Limits(wall_seconds=5.0, output_bytes=200_000),
    ),
    Lie(
        name="lets a child speak and fails itself",
        body="""
        if os.fork() == 0:
            walk(); ask("finish", HONEST); os._exit(0)
        os.wait(); sys.exit(9)""",
        label=OPEN,
        because="ended as crashed",
    ),
    Lie(
        name="sends everything ahead and hears nothing",
        body="""
        send(request("session.start", {"protocol": 1}))
        send(request("finish", HONEST))""",
        label=FAILING,
        because="action_counts.note",
    ),
]
