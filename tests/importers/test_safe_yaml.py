from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from replaycases.importers import safe_yaml
from replaycases.importers.safe_yaml import YamlRefused, parse_yaml

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXTS | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@given(VALUES)
def test_what_yaml_writes_is_read_again(value: Any) -> None:
    assert parse_yaml(yaml.safe_dump(value, allow_unicode=True).encode()) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"a: 2001-01-01", {"a": "2001-01-01"}),
        (b"a: 99999999999999999999", {"a": "99999999999999999999"}),
        (b"a: .nan", {"a": ".nan"}),
        (b"a: 0.12345678901234567890123", {"a": "0.12345678901234567890123"}),
        (b"a: 1.10", {"a": 1.1}),
        (b"1: x", {"1": "x"}),
        (b"a: !!timestamp 2001-01-01", {"a": "2001-01-01"}),
        (b"a: !!python/unicode x", {"a": "x"}),
    ],
)
def test_what_json_cannot_hold_stays_the_text_that_it_is(text: bytes, value: Any) -> None:
    assert parse_yaml(text) == value


def test_aliases_and_merge_keys_stand_for_what_they_name() -> None:
    text = b"a: &x {k: 1, l: 2}\nb: {<<: *x, l: 3}\nc: [*x]\n"
    assert parse_yaml(text) == {"a": {"k": 1, "l": 2}, "b": {"k": 1, "l": 3}, "c": [{"k": 1, "l": 2}]}


def test_a_recorded_file_is_its_content() -> None:
    text = b'a: !!python/object/new:_io.BytesIO\n  state: !!python/tuple [!!binary "YWI=", 0, null]\n'
    assert parse_yaml(text) == {"a": b"ab"}


@pytest.mark.parametrize("tag", ["python/object/apply:os.mkdir", "python/object/new:os.mkdir", "python/name:os.mkdir"])
def test_a_tag_that_names_code_is_refused_and_nothing_is_run(tag: str, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    with pytest.raises(YamlRefused, match="names code"):
        parse_yaml(f'a: !!{tag} ["{folder}"]\n'.encode())
    assert not folder.exists()


LAUGHS = b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 12)
)
MERGES = b"a0: &a0 {x: 1}\n" + b"".join(b"a%d: &a%d {<<: [*a%d, *a%d]}\n" % (n, n, n - 1, n - 1) for n in range(1, 60))


@pytest.mark.parametrize("text", [LAUGHS, MERGES], ids=["aliases", "merges"])
def test_aliases_that_grow_without_end_are_refused(text: bytes) -> None:
    with pytest.raises(YamlRefused, match="written out"):
        parse_yaml(text)


def test_a_large_text_is_counted_each_time_that_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_yaml, "MAX_SIZE", 1000)
    assert len(parse_yaml(b"a: &a " + b"x" * 200 + b"\nb: [*a, *a]\n")["b"]) == 2
    with pytest.raises(YamlRefused, match="characters"):
        parse_yaml(b"a: &a " + b"x" * 200 + b"\nb: [*a, *a, *a, *a, *a]\n")


def test_too_many_nodes_are_refused_before_they_are_all_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_yaml, "MAX_NODES", 100)
    with pytest.raises(YamlRefused, match="100 nodes"):
        parse_yaml(b"[" + b"1," * 200 + b"{]")


@pytest.mark.parametrize(
    "text",
    [b"", b"a: 1\n--- \nb: 1", b"&a [*a]", b"[" * 130 + b"]" * 130, b"[" * 50_000, b"a: 1\na: 2", b"? [1]\n: 2",
     b"<<: 1", b"*a", b"a: !!binary \xc3\xa4", b"a: !u 1", b"a: \x00", b"\xff\xfe", b"a: [", b"%YAML 9.9\n---\na"],
)  # fmt: skip
def test_what_is_no_single_plain_document_is_refused(text: bytes) -> None:
    with pytest.raises(YamlRefused):
        parse_yaml(text)


@given(st.binary(max_size=40) | st.text("[]{}&*!<>|:-?,'\"#% \nab1", max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused_and_nothing_else(data: bytes) -> None:
    why = "read"
    try:
        parse_yaml(data)
    except YamlRefused as refused:
        why = str(refused)
    assert why
