"""When a conversation is over; read from settings.json beside this file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Settings:
    """`person_ends` are marks in what the person says, `tools_end` tools after which nothing follows; with
    `answer_ends` the first message without a tool call is the final answer."""

    person_ends: tuple[str, ...]
    tools_end: tuple[str, ...]
    answer_ends: bool

    def ended_by_person(self, text: Any) -> bool:
        return isinstance(text, str) and any(mark in text for mark in self.person_ends)


def load_settings() -> Settings:
    document = json.loads((Path(__file__).parent / "settings.json").read_text(encoding="utf-8"))
    return Settings(
        person_ends=tuple(document["person_ends"]),
        tools_end=tuple(document["tools_end"]),
        answer_ends=document["answer_ends"],
    )
