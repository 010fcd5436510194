"""Marking what differs, and cutting what is long without hiding the difference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replaycases.web import words

TEXT = st.text(st.sampled_from("ab ,.\n"), max_size=30)


def plain(shown: words.Shown) -> str:
    return "".join(part.text for part in shown.segments)


def unmarked(shown: words.Shown) -> str:
    return "".join(part.text for part in shown.segments if not part.marked)


@given(TEXT, TEXT)
def test_short_texts_are_shown_whole_whatever_is_marked(old: str, new: str) -> None:
    left, right = words.differing(old, new)
    assert (plain(left), plain(right)) == (old, new)
    assert (left.cut, right.cut) == (0, 0)


@given(TEXT, TEXT)
def test_what_is_not_marked_is_the_same_but_for_white_space(old: str, new: str) -> None:
    left, right = words.differing(old, new)
    assert unmarked(left).split() == unmarked(right).split() or "".join(unmarked(left).split()) == "".join(
        unmarked(right).split()
    )


@given(TEXT, TEXT)
def test_texts_that_differ_have_a_mark(old: str, new: str) -> None:
    marked = any(part.marked for side in words.differing(old, new) for part in side.segments)
    assert marked is (old != new)


def test_a_phrase_is_marked_as_one() -> None:
    left, _ = words.differing("it has been completed now", "it is open now")
    assert [part.text for part in left.segments if part.marked] == ["has been completed"]


def test_a_long_text_is_cut_to_a_window_that_holds_the_first_difference() -> None:
    same = "x" * 50_000
    left, right = words.differing(f"{same} old {same}", f"{same} new {same}")
    assert "old" in plain(left)
    assert "new" in plain(right)
    assert left.cut == 100_005
    assert left.skipped == 50_001 - words.LEAD
    assert len(plain(left)) == words.SHOWN


def test_texts_of_too_many_words_differ_as_a_whole() -> None:
    left, _ = words.differing("a " * 1_999, "b " * 1_999)
    assert [part.marked for part in left.segments] == [True]


def test_values_side_by_side_are_laid_out_alike() -> None:
    short, long = words.as_texts({"a": 1}, {"a": 1, "b": "x" * 80})
    assert short == '{\n  "a": 1\n}'
    assert long.startswith('{\n  "a": 1,')
    assert words.as_text({"a": 1}) == '{"a": 1}'


def test_of_a_long_text_a_cell_shows_its_beginning_or_what_is_around_the_first_mark() -> None:
    assert words.brief(words.whole("x" * words.BRIEF)) is None
    short = words.brief(words.whole("a" + "x" * 2_000))
    assert short is not None
    assert (short.length, short.cut, short.skipped, short.segments[0].text[0]) == (words.BRIEF, 2_001, 0, "a")
    left, right = words.differing("x " * 700 + "old" + " y" * 300 + " more", "x " * 700 + "new" + " y" * 300 + " else")
    for side, word in ((left, "old"), (right, "new")):
        around = words.brief(side)
        assert around is not None
        assert [segment.text for segment in around.segments if segment.marked] == [word]
        assert (around.skipped, side.marks) == (1_400 - words.BRIEF_LEAD, 2)
