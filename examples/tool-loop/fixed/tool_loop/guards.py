"""Rules asked before a tool runs. They are data (rules.json); nothing here knows a tool's name.

standing: {id, creates, same: [path], resource, refused_when: [pattern], ended_by: {tool, resource}}
    While a resource that `creates` made stands, the same tool is not called again with the same values at `same`.
    It stands from the answer that made it (none of `refused_when` matches) until `ended_by.tool` was accepted for it.
charge: {id, tool, amount, money, confirmed_by: [pattern]}
    The tool may not charge more than was last told to and confirmed by the person. `amount` is either {in: [path]}, a
    sum in the arguments, or {priced: {…}} (see prices.py). `money` finds amounts in what the person was told; the
    largest of the last message that states any is the ceiling. Where none was ever stated there is no ceiling.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tool_loop.ledger import Ledger, value_at, values_at
from tool_loop.prices import priced


@dataclass(frozen=True)
class Refusal:
    rule: str
    reason: str


class Guards:
    def __init__(self, rules: dict[str, Any]) -> None:
        self.rules = rules

    def refusal(self, tool: str, arguments: Any, ledger: Ledger) -> Refusal | None:
        for rule in self.rules.get("standing", ()):
            if rule["creates"] == tool and (stands := _standing(rule, arguments, ledger)) is not None:
                return Refusal(rule["id"], f"{stands} stands; end it with {rule['ended_by']['tool']} first")
        for rule in self.rules.get("charge", ()):
            if rule["tool"] == tool and (reason := _overcharge(rule, arguments, ledger)):
                return Refusal(rule["id"], reason)
        return None


def load_guards() -> Guards:
    return Guards(json.loads((Path(__file__).parent / "rules.json").read_text(encoding="utf-8")))


def _standing(rule: dict[str, Any], arguments: Any, ledger: Ledger) -> Any:
    """The resource of the same subject that still stands, None if there is none."""
    subject = [value_at(arguments, path) for path in rule["same"]]
    standing: dict[str, Any] = {}
    for done in ledger.done:
        if _matches(rule["refused_when"], done.answer):
            continue
        if done.tool == rule["creates"] and [value_at(done.arguments, path) for path in rule["same"]] == subject:
            made = value_at(done.result, rule["resource"])
            standing[json.dumps(made)] = made if made is not None else "one of unknown name"
        if done.tool == rule["ended_by"]["tool"]:
            standing.pop(json.dumps(value_at(done.arguments, rule["ended_by"]["resource"])), None)
    return next(iter(standing.values()), None)


def _overcharge(rule: dict[str, Any], arguments: Any, ledger: Ledger) -> str | None:
    """Why the charge may not be made, None if it may."""
    ceiling = _confirmed(rule, ledger)
    if ceiling is None:
        return None
    amount = _amount(rule["amount"], arguments, ledger)
    if amount is None:
        return f"the price of a part is not known, so it is not known to be within the {ceiling:g} that was confirmed"
    if amount > ceiling:
        return f"it would charge {amount:g}; {ceiling:g} was confirmed"
    return None


def _confirmed(rule: dict[str, Any], ledger: Ledger) -> float | None:
    """The amount last told and confirmed: 0 if told and not confirmed, None if none was ever told."""
    confirmed = False
    for told, said in reversed(ledger.talk):
        confirmed = confirmed or _matches(rule["confirmed_by"], said)
        amounts = re.findall(rule["money"], told) if isinstance(told, str) else []
        if amounts:
            return max(float(amount.replace(",", "")) for amount in amounts) if confirmed else 0.0
    return None


def _amount(spec: dict[str, Any], arguments: Any, ledger: Ledger) -> float | None:
    if "priced" in spec:
        return priced(spec["priced"], arguments, ledger)
    amounts = [value for path in spec["in"] for value in values_at(arguments, path)]
    return float(sum(amounts)) if amounts and all(isinstance(a, (int, float)) for a in amounts) else None


def _matches(patterns: list[str], text: Any) -> bool:
    return isinstance(text, str) and any(re.search(pattern, text) for pattern in patterns)
