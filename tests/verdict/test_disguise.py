from __future__ import annotations

import pytest

from replaycases.verdict.disguise import undisguised, without_tags


@pytest.mark.parametrize(
    "disguised",
    [
        "d\u043ene",
        "do\u200bne",
        "d\u00adone",
        "do\u0336ne",
        "d\u03bfne",
        "\uff44\uff4f\uff4e\uff45",
        "**do**_ne_",
        "d<b class='x'>on</b>e",
        "  done\n",
        "\U0001d41d\U0001d428\U0001d427\U0001d41e",
    ],
)
def test_a_disguise_is_taken_off(disguised: str) -> None:
    assert undisguised(disguised) == "done"


@pytest.mark.parametrize("message", ["done", "remboursé à 10 €", "返金は完了しました", "لم يتم التأكيد"])
def test_a_message_without_one_stays_as_it_is(message: str) -> None:
    assert undisguised(message) == message


def test_a_run_of_white_space_is_one_space() -> None:
    assert undisguised("it\u00a0 is\n\ndone") == "it is done"


def test_what_stands_within_tags_and_comments_is_left_out() -> None:
    assert without_tags("a<!-- hidden -->b <i title='hidden'>c</i> 1 < 2") == "ab c 1 < 2"
