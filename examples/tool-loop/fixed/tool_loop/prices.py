"""What a change will cost when its arguments hold no amount: from the prices that earlier tool answers showed.

{items, key: [field], tier, prices, record: {id, items, paid, tier, heads}}
`items` is a path in the arguments to what will be held afterwards; a price is looked up in the newest object that
agrees in the `key` fields and has a price for the tier under its field `prices`. `record` is the newest object with the
same value at `id` as the arguments have: what is held now, what was paid for each, and for how many. An item kept in
the same tier keeps what was paid.
"""

from __future__ import annotations

from typing import Any

from tool_loop.ledger import Ledger, value_at, values_at


def priced(spec: dict[str, Any], arguments: Any, ledger: Ledger) -> float | None:
    """The additional charge (negative: money back). None if the price of any part is not known."""
    record = _record(spec["record"], arguments, ledger)
    if record is None:
        return None
    held = values_at(record, spec["record"]["items"])
    paid = [value_at(item, spec["record"]["paid"]) for item in held]
    tier = value_at(arguments, spec["tier"])
    same_tier = value_at(record, spec["record"]["tier"]) == tier
    kept = {_key(spec, item): value_at(item, spec["record"]["paid"]) for item in held} if same_tier else {}
    new = [kept.get(_key(spec, item), _price(spec, item, tier, ledger)) for item in values_at(arguments, spec["items"])]
    if not new or any(not isinstance(price, (int, float)) for price in [*new, *paid]):
        return None
    return float((sum(new) - sum(paid)) * len(values_at(record, spec["record"]["heads"])))


def _record(spec: dict[str, Any], arguments: Any, ledger: Ledger) -> dict[str, Any] | None:
    wanted = value_at(arguments, spec["id"])
    found = (r for r in ledger.records() if value_at(r, spec["id"]) == wanted and values_at(r, spec["items"]))
    return next(found, None) if wanted is not None else None


def _price(spec: dict[str, Any], item: Any, tier: Any, ledger: Ledger) -> Any:
    for record in ledger.records():
        prices = record.get(spec["prices"])
        if isinstance(prices, dict) and tier in prices and _key(spec, record) == _key(spec, item):
            return prices[tier]
    return None


def _key(spec: dict[str, Any], item: Any) -> tuple[Any, ...]:
    return tuple(item.get(name) if isinstance(item, dict) else None for name in spec["key"])
