"""A surrogate stands for one value, looks like its kind, belongs to nobody, and tells nothing of what it replaces."""

from __future__ import annotations

import itertools
import re
import uuid
from datetime import date
from ipaddress import IPv4Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.redaction.canonical import canonical
from replaycases.redaction.check_digits import luhn_digit
from replaycases.redaction.places import Kind
from replaycases.redaction.surrogates import dates
from replaycases.redaction.surrogates.draws import Draw
from replaycases.redaction.surrogates.ids import split
from replaycases.redaction.surrogates.ranks import by_rank
from replaycases.redaction.surrogates.shapes import ip
from replaycases.redaction.surrogates.surrogates import NoSurrogate, Surrogates

KEY = bytes(range(32))

POOLS: dict[Kind, list[str]] = {
    "email": ["jane@corp.test", "Jane@Corp.test", "jane+a@corp.test", "doe@corp.test", "jane@shop.test"],
    "person": ["Jane Doe", "jane doe", "Doe", "J. Doe", "Jane Roe"],
    "username": ["jane", "jdoe", "jane77", "JANE"],
    "card": ["4111 1111 1111 1111", "4111111111111111", "5500-0000-0000-0004", "340000000000009"],
    "phone": ["+1 (212) 867-5309", "212-867-5309", "+44 7911 123456", "+49 30 901820"],
    "iban": ["DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "GB29NWBK60161331926819"],
    "ssn": ["078-05-1120", "078051120", "219-09-9999"],
    "ip": ["10.0.0.1", "10.0.0.2", "203.0.113.7", "2001:db8::1"],
    "uuid": ["0f8fad5b-d9cb-469f-a165-70867728950e", "0F8FAD5B-D9CB-469F-A165-70867728950E"],
    "id": ["1", "2", "10", "11", "12", "cus_Ab12Cd34", "cus_Ab12Cd35", "ord-1001", "ord-1002", "1001"],
    "opaque_id": ["f3a9c1d0e5b74412", "1001", "zz9Q-0Ak2"],
    "secret": ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", "sk-proj-aaaabbbbccccdddd", "hunter2", "hunter22"],
    "text": ["my dog is ill", "my cat is ill"],
}
values = st.sampled_from(sorted(POOLS)).flatmap(lambda kind: st.tuples(st.just(kind), st.sampled_from(POOLS[kind])))


@given(chosen=st.lists(values, min_size=1, max_size=30), key=st.binary(min_size=32, max_size=32))
def test_two_values_never_get_one_surrogate_and_one_value_never_gets_two(
    chosen: list[tuple[Kind, str]], key: bytes
) -> None:
    surrogates = Surrogates(key, chosen)
    by_value: dict[tuple[str, str], set[str]] = {}
    for kind, text in chosen:
        by_value.setdefault((kind, canonical(kind, text)), set()).add(canonical(kind, surrogates.of(kind, text)))
    assert all(len(made) == 1 for made in by_value.values())
    made = [next(iter(texts)).casefold() for texts in by_value.values()]
    assert len(set(made)) == len(made)


@given(chosen=st.lists(values, min_size=1, max_size=30))
def test_no_surrogate_is_or_holds_an_original(chosen: list[tuple[Kind, str]]) -> None:
    surrogates = Surrogates(KEY, chosen)
    for made in {surrogates.of(kind, text).casefold() for kind, text in chosen}:
        for _, original in chosen:
            assert made != original.casefold()
            assert len(original) < 4 or original.casefold() not in re.split(r"[\W_]", made)
            assert len(original) < 8 or original.casefold() not in made


@given(chosen=st.permutations(POOLS["email"] + POOLS["opaque_id"]))
def test_the_order_in_which_values_are_met_decides_nothing(chosen: list[str]) -> None:
    kinds: list[tuple[Kind, str]] = [("email" if "@" in text else "opaque_id", text) for text in chosen]
    met = Surrogates(KEY, kinds)
    in_order = Surrogates(KEY, kinds)
    made = {text: met.of(kind, text) for kind, text in kinds}
    assert {text: in_order.of(kind, text) for kind, text in sorted(kinds)} == made


def test_a_surrogate_never_equals_a_text_that_stays() -> None:
    first = Surrogates(KEY, [("id", "7")]).of("id", "7")
    assert Surrogates(KEY, [("id", "7")], present=[first]).of("id", "7") != first


def test_a_surrogate_that_a_scanner_would_take_for_real_is_drawn_again() -> None:
    first = Surrogates(KEY, [("card", "4111111111111111")]).of("card", "4111111111111111")
    second = Surrogates(KEY, [("card", "4111111111111111")], is_suspect=lambda kind, text: text == first)
    assert second.of("card", "4111111111111111") != first


def test_where_none_is_free_the_refusal_names_no_value() -> None:
    surrogates = Surrogates(KEY, [("secret", "hunter2-long")], is_suspect=lambda kind, text: True)
    with pytest.raises(NoSurrogate) as refused:
        surrogates.of("secret", "hunter2-long")
    assert "hunter2" not in str(refused.value)


def test_another_key_gives_other_surrogates() -> None:
    value: tuple[Kind, str] = ("email", "jane@corp.test")
    assert Surrogates(KEY, [value]).of(*value) != Surrogates(KEY[::-1], [value]).of(*value)


def test_a_name_its_mailbox_and_its_family_stay_related() -> None:
    values: list[tuple[Kind, str]] = [("person", "Jane Doe"), ("email", "jane.doe@corp.test"), ("person", "John Doe")]
    surrogates = Surrogates(KEY, values)
    first, family = surrogates.of("person", "Jane Doe").split()
    assert surrogates.of("email", "jane.doe@corp.test").split("@")[0] == f"{first}.{family}".lower()
    assert surrogates.of("person", "John Doe").split()[1] == family


def test_mailboxes_of_one_domain_stay_in_one_domain_that_nobody_owns() -> None:
    surrogates = Surrogates(KEY, [])
    domains = [surrogates.of("email", text).split("@")[1] for text in ("a.b@corp.test", "c.d@corp.test", "a.b@x.test")]
    assert domains[0] == domains[1] != domains[2]
    assert all(domain.endswith(".example") for domain in domains)


def test_a_tag_stays_a_tag_of_the_same_mailbox() -> None:
    surrogates = Surrogates(KEY, [])
    base = surrogates.of("email", "jane@corp.test").split("@")[0]
    assert re.fullmatch(rf"{base}\+[a-z]+", surrogates.of("email", "jane+news@corp.test").split("@")[0])


@pytest.mark.parametrize("text", POOLS["card"])
def test_a_card_keeps_its_length_and_grouping_and_passes_the_check_digit(text: str) -> None:
    made = Surrogates(KEY, []).of("card", text)
    digits = re.sub("[^0-9]", "", made)
    assert re.sub("[0-9]", "0", made) == re.sub("[0-9]", "0", text)
    assert luhn_digit(digits[:-1]) == digits[-1]


@pytest.mark.parametrize("text", POOLS["iban"])
def test_an_iban_keeps_its_country_and_grouping_and_passes_mod_97(text: str) -> None:
    made = Surrogates(KEY, []).of("iban", text)
    bare = made.replace(" ", "")
    assert made[:2] == text[:2]
    assert int("".join(str(int(character, 36)) for character in bare[4:] + bare[:4])) % 97 == 1
    assert [len(part) for part in made.split()] == [len(part) for part in text.split()]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("+1 (212) 867-5309", r"\+1 \(\d{3}\) 555-01\d\d"),
        ("212-867-5309", r"\d{3}-555-01\d\d"),
        ("+44 7911 123456", r"\+44 7700 900\d\d\d"),
        ("+49 30 901820", r"\+49 55 5\d{5}"),
    ],
)
def test_a_phone_keeps_its_country_and_form_in_a_range_for_fiction(text: str, form: str) -> None:
    assert re.fullmatch(form, Surrogates(KEY, []).of("phone", text))


