"""What is asked for once the draft is a case, so that nobody learns of it at the last gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replaycases.cases.models import OutcomeType


@dataclass(frozen=True, kw_only=True)
class Later:
    """`controlled` are the tools with a stated effect, each of which asks for a control of each of the `outcomes`;
    `unstated` those of which the owner of the dependency is asked whether they have one."""

    controlled: tuple[str, ...]
    unstated: tuple[str, ...]
    outcomes: tuple[str, ...] = tuple(kind.label.lower() for kind in OutcomeType)

    @property
    def controls(self) -> int:
        return len(self.controlled) * len(self.outcomes) or 1


def later_of(choices: Mapping[str, Any], called: Sequence[str]) -> Later:
    """`called` are the tools that the run calls."""
    rules = choices.get("effects", {}).get("tools", {})
    controlled = tuple(tool for tool in called if rules.get(tool))
    return Later(controlled=controlled, unstated=tuple(tool for tool in called if tool not in controlled))
