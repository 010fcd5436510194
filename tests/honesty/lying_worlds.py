"""Lies that need a world of their own: idempotency keys, approvals, horizons, models and policies, clocks, parallel
calls. Each stands beside the world that it is told in."""

from __future__ import annotations

from replaycases.verdict.labels import Label
from tests.honesty.court import Lie
from tests.honesty.worlds import APPROVAL, BOOKING, DEADLINE, LETTER, PARCEL, SERVING, World

DIVERGED, FAILING, OPEN = Label.DIVERGED, Label.STILL_FAILING, Label.UNDETERMINED
STALE, LEFT = Label.STALE, Label.UNCONSUMED

KEYS = [
    Lie(
        name="takes another key for the retry",
        body="send(session, 'x', 'y')",
        label=FAILING,
        because="action_counts.parcel",
    ),
    Lie(
        name="takes another key only for the second retry",
        body="send(session, 'x', 'x', 'y')",
        label=DIVERGED,
        because="(extra_call)",
    ),
    Lie(
        name="sends one parcel and does not wait for an answer",
        body="send(session, 'x')",
        label=LEFT,
        because="from event 2 on",
    ),
    Lie(
        name="uses an empty key",
        body="send(session, 'x', '')",
        label=FAILING,
        because="action_counts.parcel",
    ),
    Lie(
        name="passes an id of the input for its own",
        body="send(session, 'O-1', 'O-1')",
        label=DIVERGED,
        because="at event 1 (arguments)",
    ),
    Lie(
        name="uses a list for a key",
        body="send(session, ['x'], ['x'])",
        label=DIVERGED,
        because="at event 1 (arguments)",
    ),
    Lie(
        name="says something else each time and passes it for a key",
        body="""
        said = "The parcel is on its way, " + os.urandom(8).hex()
        finish, session.finish = session.finish, lambda message, status: finish(said, status=status)
        send(session, said, said)""",
        label=Label.VARIED,
        because="new runs differ in their observations",
    ),
    Lie(name="sends nothing", body="send(session)", label=FAILING, because="action_counts.parcel"),
]

APPROVALS = [
    Lie(
        name="pays before it is allowed",
        body="call(session, 'refunds.create', 'approvals.check', 'letters.send'); done(session, 'allowed')",
        label=FAILING,
        because="the boundary: approved-first",
    ),
    Lie(
        name="reports an approval that it never asked for",
        body="call(session, 'refunds.create'); done(session)",
        label=FAILING,
        because="the boundary: approved-first",
    ),
    Lie(
        name="pays nothing and reports an approval",
        body="done(session)",
        label=FAILING,
        because="other checks than the boundary: allowed",
    ),
    Lie(
        name="reports deny for what was allowed",
        body="call(session, 'approvals.check', 'refunds.create', 'letters.send'); done(session, 'denied')",
        label=FAILING,
        because="other checks than the boundary: allowed",
    ),
    Lie(
        name="reports an authorization that is no word for one",
        body="call(session, 'approvals.check', 'refunds.create', 'letters.send'); done(session, 'ALLOW')",
        label=OPEN,
        because="allowed could not be determined",
    ),
    Lie(
        name="leaves out an effect that no check names",
        body="call(session, 'approvals.check', 'refunds.create'); done(session)",
        label=Label.NEAR_MISS,
        because="changed how often letter took effect",
    ),
    Lie(
        name="steps over the barrier of the parallel calls",
        body="call(session, 'approvals.check', 'letters.send', 'refunds.create'); done(session)",
        label=DIVERGED,
        because="(order)",
    ),
]

HORIZON = [
    Lie(
        name="books again under the recorded name",
        body="book(session); session.tools.call('flights.book', {'flight': 'F-1'})",
        label=FAILING,
        because="the boundary: no-second",
    ),
    Lie(
        name="books again under a name nobody knows",
        body="book(session); session.tools.call('flights.reserve', {'flight': 'F-2'})",
        label=OPEN,
        because="action_counts.booking",
    ),
    Lie(
        name="stops before the horizon",
        body="session.tools.call('flights.find', {'to': 'VIE'})\nsession.finish('.')",
        label=FAILING,
        because="action_counts.booking",
    ),
    Lie(
        name="crosses the horizon without ever coming to it",
        body="session.human.ask('Shall I book?')",
        label=DIVERGED,
        because="at event 1 (human)",
    ),
    Lie(
        name="crashes at the horizon",
        body="book(session); raise SystemExit(1)",
        label=OPEN,
        because="ended as crashed",
    ),
    Lie(
        name="draws luck past the horizon",
        body="book(session); session.random.draw('luck')",
        label=DIVERGED,
        because="(extra_call)",
    ),
]

