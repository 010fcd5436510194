"""The live functions that a recorder calls, at once or awaited, and what becomes of what they raise."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator

    from .recording_tape import Tape


def function_of(live: Any, name: str) -> Any:
    if live is None:
        raise LookupError("the session was given no `%s`, and the workflow asks for it" % name)
    return live


def require_at_once(live: Any, instead: str, name: object = None) -> None:
    """Before anything is sent: raises TypeError for a function that has to be awaited. `name` chooses among several."""
    found = live.get(name) if isinstance(live, Mapping) and isinstance(name, str) else live
    if is_async(found):
        raise TypeError(_HOW % instead)


def at_once(value: Any, instead: str) -> Any:
    """What came back. Raises TypeError where it has to be awaited after all."""
    if not inspect.isawaitable(value):
        return value
    if inspect.iscoroutine(value):
        value.close()
    raise TypeError(_HOW % instead)


async def whole(value: Any) -> Any:
    """What came back, awaited where it has to be."""
    return await value if inspect.isawaitable(value) else value


def is_async(live: Any) -> bool:
    """Whether it, or one of several, is to be awaited: an async function, or an object that is called as one."""
    functions = list(live.values()) if isinstance(live, Mapping) else [live]
    return any(
        inspect.iscoroutinefunction(part)
        for function in functions
        if callable(function)
        for part in (function, function.__call__)
    )


@contextmanager
def failing(tape: Tape, seq: int, *, as_tool_error: bool = False) -> Iterator[None]:
    """What is raised within is recorded as the end of this call, and goes through: as a replay would raise it where it
    is a tool's error. An interrupt, a cancellation too, is no error."""
    try:
        yield
    except Exception as error:
        raised = tape.failed(seq, error)
        if as_tool_error:
            raise raised from error
        raise
    except BaseException as error:
        tape.failed(seq, error)
        raise


_HOW = "a function that is async has to be awaited: write `await session.%s(...)` in the workflow; a replay has it too"
