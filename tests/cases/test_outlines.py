"""What is shown of a capture to everybody who sees it."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from replaycases.cases import captures, evidence, kept_outlines, outlines
from replaycases.cases.models import Capture, Classification, Origin, Payload
from replaycases.cases.run_labels import in_the_open
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import NeutralRun, RunHead
from replaycases.importers.registry import Recording, no_such_run, open_recording
from replaycases.importers.supplied import Supplied
from tests import factories
from tests.api.otlp_requests import OTHER, chat, request, span
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


def two_runs(capture: Capture) -> tuple[Capture, bytes]:
    """Another capture, of two traces."""
    spans = [chat(1), chat(2), span(3, parent=1, error=True), chat(4, trace=OTHER)]
    data = json.dumps(request(*spans)).encode()
    return captures.bring(capture.captured_by, project=capture.project, data=data, origin=Origin.PASTE), data


def test_what_is_shown_is_kept_sealed_with_the_capture_and_its_file_is_not_read_for_it(
    capture: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    two, data = two_runs(capture)
    monkeypatch.delattr(outlines, "open_recording")
    shown = [outlines.of_run(two, run) for run in (0, 1)]
    recording = open_recording(data)
    assert shown == [outlines._outline(in_the_open(head), recording.read(head.index)) for head in recording.runs]
    assert [choice.calls for choice in outlines.choices(two)] == [2, 1]
    assert shown[0].steps[0].started_at is not None
    kept = Payload.objects.get(pk=two.outline_id)
    assert (kept.classification, kept.expires_at) == (Classification.QUARANTINED, two.expires_at)


def test_what_another_version_made_is_made_anew_once(capture: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = outlines.of_run(capture, 0)
    former = capture.outline_id
    monkeypatch.setattr(kept_outlines, "made_by", lambda: "another version")
    assert outlines._kept(capture.pk) == outlines._kept(capture.pk)
    outlines._remembered.cache_clear()
    monkeypatch.delattr(outlines, "open_recording")
    assert outlines.of_run(capture, 0) == shown
    capture.refresh_from_db()
    assert capture.outline_id != former
    assert not Payload.objects.filter(pk=former).exists()


def test_a_run_for_whose_outline_there_is_no_room_is_read_again(
    capture: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlines, "MOST_BYTES", 0)
    two, _ = two_runs(capture)
    assert [len(outlines.of_run(two, run).steps) for run in (0, 1)] == [2, 1]
    assert [choice.calls for choice in outlines.choices(two)] == [2, 1]


def test_why_a_run_cannot_be_read_is_kept_too(capture: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Recording.read
    refusal = no_such_run(7, 7)

    def half(recording: Recording, run: int) -> NeutralRun:
        if run:
            raise refusal
        return read(recording, run)

    monkeypatch.setattr(Recording, "read", half)
    two, _ = two_runs(capture)
    assert [choice.refused for choice in outlines.choices(two)] == ["", str(refusal)]
    with pytest.raises(ImportRefused) as again:
        outlines.of_run(two, 1)
    assert again.value.finding == refusal.finding