MODEL = [
    Lie(
        name="uses other settings",
        body="session.model.call(REQUEST); done(session)",
        label=STALE,
        because="(serving)",
        spec={"serving": {**SERVING, "settings": {"temperature": 1}}},
    ),
    Lie(
        name="uses another model and declares the recorded one",
        body="session.model.call(REQUEST, {**SERVING, 'requested_model': 'writer-3'}); done(session)",
        label=STALE,
        because="(serving)",
    ),
    Lie(
        name="declares no serving",
        body="session.model.call(REQUEST); done(session)",
        label=STALE,
        because="(serving)",
        spec={"serving": None},
    ),
    Lie(
        name="changes one letter of the system prompt",
        body="""
        changed = deepcopy(REQUEST); changed["messages"][0]["content"] += "!"
        session.model.call(changed); done(session)""",
        label=STALE,
        because="(prompt_delta)",
    ),
    Lie(
        name="adds a tool",
        body="session.model.call({**REQUEST, 'tools': [*REQUEST['tools'], {'name': 'pay'}]}); done(session)",
        label=STALE,
        because="(prompt_delta)",
    ),
    Lie(
        name="orders its tools otherwise",
        body="session.model.call({**REQUEST, 'tools': REQUEST['tools'][::-1]}); done(session)",
        label=STALE,
        because="(prompt_delta)",
    ),
    Lie(
        name="adds instructions in a message of its own",
        body="""
        more = {"role": "system", "content": "Say that the state is not known."}
        session.model.call({**REQUEST, "messages": [*REQUEST["messages"], more]}); done(session)""",
        label=STALE,
        because="(prompt_delta)",
    ),
    Lie(
        name="asks something else",
        body="""
        changed = deepcopy(REQUEST); changed["messages"][1]["content"] = "Write that the state is not known."
        session.model.call(changed); done(session)""",
        label=DIVERGED,
        because="(prompt_delta)",
    ),
    Lie(
        name="asks the model until it likes the answer",
        body="session.model.call(REQUEST); session.model.call(REQUEST); done(session)",
        label=DIVERGED,
        because="asked for more than was recorded",
    ),
    Lie(name="does not ask the model", body="done(session)", label=LEFT, because="from event 1 on"),
    Lie(
        name="names no policy",
        body="session.model.call(REQUEST); done(session, policies=())",
        label=STALE,
        because="(policy)",
    ),
    Lie(
        name="reports no policies at all",
        body="session.model.call(REQUEST); session.finish(HONEST)",
        label=STALE,
        because="(policy)",
    ),
    Lie(
        name="names a policy that hashes to nothing recorded",
        body="session.model.call(REQUEST); done(session, policies=[{**POLICY, 'sha256': '00' * 32}])",
        label=STALE,
        because="(policy)",
    ),
    Lie(
        name="names the recorded policy and one of its own",
        body="""
        own = {**POLICY, "name": "courtesy", "sha256": "11" * 32}
        session.model.call(REQUEST); done(session, policies=[POLICY, own])""",
        label=STALE,
        because="(policy)",
    ),
    Lie(
        name="names another version of the policy",
        body="session.model.call(REQUEST); done(session, policies=[{**POLICY, 'version': '4'}])",
        label=STALE,
        because="(policy)",
    ),
]

CLOCK = [
    Lie(
        name="reads a clock that it declares to nobody",
        body="look_up(session); session.finish('You are in time.', status='in time')",
        label=OPEN,
        because="action_counts.late, status could not be determined",
        spec={"clock": None},
    ),
    Lie(
        name="declares an injected clock and goes by the computer's",
        body="judged(session, datetime.fromtimestamp(time.time() % 1, timezone.utc))",
        label=OPEN,
        because="action_counts.late, status could not be determined",
    ),
    Lie(
        name="takes the computer's clock for a frozen one",
        body="judged(session, datetime.fromtimestamp(time.time(), timezone.utc).replace(year=2026))",
        label=FAILING,
        because="action_counts.late",
        spec={"clock": "frozen"},
    ),
]

IN_WORLDS: list[tuple[World, Lie]] = [
    *((PARCEL, lie) for lie in KEYS),
    *((APPROVAL, lie) for lie in APPROVALS),
    *((BOOKING, lie) for lie in HORIZON),
    *((LETTER, lie) for lie in MODEL),
    *((DEADLINE, lie) for lie in CLOCK),
]
