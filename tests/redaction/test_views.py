"""Every layer that a value can hide under is read, and a replacement is written back in the layer's own way."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus, unquote, unquote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.redaction.views.edits import Edit, edited
from replaycases.redaction.views.tree import ALWAYS, SPREAD, Reading, read
from replaycases.redaction.views.view import View

VALUE = "jané@corp.test"
SUBSTITUTE = "member-7@shop.example"

Layer = tuple[Callable[[str], str], Callable[[str], str]]


def _wrapped(text: str) -> str:
    return base64.encodebytes(text.encode()).decode().rstrip("\n")


LAYERS: dict[str, Layer] = {
    "json": (lambda text: json.dumps({"a": [1, text]}), lambda text: json.loads(text)["a"][1]),
    "json in Unicode": (
        lambda text: json.dumps({"é/": text}, ensure_ascii=False, indent=1),
        lambda text: json.loads(text)["é/"],
    ),
    "escapes": (lambda text: "log: " + json.dumps(text), lambda text: json.loads(text[5:])),
    "percent": (lambda text: "https://x.test/?u=" + quote(text, safe=""), lambda text: unquote(text[18:])),
    "form": (lambda text: "/?q=" + quote_plus(text), lambda text: unquote_plus(text[4:])),
    "entities": (lambda text: "<p>" + html.escape(text) + "&nbsp;</p>", lambda text: html.unescape(text[3:-10])),
    "base64": (
        lambda text: "data " + base64.b64encode(text.encode()).decode(),
        lambda text: base64.b64decode(text[5:]).decode(),
    ),
    "base64url": (
        lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
        lambda text: base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode(),
    ),
    "base64 in lines": (_wrapped, lambda text: base64.b64decode(text).decode()),
    "hex": (lambda text: text.encode().hex(), lambda text: bytes.fromhex(text).decode()),
}

chains = st.lists(st.sampled_from(sorted(LAYERS)), min_size=0, max_size=4)
surroundings = st.text(alphabet='ab é/?&%+<"\\\n0', max_size=12)


def _found(reading: Reading, value: str) -> list[tuple[View, int]]:
    pattern = re.compile(re.escape(value))
    return [(view, match.start()) for view in reading.root.walk() for match in pattern.finditer(view.text)]


@given(chain=chains, before=surroundings, after=surroundings)
def test_a_value_under_any_four_layers_is_found_and_replaced_without_touching_what_stands_beside_it(
    chain: list[str], before: str, after: str
) -> None:
    text = f"{before} {VALUE} {after}"
    for layer in chain:
        text = LAYERS[layer][0](text)

    reading = read(text)
    edits = [(view, Edit(start=at, end=at + len(VALUE), replacement=SUBSTITUTE)) for view, at in _found(reading, VALUE)]
    assert edits

    result = edited(reading.root, edits)
    assert not _found(read(result), VALUE)
    for layer in reversed(chain):
        result = LAYERS[layer][1](result)
    assert result == f"{before} {SUBSTITUTE} {after}"


@given(text=st.text(alphabet=st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"]), max_size=60))
def test_a_text_without_edits_comes_back_character_for_character(text: str) -> None:
    assert edited(read(text).root, []) == text


@pytest.mark.parametrize(
    ("hidden", "how"),
    [
        ("ja\u200bné@cor\u00adp.test", "zero-width and soft hyphens"),
        ("ｊａｎｅ́@corp.test", "full width and a combining accent"),
        ("\u202ejané@corp.test", "a change of direction before it"),
        ("jan\\xe9\\u0040corp.test", "escapes of Python"),
        ("jan&eacute;&#64;corp.test", "named and numbered entities"),
        ("jan%C3%A9@corp%2Etest", "a needless percent"),
    ],
)
def test_a_disguised_value_is_found_and_replaced_whole(hidden: str, how: str) -> None:
    reading = read(f"to {hidden}, today")
    found = _found(reading, VALUE)
    assert found, how

    edits = [(view, Edit(start=at, end=at + len(VALUE), replacement=SUBSTITUTE)) for view, at in found]
    result = edited(reading.root, edits)
    assert result.replace("%40", "@").replace("\u202e", "") == f"to {SUBSTITUTE}, today"


@pytest.mark.parametrize("charset", ["utf-8", "latin-1", "utf-16-le", "utf-16-be"])
def test_a_block_is_encoded_again_in_its_own_charset(charset: str) -> None:
    text = "\x1b[1mto jane@corp.test, né, today"
    reading = read(text.encode(charset).hex())
    [(view, at)] = _found(reading, "jane@corp.test")
    result = edited(reading.root, [(view, Edit(start=at, end=at + 14, replacement=SUBSTITUTE))])
    assert bytes.fromhex(result).decode(charset) == text.replace("jane@corp.test", SUBSTITUTE)


def test_two_equal_strings_in_nested_json_are_both_read() -> None:
    reading = read(json.dumps(["jan%C3%A9@corp.test", "jan%C3%A9@corp.test"]))
    assert [view.path for view, _ in _found(reading, VALUE)] == [("json:/0", "percent"), ("json:/1", "percent")]


def test_nested_json_names_the_keys_above_a_value() -> None:
    [view] = [view for view in read('{"auth": {"token": ["x"]}}').root.walk() if view.text == "x"]
    assert (view.keys, view.path) == (("auth", "token"), ("json:/auth/token/0",))


def test_both_members_of_one_name_are_read() -> None:
    views = [view.text for view in read('{"a": "first", "a": "second"}').root.walk()]
    assert {"first", "second"} <= set(views)


def test_white_space_order_and_numbers_of_nested_json_stay() -> None:
    text = '{ "b" : 1.50,\t"a":"jan\\u00e9@corp.test" , "b":1e3 }'
    reading = read(text)
    [(view, at)] = _found(reading, VALUE)
    result = edited(reading.root, [(view, Edit(start=at, end=at + len(VALUE), replacement="x"))])
    assert result == '{ "b" : 1.50,\t"a":"x" , "b":1e3 }'


def test_of_two_overlapping_edits_the_longer_one_covers_both() -> None:
    root = read("call jane doe smith now").root
    edits = [
        (root, Edit(start=5, end=13, replacement="AAAA")),
        (root, Edit(start=10, end=19, replacement="BBBB")),
    ]
    assert edited(root, edits) == edited(root, edits[::-1]) == "call BBBB now"


def test_edits_that_only_touch_stay_two() -> None:
    root = read("abcd").root
    edits = [(root, Edit(start=0, end=2, replacement="1")), (root, Edit(start=2, end=4, replacement="2"))]
    assert edited(root, edits) == "12"


def test_what_lies_under_five_layers_is_said_to_be_unread() -> None:
    text = "some text that is long enough"
    for _ in range(5):
        text = base64.b64encode(text.encode()).decode()
    [unread] = read(text).unread
    assert (unread.view.depth, unread.reason) == (4, "more than four encodings deep")


def test_a_bomb_is_read_to_a_multiple_of_its_size_and_the_rest_is_said_to_be_unread() -> None:
    text = "%26amp%3B" * 2_000
    for _ in range(3):
        text = text.replace("%", "%25")
    reading = read("&amp;" + text)
    assert sum(len(view.text) for view in reading.root.walk()) <= (SPREAD + 1) * max(len(text) + 5, ALWAYS)


def test_json_that_nests_without_end_is_said_to_be_unread() -> None:
    [unread] = read("[" * 5000 + "]" * 5000).unread
    assert unread.reason == "nests too deep"


@pytest.mark.parametrize("octets", [bytes(range(128, 256)) * 2, b"\x1f\x8b" + bytes(range(256))])
def test_a_long_block_that_holds_no_text_is_said_to_be_unread(octets: bytes) -> None:
    [unread] = read("blob: " + base64.b64encode(octets).decode()).unread
    assert (unread.start, unread.reason) == (6, "looks encoded and holds no text")


@pytest.mark.parametrize(
    "text",
    [
        "a" * 500,
        "=" * 500,
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "call_9aGx0CqWcQyAmEkSjUZ4Lw1B",
        "https://x.test/some/long/path/that/is/no/base64/at/all",
    ],
)
def test_words_rulers_digests_and_ids_are_no_blocks(text: str) -> None:
    reading = read(text)
    assert (list(reading.unread), list(reading.root.children)) == ([], [])
