"""Moments that no real sandbox can be asked for: it fails under a run, or the process ends at a chosen instant."""

from __future__ import annotations

import os
import socket

import pytest

from replaycases.replay.conversation import Conversation
from replaycases.replay.sandbox.base import EnvironmentUnavailable, Limits, Sandboxed
from replaycases.replay.session import ReplaySession
from replaycases.verdict.observation import Observation
from tests.replay.implementations import one_refund

START = b'{"jsonrpc": "2.0", "id": 1, "method": "session.start", "params": {"protocol": 1}}\n'
CALL = (
    b'{"jsonrpc": "2.0", "id": 2, "method": "tool.call", "params": {"tool": "refund", "arguments": {"order": "O-1"}}}\n'
)


class Failing:
    """A sandbox that is lost, or cannot end its processes."""

    pid = 0

    def wait(self, timeout: float | None) -> int | None:
        raise EnvironmentUnavailable("The sandbox was lost.")

    def kill(self) -> None:
        raise EnvironmentUnavailable("The kernel holds a process.")


class Exiting:
    """A process that says its last words just before it exits with 0, when nobody looks."""

    pid = 0

    def __init__(self, channel: socket.socket, words: bytes) -> None:
        self._channel, self._words = channel, words

    def wait(self, timeout: float | None) -> int | None:
        self._channel.sendall(self._words)
        self._channel.close()
        return 0

    def kill(self) -> None:
        pass


class Living:
    """A process that goes on until it is killed, and counts how often it was."""

    pid, killed = 0, 0

    def wait(self, timeout: float | None) -> int | None:
        pytest.fail("waited for a run that had to be ended at once")

    def kill(self) -> None:
        self.killed += 1


def talk(sandboxed: Sandboxed, ours: socket.socket) -> Observation:
    session = ReplaySession(one_refund(), serving=None, clock=None)
    (out, out_far), (err, err_far) = os.pipe(), os.pipe()
    try:
        os.write(err_far, b"bwrap: lost")
        conversation = Conversation(session, Limits(), channel=ours, outputs=(out, err), cancelled=lambda: False)
        return session.observe(ended=conversation.run(sandboxed))
    finally:
        for descriptor in (out, out_far, err, err_far):
            os.close(descriptor)


@pytest.mark.parametrize(
    ("said", "status"),
    [(b"", "environment_unavailable"), (b"\n", "adapter_error"), (b'{"', "adapter_error"), (START, "crashed")],
)
def test_a_sandbox_lost_after_the_first_word_counts_against_the_implementation(said: bytes, status: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(said)
        observation = talk(Failing(), ours)
    assert (observation.status, observation.stderr) == (status, "bwrap: lost")


def test_last_words_before_the_exit_are_heard() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        observation = talk(Exiting(theirs, START + CALL), ours)
    assert (observation.status, len(observation.calls)) == ("crashed", 1)


def test_a_divergence_ends_the_process_at_once() -> None:
    ours, theirs = socket.socketpair()
    living = Living()
    with ours, theirs:
        theirs.sendall(START + CALL.replace(b"O-1", b"O-2"))
        observation = talk(living, ours)
        answers = theirs.recv(65536)
    assert (observation.status, living.killed) == ("diverged", 1)
    assert answers.count(b"\n") == 1, "session.start was answered and nothing else"