def test_a_uuid_keeps_version_variant_and_case() -> None:
    text = "0F8FAD5B-D9CB-469F-A165-70867728950E"
    made = Surrogates(KEY, []).of("uuid", text)
    assert (uuid.UUID(made).version, uuid.UUID(made).variant, made.upper()) == (4, uuid.UUID(text).variant, made)


addresses = st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=2, unique=True)


def _common_bits(first: int, second: int) -> int:
    return 32 - (first ^ second).bit_length()


@given(pair=addresses)
def test_two_addresses_share_as_many_leading_bits_as_before(pair: list[int]) -> None:
    before = [IPv4Address(number) for number in pair]
    if any(address in ip_network("100.64.0.0/10") or address.is_private or address.is_link_local for address in before):
        return
    after = [IPv4Address(ip(str(address), KEY)) for address in before]
    assert _common_bits(int(after[0]), int(after[1])) == _common_bits(*pair)


def test_a_private_address_stays_in_its_network() -> None:
    assert ip("192.168.7.9", KEY).startswith("192.168.")


ids = st.lists(st.integers(0, 40), min_size=1, max_size=20, unique=True)


@given(numbers=ids, width=st.integers(2, 6))
def test_ranked_ids_keep_order_width_and_start(numbers: list[int], width: int) -> None:
    texts = sorted(f"ord-{number:0{width}}" for number in numbers)
    ranked = by_rank(KEY, texts)
    assert [ranked[text] for text in texts] == sorted(ranked.values())
    assert all(re.fullmatch(rf"[0-9]{{{width}}}", made) for made in ranked.values())
    assert len(set(ranked.values())) == len(texts)


