"""Each string, number and key of a document has one address, and changing it changes nothing else."""

from __future__ import annotations

import pytest

from replaycases.redaction.leaves import KeysCollide, changed, leaves

DOCUMENT = {"a/b": [1, "x", {"c": True, "d": 1.5}], "": None, "e": "x"}


def test_keys_strings_and_numbers_are_leaves_and_true_false_and_null_are_none() -> None:
    assert [(leaf.pointer, leaf.kind, leaf.text) for leaf in leaves(DOCUMENT)] == [
        ("/a~1b", "key", "a/b"),
        ("/a~1b/0", "number", "1"),
        ("/a~1b/1", "string", "x"),
        ("/a~1b/2/c", "key", "c"),
        ("/a~1b/2/d", "key", "d"),
        ("/a~1b/2/d", "number", "1.5"),
        ("/", "key", ""),
        ("/e", "key", "e"),
        ("/e", "string", "x"),
    ]


def test_a_value_knows_the_names_above_it() -> None:
    assert [leaf.keys for leaf in leaves({"a": [{"b": "x"}]}) if leaf.kind == "string"] == [("a", "b")]


def test_a_changed_leaf_keeps_its_type_and_its_neighbours() -> None:
    texts = {("/a~1b/0", False): "7", ("/a~1b/2/d", True): "D", ("/e", False): "y"}
    assert changed(DOCUMENT, texts) == {"a/b": [7, "x", {"c": True, "D": 1.5}], "": None, "e": "y"}


def test_members_keep_their_order_when_one_is_renamed() -> None:
    assert list(changed({"a": 1, "b": 2}, {("/a", True): "z"})) == ["z", "b"]


def test_two_members_never_become_one() -> None:
    with pytest.raises(KeysCollide, match=r"^/in$"):
        changed({"in": {"a": 1, "b": 2}}, {("/in/a", True): "b"})
