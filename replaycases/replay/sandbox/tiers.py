"""The tiers, strongest first, and the choice among them."""

from __future__ import annotations

from functools import cache
from typing import get_args

from replaycases.replay.sandbox.base import EnvironmentUnavailable, Tier, TierName
from replaycases.replay.sandbox.bubblewrap import Bubblewrap
from replaycases.replay.sandbox.guarded import Namespaces, Process, Seccomp

ISOLATION_VARIABLE = "REPLAYCASES_ISOLATION"
ALLOW_PROCESS_VARIABLE = "REPLAYCASES_ALLOW_PROCESS"


@cache
def tiers() -> tuple[Tier, ...]:
    """Every tier, strongest first. One object each, so that each is probed once a process."""
    return (Bubblewrap(), Namespaces(), Seccomp(), Process())


def choose_tier(name: str | None = None, *, allow_process: bool = False) -> Tier:
    """The strongest tier that works here, or the one called `name` (callers read it from REPLAYCASES_ISOLATION).

    A named tier is never replaced by another. Tier `process` isolates nothing and is taken only with `allow_process`
    (callers read REPLAYCASES_ALLOW_PROCESS=1), and only if no other works or it was named. Raises
    EnvironmentUnavailable, whose message says for each tier why it does not work and what to install or set.
    """
    if name is not None and name not in get_args(TierName):
        raise EnvironmentUnavailable(
            f"{ISOLATION_VARIABLE}: there is no isolation tier {name!r}; set one of {', '.join(get_args(TierName))}."
        )
    reasons: list[str] = []
    for tier in tiers():
        if name not in (None, tier.name):
            continue
        reason = tier.unavailable() if allow_process or tier.name != "process" else _process_refused()
        if reason is None:
            return tier
        reasons.append(f"{tier.name}: {reason}")
    raise EnvironmentUnavailable("No isolation tier works here.\n" + "\n".join(f"- {reason}" for reason in reasons))


def _process_refused() -> str:
    return f"isolates nothing; set {ALLOW_PROCESS_VARIABLE}=1 to allow it (its best label is unisolated_pass)"
