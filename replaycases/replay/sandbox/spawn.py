"""Start processes from one thread that lives as long as this process.

PR_SET_PDEATHSIG, and with it bwrap's --die-with-parent, fires when the *thread* that started the child ends. A worker
that spawned from a short-lived thread would lose its sandboxes in mid-run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Started = TypeVar("Started")


class _Spawner:
    """Holds the thread. A fork does not copy threads, so the child makes one of its own."""

    def __init__(self) -> None:
        self.renew()
        os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sandbox-spawn")


_spawner = _Spawner()


def spawn(start: Callable[[], Started]) -> Started:
    """Call `start` in the long-lived thread and return, or raise, what it does."""
    return _spawner.thread.submit(start).result()
