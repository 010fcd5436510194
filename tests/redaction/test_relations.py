"""What values have to do with each other is told without the values, and noticed when it is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.redaction.canonical import canonical
from replaycases.redaction.places import Kind, Place
from replaycases.redaction.relations import Fact, Occurrence, facts, lost
from replaycases.redaction.surrogates.surrogates import Surrogates


def _at(pointer: str, kind: Kind, text: str) -> Occurrence:
    return Occurrence(place=Place(pointer=pointer, start=0, end=len(text)), kind=kind, text=text)


def _told(occurrences: list[Occurrence], relation: str) -> list[str]:
    return [str(fact) for fact in facts(occurrences) if fact.relation == relation]


def test_two_spellings_of_one_value_are_the_same() -> None:
    values = [_at("/a", "email", "Jane@corp.test"), _at("/b", "email", "jane@corp.test")]
    assert _told(values, "equal") == ["the same e-mail stands at /a and /b"]


def test_two_members_of_one_object_that_differ_are_told() -> None:
    values = [_at("/case/owner", "id", "u-1001"), _at("/case/requester", "id", "u-2002")]
    assert _told(values, "different") == ["/case/owner and /case/requester are two different values of kind identifier"]


def test_two_values_at_one_place_are_told_as_two() -> None:
    values = [_at("/text", "person", "Jane Doe"), _at("/text", "email", "jane.doe@corp.test")]
    assert _told(values, "name") == ["2 places of /text hold the same name"]


def test_ids_are_told_in_ascending_order() -> None:
    values = [_at("/x", "id", "ord-0020"), _at("/y", "id", "ord-0003")]
    assert _told(values, "order") == ["the ids at /y and /x stand in ascending order"]


def test_a_tag_a_domain_and_a_name_are_told() -> None:
    values = [
        _at("/a", "email", "jane.doe@corp.test"),
        _at("/b", "email", "jane.doe+x@corp.test"),
        _at("/c", "person", "Doe, Jane"),
    ]
    assert _told(values, "tag") == ["/a and /b are one mailbox, the second with a tag"]
    assert _told(values, "domain") == ["the mailboxes at /a and /b are of one domain"]
    assert _told(values, "name") == ["/a and /c hold the same name"]


def test_days_between_dates_are_told() -> None:
    values = [_at("/a", "date", "2024-03-05"), _at("/b", "date", "2024-03-07T10:00:00Z")]
    assert _told(values, "interval") == ["/a and /b lie 2 days apart"]


def test_no_fact_holds_a_value() -> None:
    values = [_at("/a", "email", "jane.doe@corp.test"), _at("/b", "email", "JANE.DOE@corp.test")]
    assert "jane" not in "".join(f"{fact}{fact!r}" for fact in facts(values)).lower()


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("id", ["a-1001", "a-1001"], ["x-5001", "x-5002"]),
        ("id", ["a-1001", "a-1002"], ["x-5001", "x-5001"]),
        ("id", ["a-1001", "a-1002"], ["x-5002", "x-5001"]),
        ("email", ["a@x.test", "b@x.test"], ["q@k.test", "r@m.test"]),
        ("date", ["2024-03-05", "2024-03-07"], ["2023-03-05", "2023-03-08"]),
    ],
)
def test_a_lost_relation_is_noticed(kind: Kind, before: list[str], after: list[str]) -> None:
    assert lost(_facts(kind, before), _facts(kind, after))


def _facts(kind: Kind, texts: list[str]) -> tuple[Fact, ...]:
    return facts([_at(f"/o/{place}", kind, text) for place, text in enumerate(texts)])


POOL: list[tuple[Kind, str]] = [
    ("email", "jane.doe@corp.test"),
    ("email", "JANE.DOE@corp.test"),
    ("email", "jane.doe+x@corp.test"),
    ("email", "doe@shop.test"),
    ("person", "Jane Doe"),
    ("person", "jane  doe"),
    ("person", "John Doe"),
    ("username", "jane_doe"),
    ("id", "jane_doe_17"),
    ("id", "1001"),
    ("id", "1002"),
    ("id", "ord-9"),
    ("id", "ord-8"),
    ("card", "4111111111111111"),
    ("card", "4111 1111 1111 1111"),
    ("phone", "+1 212 867 5309"),
    ("phone", "+12128675309"),
    ("date", "2024-03-05"),
    ("date", "7 March 2024"),
    ("uuid", "0f8fad5b-d9cb-469f-a165-70867728950e"),
    ("secret", "hunter2-and-more"),
]


@given(chosen=st.lists(st.sampled_from(POOL), min_size=1, max_size=40), key=st.binary(min_size=32, max_size=32))
def test_surrogates_lose_no_relation(chosen: list[tuple[Kind, str]], key: bytes) -> None:
    surrogates = Surrogates(key, chosen)
    before = [_at(f"/{place // 4}/{place}", kind, text) for place, (kind, text) in enumerate(chosen)]
    after = [_at(one.place.pointer, one.kind, surrogates.of(one.kind, one.text)) for one in before]
    assert lost(facts(before), facts(after)) == ()
    assert lost(facts(after), facts(before)) == ()


@given(kind_and_text=st.sampled_from(POOL))
def test_the_canonical_form_is_its_own(kind_and_text: tuple[Kind, str]) -> None:
    kind, text = kind_and_text
    once = canonical(kind, text)
    assert canonical(kind, once) == once
