"""What the log says of an exception: its class and where it was raised, never its text.

The text may hold evidence: a failing gate quotes what it read, a database the row that it refused. The lines of the
code and the names of its functions do not.
"""

from __future__ import annotations

import logging
import traceback
from copy import copy
from pathlib import Path
from types import TracebackType

_ROOT = Path(__file__).resolve().parents[2]
# Celery repeats the text of a task's exception in the arguments of its message.
_TEXTS = {"exc": "", "traceback": ""}

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class WithoutText(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        shown = copy(record)
        # Another handler may have put the whole traceback there.
        shown.exc_text = None
        if isinstance(shown.args, dict):
            shown.args = {**shown.args, **{key: text for key, text in _TEXTS.items() if key in shown.args}}
        return super().format(shown)

    def formatException(self, ei: ExcInfo) -> str:
        return "\n".join(_told(ei[1]))


def _told(error: BaseException | None) -> list[str]:
    """One line for the exception, and for each one that it came of: "KeyError at replaycases/cases/gates.py:12 gate,
    …", the outermost call first."""
    lines: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        places = ", ".join(_place(frame) for frame in traceback.extract_tb(error.__traceback__))
        lines.append(f"{'  from ' if lines else '  '}{type(error).__name__} at {places or 'no line'}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return lines


def _place(frame: traceback.FrameSummary) -> str:
    path = Path(frame.filename)
    shown = path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else path
    return f"{shown}:{frame.lineno} {frame.name}"
