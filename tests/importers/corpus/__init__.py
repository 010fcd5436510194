"""What a reader of each recorded file counts in it, one module of rows a family of formats."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(os.environ.get("REPLAYCASES_CORPUS", Path(__file__).resolve().parents[4] / "shared" / "corpus"))


@dataclass(frozen=True, kw_only=True)
class Read:
    """One run of one file. `models` are model calls, `tools` the tool calls that models asked for or the workflow made,
    `answered` those of them whose answer is in the file, `failed` the model and tool calls that the format marks as
    failed. `runs` is how many the file holds."""

    file: str
    format: str
    run: int = 0
    runs: int = 1
    models: int = 0
    tools: int = 0
    answered: int = 0
    failed: int = 0
    retrievals: int = 0
    people: int = 0
    mode: str = "replay"


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A file that is refused with this id, and why no case can be made of it."""

    file: str
    id: str
    why: str
