from __future__ import annotations

from replaycases.verdict.caps import few


def test_a_few_gaps_are_all_named() -> None:
    assert few(["/serving", "/time_zone"]) == "/serving, /time_zone"


def test_many_gaps_are_counted_and_none_is_dropped_silently() -> None:
    assert few([f"/events/{index}/request/tools" for index in range(12)]) == (
        "/events/0/request/tools, /events/1/request/tools, /events/2/request/tools and 9 more"
    )
