"""What a run of a file is called before everybody who sees the capture: by an id of a machine's making, or by its
place. What else a file calls its runs was typed by somebody, and may be what the evidence is about."""

from __future__ import annotations

import re
from dataclasses import replace

from replaycases.importers.neutral import RunHead
from replaycases.importers.run_record import MACHINE_ID

# Numbers that count something.
_COUNT = re.compile(r"[0-9]{1,5}")
_WORDS = frozenset(
    {"trace", "run", "session", "task_id", "trial", "id", "answer", "answers", "HTTP", "exchange", "exchanges"}
)


def in_the_open(head: RunHead) -> RunHead:
    """The head with a label that everybody may see."""
    words = head.label.replace(",", " ").split()
    return head if words and all(map(_says_nothing, words)) else replace(head, label=f"run {head.index}")


def _says_nothing(word: str) -> bool:
    return word in _WORDS or any(form.fullmatch(word) for form in (_COUNT, MACHINE_ID))
