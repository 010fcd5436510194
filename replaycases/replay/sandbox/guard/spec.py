"""What the supervisor tells a guard, and how the two speak.

A request is one byte on the keeper's control socket with these descriptors: a file that holds the Spec as JSON, the
guard's end of the status socket, and then the program's own, to stand at 1, 2, PROTOCOL_FD and the numbers after it.
On the status socket the guard says {"ready": pid} or {"failed": why}, and {"exit": status} when the tree has ended,
each a line of JSON; the supervisor's end of it closing, or shut for writing, means: end the tree.
"""

from __future__ import annotations

import signal
from typing import NamedTuple

REQUEST = b"!"
MOST_DESCRIPTORS = 8
PROTOCOL_FD = 3


class Spec(NamedTuple):
    """See `base.Launch` and `base.Limits` for the parts that are theirs.

    `supervisor`: the process that asked. `uid`: whom to become, or None to stay oneself. `private`: the folder to
    make, to own by the program and to remove at the end; None where the tier has a tmpfs instead. `system` and
    `trees` are (source free of links, target), `links` (link, text): see `layout`.
    """

    tier: str
    supervisor: int
    uid: int | None
    argv: list[str]
    env: dict[str, str]
    workdir: str
    private: str | None
    system: list[tuple[str, str]]
    links: list[tuple[str, str]]
    trees: list[tuple[str, str]]
    cpu_seconds: int
    memory_bytes: int
    processes: int
    file_bytes: int


def fold(status: int) -> int:
    """As a shell does: a process 1 cannot die of a signal n, so it ends with 128 + n."""
    return status if status >= 0 else 128 - status


def unfold(code: int) -> int:
    """The reverse of `fold`: -n for a signal."""
    return 128 - code if 128 < code < 128 + signal.NSIG else code
