"""Old versions that do not show the incident. New is the honest fix each time, and must not be green by their help."""

from __future__ import annotations

from replaycases.verdict.labels import Label
from tests.honesty.court import IMPATIENT, Lie
from tests.honesty.worlds import APPROVAL, PARCEL, REFUND, World

NOT_RED, OPEN = Label.NOT_REPRODUCED, Label.UNDETERMINED

ON_REFUND = [
    Lie(
        name="old is green too",
        body="walk(session); say(session, HONEST['message'] + ' ')",
        label=NOT_RED,
        because="it held done",
    ),
    Lie(
        name="old crashes instead of violating",
        body="look_up(session); raise RuntimeError",
        label=OPEN,
        because="Old ended as crashed",
    ),
    Lie(
        name="old hangs instead of violating",
        body="look_up(session); import time; time.sleep(600)",
        label=OPEN,
        because="Old ended as timed out",
        limits=IMPATIENT,
    ),
    Lie(
        name="old diverges and then claims",
        body="look_up(session); session.tools.call('notes.add', {}); say(session, CLAIM)",
        label=NOT_RED,
        because="it diverged from the recording at event 3 (arguments)",
    ),
    Lie(
        name="old claims without a call",
        body="say(session, CLAIM)",
        label=NOT_RED,
        because="it left required recorded events over",
    ),
    Lie(
        name="old violates only another check",
        body="walk(session); say(session, HONEST['message'], status='resolved')",
        label=NOT_RED,
        because="violated only other checks",
    ),
    Lie(
        name="old says nothing",
        body="walk(session); say(session, None, status='resolved')",
        label=OPEN,
        because="Whether old violates done could not be determined",
    ),
    Lie(
        name="old breaks the protocol",
        body="walk(session); say(session, CLAIM); say(session, CLAIM)",
        label=Label.ADAPTER_ERROR,
        because="Old did not keep to the protocol",
    ),
    Lie(
        name="old is red now and then",
        body="walk(session); say(session, CLAIM + os.urandom(8).hex())",
        label=Label.VARIED,
        because="old runs differ in their observations",
    ),
    Lie(
        name="old cannot import what it needs",
        body="pass\nimport nothing_of_this_name",
        label=OPEN,
        because="Old ended as crashed",
    ),
]

ELSEWHERE: list[tuple[World, Lie]] = [
    (
        PARCEL,
        Lie(
            name="old uses an answer that nobody recorded",
            body="send(session, 'z', 'z')",
            label=NOT_RED,
            because="it used an authored answer",
        ),
    ),
    (
        APPROVAL,
        Lie(
            name="old violates only that nothing was allowed",
            body="session.tools.call('approvals.check', {'order': 'O-1'}); done(session)",
            label=NOT_RED,
            because="it left required recorded events over",
        ),
    ),
]

OLD_SIDES: list[tuple[World, Lie]] = [*((REFUND, lie) for lie in ON_REFUND), *ELSEWHERE]
