"""A statement that cannot be decided is refused with what is missing; an honest one passes in any language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.cases.demo import INCIDENTS
from replaycases.cases.failure_statement import PARTS, faults

GOOD = ("The lookup gave no state.", "The reply says that the refund was completed.", "The state was unknown.")
NAMES = ("trigger", "prohibited_outcome", "deciding_evidence")


def faults_of(name: str, text: str) -> dict[str, str]:
    return faults(**{**dict(zip(NAMES, GOOD, strict=True)), name: text})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "...",
        "\u200b\u200b",
        "n/a",
        "N/A.",
        "tbd",
        "bad output",
        "Refund wrong",
        "the answer was bad",
        "The answer was really bad!",
        "It went wrong",
        "it didn’t work",
        "The agent failed again",
        "something happened here",
        "see ticket",
        "See INC-1042 for details",
        "see https://tracker.example/INC-1042 please",
        "as described in the incident above",
        "bad bad bad bad",
        "回答很差",
        "它出错了",
    ],
)
def test_a_part_that_says_nothing_is_refused_by_name(name: str, text: str) -> None:
    found = faults_of(name, text)
    assert list(found) == [name]
    assert found[name].startswith(PARTS[name].name)
    assert PARTS[name].asks in found[name]
    assert PARTS[name].example in found[name]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    [
        "The state was unknown.",
        "The wrong customer was refunded.",
        "The agent did not answer.",
        "See the final message and call 2.",
        "The bad address was confirmed.",
        "Hyvitys luvattiin ilman vahvistusta.",
        "Die Antwort behauptet, die Erstattung sei abgeschlossen.",
        "La réponse affirme que le remboursement est terminé.",
        "Ответ утверждает, что возврат выполнен.",
        "يقول الرد إن المبلغ قد أعيد.",
        "ההודעה אומרת שההחזר הושלם.",
        "उत्तर कहता है कि धनवापसी पूरी हो गई।",
        "回复说退款已经完成。",
        "返金が完了したと答えた。",
        "환불이 완료되었다고 답했다.",
        "คำตอบบอกว่าคืนเงินแล้ว",
        "Trả lời nói rằng đã hoàn tiền.",
    ],
)
def test_an_honest_part_passes_in_any_language(name: str, text: str) -> None:
    assert faults_of(name, text) == {}


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.name)
def test_the_demo_says_what_it_means(incident: object) -> None:
    assert faults(**{name: getattr(incident, name) for name in NAMES}) == {}


def test_every_part_is_told_apart() -> None:
    found = faults("", "the answer was bad", "see ticket")
    assert list(found) == list(NAMES)
    assert "nothing is said" in found["trigger"]
    assert "judges" in found["prohibited_outcome"]
    assert "points somewhere else" in found["deciding_evidence"]


def test_the_examples_are_good_ones() -> None:
    for name, part in PARTS.items():
        assert faults_of(name, part.example) == {}


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_any_text_has_an_answer(trigger: str, prohibited: str, evidence: str) -> None:
    assert set(faults(trigger, prohibited, evidence)) <= set(NAMES)


@given(st.lists(st.text("αβγδεζηθ", min_size=2, max_size=8), min_size=3, max_size=9, unique=True))
def test_three_words_that_we_do_not_know_are_enough(words: list[str]) -> None:
    assert faults_of("trigger", " ".join(words)) == {}


@given(st.sampled_from(NAMES), st.text(" \t\n.,;-–…!?", max_size=20))
def test_punctuation_alone_says_nothing(name: str, text: str) -> None:
    assert list(faults_of(name, text)) == [name]
