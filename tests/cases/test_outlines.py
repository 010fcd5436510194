"""What is shown of a capture to everybody who sees it."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from replaycases.cases import captures, evidence, outlines
from replaycases.cases.models import Capture, Origin, Payload
from replaycases.cases.run_labels import in_the_open
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import RunHead
from replaycases.importers.supplied import Supplied
from tests import factories
from tests.importers.transcripts import says, transcript, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def capture() -> Capture:
    project = factories.project()
    return factories.drafted(project, factories.everyone(project))


def test_a_run_is_outlined_without_what_was_said_in_it(capture: Capture) -> None:
    shown = outlines.of_run(capture, 0)
    assert shown.tools == ("find_order", "create_refund", "show_typing")
    assert (shown.record.serving, shown.record.system, shown.record.offered) == (
        {"requested_model": "made-up-1"},
        True,
        None,
    )
    assert "RX-81" not in repr(shown)


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("0af7651916cd43dd8448eb211c80319c", True),
        ("trace 00f067aa0ba902b7", True),
        ("01890a5d-ac96-774b-bcce-b302099a8057 agent-7", False),
        ("01890a5d-ac96-774b-bcce-b302099a8057", True),
        ("run-01ARZ3NDEKTSV4RRFFQ69G5FAV", True),
        ("task_id 12, trial 0", True),
        ("3 HTTP exchanges", True),
        ("Jane Doe", False),
        ("jane-doe-refund-4711", False),
        ("4111111111111111", False),
        ("0049301234567", False),
        ("trace of Jane", False),
        ("", False),
    ],
)
def test_a_run_is_called_by_an_id_or_by_its_place(label: str, shown: bool) -> None:
    head = RunHead(index=7, label=label, source="")
    assert in_the_open(head).label == (label if shown else "run 7")


def test_what_somebody_called_a_run_is_shown_to_nobody_without_a_reason() -> None:
    project = factories.project()
    rows = [
        {"task_id": "Jane Doe", "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}
    ]
    capture = captures.bring(
        factories.everyone(project), project=project, data=json.dumps(rows).encode(), origin=Origin.PASTE
    )
    assert outlines.of_run(capture, 0).head.label == "run 0"
    assert [choice.head.label for choice in outlines.choices(capture)] == ["run 0"]


def test_what_was_outlined_before_is_not_shown_once_it_is_destroyed(capture: Capture) -> None:
    outlines.of_run(capture, 0)
    capture.purged_at = timezone.now()
    with pytest.raises(evidence.EvidenceDestroyed, match="was destroyed on"):
        outlines.of_run(capture, 0)


def test_past_its_time_it_is_read_anew_or_not_at_all(capture: Capture) -> None:
    outlines.of_run(capture, 0)
    past = timezone.now() - timedelta(hours=3)
    evidence.destroy(capture.payload)
    Payload.objects.filter(pk=capture.payload_id).update(purged_at=past)
    capture.expires_at = past
    capture.payload = Payload.objects.get(pk=capture.payload_id)
    with pytest.raises(evidence.EvidenceDestroyed):
        outlines.of_run(capture, 0)


def test_a_run_that_there_is_not_is_refused(capture: Capture) -> None:
    with pytest.raises(ImportRefused, match="there is no run 3"):
        outlines.of_run(capture, 3)


@pytest.mark.parametrize("field", ["leave_out", "optional"])
def test_choices_of_steps_that_there_are_not_do_not_fit(capture: Capture, field: str) -> None:
    shown = outlines.of_run(capture, 0)
    outlines.require_fits(shown, Supplied(**{field: (6,)}))
    with pytest.raises(ImportRefused, match="there is no step 7"):
        outlines.require_fits(shown, Supplied(**{field: (7,)}))


def test_runs_are_offered_with_the_number_of_their_calls(capture: Capture) -> None:
    runs = [json.loads(transcript(user(said), says("Hello."))) for said in ("a", "b")]
    data = json.dumps(runs).encode()
    two = captures.bring(capture.captured_by, project=capture.project, data=data, origin=Origin.PASTE)
    assert [choice.calls for choice in outlines.choices(two)] == [1, 1]


def test_long_lists_of_runs_are_not_counted(capture: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlines, "COUNTED_RUNS", 0)
    assert [choice.calls for choice in outlines.choices(capture)] == [None]