def test_an_id_keeps_a_prefix_that_issuers_use_and_no_other_word() -> None:
    values: list[tuple[Kind, str]] = [("id", "cus_Ab12Cd34"), ("id", "jane_doe_4739"), ("person", "Jane Doe")]
    surrogates = Surrogates(KEY, values)
    assert re.fullmatch(r"cus_[A-Z][a-z]\d\d[A-Z][a-z]\d\d", surrogates.of("id", "cus_Ab12Cd34"))
    first, family = surrogates.of("person", "Jane Doe").lower().split()
    assert re.fullmatch(rf"{first}_{family}_\d{{4}}", surrogates.of("id", "jane_doe_4739"))


@pytest.mark.parametrize(
    "text",
    ["2024-03-05", "2024-03-05T10:00:00Z", "5 March 2024", "March 5th, 2024", "05/03/2024", "MAR 05 2024", "2024/3/5"],
)
def test_a_date_moves_by_whole_weeks_in_its_own_form(text: str) -> None:
    moved = dates.moved(text, 30)
    day = dates.parsed(moved)
    assert day is not None
    assert (date(2024, 3, 5) - day).days == 210
    assert _form(moved) == _form(text)


def _form(text: str) -> str:
    return re.sub("[A-Za-z]+", "a", re.sub("[0-9]+", "0", text))


def test_dates_keep_their_distance_and_none_becomes_another() -> None:
    texts = ["2024-03-05", "2024-03-07", "2023-09-05"]
    surrogates = Surrogates(KEY, [("date", text) for text in texts])
    moved = [dates.parsed(surrogates.of("date", text)) for text in texts]
    before = [dates.parsed(text) for text in texts]
    for one, other in itertools.combinations(range(3), 2):
        assert moved[one] - moved[other] == before[one] - before[other]  # type: ignore[operator]
    assert not set(moved) & set(before)


def test_a_draw_is_even() -> None:
    draw = Draw(KEY, "even")
    counts = [0] * 7
    for _ in range(7000):
        counts[draw.below(7)] += 1
    assert all(850 < count < 1150 for count in counts)


def test_two_domains_never_become_one() -> None:
    domains = [f"corp{number}.test" for number in range(12)] + ["corp.test", "corp.example", "--.test", "--.example"]
    mailboxes = [f"jane@{domain}" for domain in domains]
    surrogates = Surrogates(KEY, [("email", text) for text in mailboxes])
    assert len({surrogates.of("email", text).rpartition("@")[2] for text in mailboxes}) == len(domains)


def test_names_that_differ_in_their_digits_stay_one_name() -> None:
    names = [f"jane{number}" for number in range(9)]
    surrogates = Surrogates(KEY, [("username", text) for text in names])
    made = {surrogates.of("username", text) for text in names}
    assert len(made) == len(names)
    assert len({text.rstrip("0123456789") for text in made}) == 1


@pytest.mark.parametrize(
    "texts",
    [
        ["2222#1", "2222#2", "2222#3"],
        ["a1b-1001", "a1b-1002", "b1c-1001", "1001", "1002"],
        ["4711-0001", "4711-0002", "0001", "0002", "4711"],
    ],
)
def test_ids_keep_their_order_whatever_they_begin_with(texts: list[str]) -> None:
    surrogates = Surrogates(KEY, [("id", text) for text in texts])
    made = {text: surrogates.of("id", text) for text in texts}
    for one, other in itertools.combinations(sorted(texts), 2):
        if split(one)[0] == split(other)[0] and len(one) == len(other):
            assert split(made[one])[0] == split(made[other])[0]
            assert made[one] < made[other]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1957-11-21", r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
        ("21/11/1957", r"[0-9]{2}/[0-9]{2}/[0-9]{4}"),
        ("1957-11-21T10:00:00Z", r"[0-9]{4}-[0-9]{2}-[0-9]{2}T10:00:00Z"),
    ],
)
def test_a_date_in_two_digits_stays_one_in_two_digits(text: str, form: str) -> None:
    assert all(re.fullmatch(form, dates.moved(text, weeks)) for weeks in range(dates.FEWEST, dates.MOST))
