"""Processes that do not outlive the one that started them."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1


def die_with_parent(number: signal.Signals, parent: int) -> None:
    """Have the kernel send `number` to this process when its parent, the process `parent`, ends, however that ends
    (does nothing but on Linux). Where it has ended already the kernel would stay silent: the signal is sent at once."""
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            os.kill(os.getpid(), number)
