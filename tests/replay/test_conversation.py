"""A sandbox that fails under a run: the one case that no real sandbox can be asked for."""

from __future__ import annotations

import os
import socket

import pytest

from replaycases.replay.conversation import Conversation
from replaycases.replay.sandbox.base import EnvironmentUnavailable, Limits
from replaycases.replay.session import ReplaySession
from tests.replay.implementations import one_refund

START = b'{"jsonrpc": "2.0", "id": 1, "method": "session.start", "params": {"protocol": 1}}\n'


class Failing:
    """A sandbox that is lost, or cannot end its processes."""

    pid = 0

    def wait(self, timeout: float | None) -> int | None:
        raise EnvironmentUnavailable("The sandbox was lost.")

    def kill(self) -> None:
        raise EnvironmentUnavailable("The kernel holds a process.")


@pytest.mark.parametrize(
    ("said", "status"),
    [(b"", "environment_unavailable"), (b"\n", "adapter_error"), (b'{"', "adapter_error"), (START, "crashed")],
)
def test_a_sandbox_lost_after_the_first_word_counts_against_the_implementation(said: bytes, status: str) -> None:
    session = ReplaySession(one_refund(), serving=None, clock=None)
    ours, theirs = socket.socketpair()
    (out, out_far), (err, err_far) = os.pipe(), os.pipe()
    with ours, theirs:
        theirs.sendall(said)
        os.write(err_far, b"bwrap: lost")
        talk = Conversation(session, Limits(), channel=ours, outputs=(out, err), cancelled=lambda: False)
        ended = talk.run(Failing())
    for descriptor in (out, out_far, err, err_far):
        os.close(descriptor)
    observation = session.observe(ended=ended)
    assert (observation.status, observation.stderr) == (status, "bwrap: lost")
