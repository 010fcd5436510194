"""The first code that runs in the sandbox for a `python` adapter: connect, import the workflow, call it.

Exit status 0 only after `replay(session)` returned and `finish` was answered. Anything else is said on standard
error and ends with another status; what it means for the run is the supervisor's to decide.
"""

from __future__ import annotations

import json
import os
import sys

from .session import Session
from .wire import Wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Optional

NOT_IMPORTED, NOT_FINISHED = 3, 4


def main() -> int:
    """The only argument is one JSON object: {target: "package.module:function", workdir, freeze: {at, by} or null},
    `at` in nanoseconds since 1970."""
    options = json.loads(sys.argv[1])
    wire = Wire(int(os.environ.pop("REPLAYCASES_FD")))
    # The first place was this package's; the workflow's own folder takes it, so that its modules win.
    sys.path[0] = options["workdir"]
    sys.argv[:] = [options["target"]]
    if options["freeze"]:
        from .freeze import freeze

        freeze(options["freeze"]["at"], options["freeze"]["by"])
    replay = _load(options["target"])
    if replay is None:
        return NOT_IMPORTED
    session = Session(wire)
    outcome = replay(session)
    if hasattr(outcome, "__await__"):
        import asyncio

        asyncio.run(_awaited(outcome))
    if session.finished:
        return 0
    _say("%s returned without calling session.finish(...)" % options["target"])
    return NOT_FINISHED


async def _awaited(outcome: Any) -> None:
    await outcome


def _load(target: str) -> Optional[Callable[[Session], Any]]:
    """The function. A module that raises while it is imported ends the process with its own traceback."""
    import importlib

    module_name, _, path = target.partition(":")
    found: Any = importlib.import_module(module_name)
    for name in path.split("."):
        found = getattr(found, name, None)
    if callable(found):
        return found  # type: ignore[no-any-return]
    _say("%s is not a function in %s: correct `adapter.target` in the implementation file" % (path, module_name))
    return None


def _say(text: str) -> None:
    sys.stderr.write("replaycases: %s\n" % text)
