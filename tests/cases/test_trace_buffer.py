from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.utils import timezone

from replaycases.accounts import tokens
from replaycases.accounts.models import ApiToken, Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import capture_rules, captures, decisions, drafts, evidence, people, trace_buffer, trace_captures
from replaycases.cases.models import (
    AuditEvent,
    BufferedTrace,
    Capture,
    CaptureRule,
    Classification,
    DecisionKind,
    DecisionOutcome,
    Origin,
    Payload,
    RuleKind,
    StatementEdit,
    TraceBatch,
    TraceInbox,
)
from replaycases.cases.policies import InvalidTransition
from replaycases.cases.trace_buffer import BufferFull, Received
from replaycases.importers.findings import ImportRefused
from replaycases.importers.otlp import envelope
from tests import factories
from tests.api.otlp_requests import OTHER, TRACE, as_json, as_protobuf, chat, records, span
from tests.cases.test_captures import CHOICES, STATEMENT

pytestmark = pytest.mark.django_db
LATER = timedelta(minutes=10)
KEPT = timedelta(hours=6, minutes=10)


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


def sending(person: User, project: Project) -> User:
    """The person, as a program of theirs that sends."""
    _, secret = people.create_token(person, project=project, name="collector", scopes=["captures"], days=1)
    user = tokens.authenticate(secret)
    assert user is not None
    return user


@pytest.fixture
def sender(of: factories.People) -> User:
    return sending(of.responder, of.project)


@pytest.fixture
def administrator(of: factories.People) -> User:
    return factories.person(of.project, Role.ADMINISTRATOR)


def receive(sender: User, body: bytes, *, protobuf: bool = False, signal: Any = "traces") -> Received:
    assert sender.token is not None
    return trace_buffer.receive(sender, project=sender.token.project, signal=signal, body=body, protobuf=protobuf)


def age(by: timedelta = LATER) -> None:
    for one in BufferedTrace.objects.all():
        one.first_at, one.last_at = one.first_at - by, one.last_at - by
        one.save()


def held() -> set[str]:
    return set(BufferedTrace.objects.values_list("trace_id", flat=True))


def test_what_comes_is_sealed_and_ends_soon(sender: User) -> None:
    receive(sender, as_json(chat(), span(2, trace=OTHER, parent=9)))
    payload = Payload.objects.get()
    assert payload.classification == Classification.QUARANTINED
    assert b"4711" not in bytes(payload.body)
    assert payload.expires_at is not None
    assert payload.expires_at < timezone.now() + timedelta(hours=8)
    ended = dict(BufferedTrace.objects.values_list("trace_id", "ended"))
    assert ended == {TRACE: True, OTHER: False}
    receive(sender, as_json(span(3, trace=OTHER, error=True)))
    told = dict(BufferedTrace.objects.values_list("trace_id", "errors"))
    assert told == {TRACE: 0, OTHER: 1}
    assert set(BufferedTrace.objects.values_list("service", flat=True)) == {"agent"}
    assert not AuditEvent.objects.filter(action__startswith="capture").exists()


def test_the_same_request_again_changes_nothing(sender: User) -> None:
    for _ in range(3):
        assert receive(sender, as_json(chat())) == Received()
    assert TraceBatch.objects.count() == 1
    assert BufferedTrace.objects.get().spans == 1
    assert TraceInbox.objects.get().traces == 1


@pytest.mark.parametrize("form", [as_json, as_protobuf])
def test_a_trace_of_several_requests_is_one_capture_with_each_span_once(
    of: factories.People, sender: User, form: Any
) -> None:
    for body in (form(chat(1)), form(chat(1), span(2, parent=1)), form(span(3, parent=1), span(4, trace=OTHER))):
        receive(sender, body, protobuf=form is as_protobuf)
    for _ in range(2):
        receive(sender, records(times=2), signal="logs")
    capture = trace_captures.capture_trace(of.responder, project=of.project, trace_id=TRACE.upper())
    assert (capture.origin, capture.format, capture.trace_id) == (Origin.OTLP, "otlp", TRACE)
    export = envelope.read_file(evidence.read(capture.payload))
    assert export is not None
    assert sorted(one.span_id[-1] for one in export.spans) == ["1", "2", "3"]
    assert len(export.logs) == 1
    assert capture.captured_by == of.responder
    assert BufferedTrace.objects.get(trace_id=TRACE).capture == capture


def test_of_a_span_that_came_before_it_ended_the_ended_one_is_taken(of: factories.People, sender: User) -> None:
    begun = {**chat(1), "endTimeUnixNano": "0", "name": "begun"}
    for body in (as_json(begun), as_json(chat(1)), as_json({**begun, "name": "begun again"})):
        receive(sender, body)
    export = envelope.read_file(trace_captures.assembled(BufferedTrace.objects.get()))
    assert export is not None
    assert [one.name for one in export.spans] == ["step 1"]


def test_what_names_no_trace_is_counted_as_rejected(sender: User) -> None:
    received = receive(sender, as_json(chat(), span(2, trace=""), span(3, trace="ab")))
    assert received.rejected == 2
    assert "2 without" in received.why
    assert BufferedTrace.objects.get().spans == 1
    receive(sender, as_json(chat(), span(2, trace=""), span(3, trace="ab")))  # again
    receive(sender, as_json(span(4, trace="")))
    assert TraceInbox.objects.get().rejected == 3


@pytest.mark.parametrize("trace", ["z" * 32, "\0" * 32, "a" * 31 + "\u00e9", "a" * 31 + "\ud800"])
def test_what_is_as_long_as_an_id_and_is_none_names_no_trace(sender: User, trace: str) -> None:
    """A database that takes no such text would refuse the whole request."""
    assert receive(sender, as_json(chat(), span(2, trace=trace))).rejected == 1
    assert held() == {TRACE}


def test_a_trace_takes_no_more_than_its_most(sender: User, settings: Any) -> None:
    settings.REPLAYCASES_OTLP_TRACE_SPANS = 2
    receive(sender, as_json(span(1), span(2)))
    received = receive(sender, as_json(span(3), span(1, trace=OTHER)))
    assert received.rejected == 1
    assert dict(BufferedTrace.objects.values_list("trace_id", "spans")) == {TRACE: 2, OTHER: 1}
    assert receive(sender, as_json(span(4))).rejected == 1
    assert TraceInbox.objects.get().rejected == 2


def test_the_oldest_ended_traces_go_first_and_are_counted(sender: User, settings: Any) -> None:
    settings.REPLAYCASES_OTLP_BUFFER_TRACES = 2
    receive(sender, as_json(span(1, trace="0" * 31 + "1", parent=9)))  # goes on
    age()
    receive(sender, as_json(span(1, trace="0" * 31 + "2")))
    receive(sender, as_json(span(1, trace="0" * 31 + "3")))
    assert held() == {"0" * 31 + "1", "0" * 31 + "3"}
    inbox = TraceInbox.objects.get()
    assert (inbox.traces, inbox.dropped) == (2, 1)


def test_no_more_bytes_are_kept_than_the_settings_say(sender: User, settings: Any) -> None:
    settings.REPLAYCASES_OTLP_BUFFER_BYTES = 3000
    for number in range(1, 20):
        receive(sender, as_json(span(1, trace=f"{number:032x}")))
        inbox = TraceInbox.objects.get()
        assert inbox.bytes == Payload.objects.aggregate(bytes=Sum("size"))["bytes"] <= 3000
    assert inbox.traces == BufferedTrace.objects.count() == 19 - inbox.dropped
    assert TraceBatch.objects.count() == Payload.objects.count()


def test_what_a_rule_wants_goes_after_all_others(
    of: factories.People, sender: User, administrator: User, settings: Any
) -> None:
    settings.REPLAYCASES_OTLP_BUFFER_TRACES = 3
    rule(administrator, of, RuleKind.ERROR)
    receive(sender, as_json(span(1, trace="0" * 31 + "1", error=True)))
    for number in (2, 3, 4, 5):
        age()
        receive(sender, as_json(span(1, trace="0" * 31 + f"{number}", error=number == 5)))
    assert {name[-1] for name in held()} == {"1", "4", "5"}
    receive(sender, as_json(*(span(1, trace="1" * 31 + f"{number}") for number in (1, 2))))
    assert {name[-1] for name in held()} == {"5", "1", "2"}


def test_room_for_a_request_is_made_in_few_queries_and_no_more_than_it_needs(
    sender: User, settings: Any, django_assert_max_num_queries: Any
) -> None:
    traces = [as_json(*(span(1, trace=f"{name}{number:031x}") for number in range(300))) for name in "abc"]
    settings.REPLAYCASES_OTLP_BUFFER_BYTES = sum(map(len, traces[:2])) + 1000
    for body in traces[:2]:
        receive(sender, body)
    with django_assert_max_num_queries(60):
        receive(sender, traces[2])
    assert {name[0] for name in held()} == {"b", "c"}
    assert TraceInbox.objects.get().traces == 600


@pytest.mark.parametrize("limit", ["BYTES", "TRACES"])
def test_a_request_that_is_larger_than_the_buffer_is_refused_for_good(sender: User, settings: Any, limit: str) -> None:
    setattr(settings, f"REPLAYCASES_OTLP_BUFFER_{limit}", 1)
    with pytest.raises(evidence.EvidenceTooLarge):
        receive(sender, as_json(span(1), span(1, trace=OTHER)))
    assert not Payload.objects.exists()


def test_a_request_of_very_many_traces_is_kept(sender: User) -> None:
    receive(sender, as_json(*(span(1, trace=f"{number:032x}") for number in range(1, 1500))))
    receive(sender, as_json(*(span(2, parent=1, trace=f"{number:032x}") for number in range(1, 1500))))
    assert set(BufferedTrace.objects.values_list("spans", flat=True)) == {2}
    age(timedelta(days=1))
    assert trace_buffer.look() == 1499
    assert not Payload.objects.exists()


def test_a_buffer_that_is_full_of_traces_that_go_on_takes_nothing(sender: User, settings: Any) -> None:
    settings.REPLAYCASES_OTLP_BUFFER_TRACES = 1
    receive(sender, as_json(span(1, parent=9)))
    with pytest.raises(BufferFull):
        receive(sender, as_json(span(1, trace=OTHER)))
    assert held() == {TRACE}
    age()
    receive(sender, as_json(span(1, trace=OTHER)))
    assert held() == {OTHER}


def test_bytes_of_several_traces_stay_until_the_last_of_them_goes(sender: User, settings: Any) -> None:
    settings.REPLAYCASES_OTLP_KEEP_SECONDS = 600
    receive(sender, as_json(span(1), span(1, trace=OTHER)))
    BufferedTrace.objects.filter(trace_id=TRACE).update(first_at=timezone.now() - LATER * 2)
    assert trace_buffer.look() == 1
    assert (held(), Payload.objects.count()) == ({OTHER}, 1)
    age(LATER * 2)
    assert trace_buffer.look() == 1
    assert not Payload.objects.exists()
    inbox = TraceInbox.objects.get()
    assert (inbox.bytes, inbox.traces, inbox.dropped) == (0, 0, 2)


def test_a_file_of_somebody_ends_no_sooner_for_having_come_from_a_collector_too(
    of: factories.People, sender: User
) -> None:
    body = as_json(chat())
    file = evidence.store(of.project, body, media_type="x/y", expires_at=timezone.now() + timedelta(days=9))
    receive(sender, body)
    file.refresh_from_db()
    assert file.expires_at is not None
    assert file.expires_at > timezone.now() + timedelta(days=8)


def test_who_captures_nothing_sends_nothing(of: factories.People) -> None:
    with pytest.raises(PermissionDenied):
        receive(sending(of.qa, of.project), as_json(chat()))


def test_what_is_no_request_is_refused(sender: User) -> None:
    for body, protobuf in ((b"[1]", False), (b"\xff\xff", True)):
        with pytest.raises(ImportRefused):
            receive(sender, body, protobuf=protobuf)
    assert not Payload.objects.exists()


def test_the_same_trace_of_two_projects_is_two_and_neither_holds_the_other_s_spans(
    of: factories.People, sender: User
) -> None:
    other = factories.people(factories.project("XX"))
    _, secret = people.create_token(other.responder, project=other.project, name="c", scopes=["captures"], days=1)
    theirs = tokens.authenticate(secret)
    assert theirs is not None
    receive(sender, as_json(chat(1)))
    receive(theirs, as_json(chat(2)))
    for team, number in ((of, 1), (other, 2)):
        capture = trace_captures.capture_trace(team.responder, project=team.project, trace_id=TRACE)
        export = envelope.read_file(evidence.read(capture.payload))
        assert export is not None
        assert [int(one.span_id, 16) for one in export.spans] == [number]
        assert capture.project == team.project
        stranger = other if team is of else of
        assert not Capture.objects.visible_to(stranger.responder).filter(pk=capture.pk).exists()


def test_a_trace_that_is_not_kept_is_no_capture(of: factories.People, sender: User) -> None:
    with pytest.raises(ValidationError, match="never came"):
        trace_captures.capture_trace(of.responder, project=of.project, trace_id=TRACE)
    other = factories.project("XX")
    receive(sender, as_json(chat()))
    with pytest.raises(ValidationError, match="never came"):
        trace_captures.capture_trace(factories.everyone(other), project=other, trace_id=TRACE)


# --- rules ----------------------------------------------------------------------------------------------------------


def rule(administrator: User, of: factories.People, kind: RuleKind, **said: str) -> CaptureRule:
    return capture_rules.add(administrator, project=of.project, kind=kind, **said)


@pytest.mark.parametrize(
    ("kind", "said", "spans"),
    [
        (RuleKind.ERROR, {}, [chat(), span(2, parent=1, error=True)]),
        (RuleKind.ATTRIBUTE, {"key": "outcome", "value": "bad"}, [chat(), span(2, parent=1, outcome="bad")]),
        (RuleKind.ATTRIBUTE, {"key": "service.name", "value": "agent"}, [chat()]),
        (RuleKind.TRACE, {"value": TRACE.upper()}, [chat()]),
    ],
)
def test_a_trace_that_a_rule_wants_is_captured_once_it_is_quiet(
    of: factories.People, sender: User, administrator: User, kind: RuleKind, said: dict[str, str], spans: list[Any]
) -> None:
    added = rule(administrator, of, kind, **said)
    receive(sender, as_json(*spans))
    receive(sender, as_json(*spans, span(9, parent=1)))
    assert trace_captures.look() == 0
    added.refresh_from_db()
    assert (added.matched, added.matched_at) == (1, BufferedTrace.objects.get().first_at)
    age()
    assert trace_captures.look() == 1
    assert trace_captures.look() == 0
    capture = Capture.objects.get()
    assert (capture.captured_by, capture.trace_id) == (of.responder, TRACE)
    event = AuditEvent.objects.get(action="capture.brought")
    assert event.token == sender.token.prefix  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (RuleKind.ERROR, {}),
        (RuleKind.ATTRIBUTE, {"key": "outcome", "value": "bad"}),
        (RuleKind.TRACE, {"value": OTHER}),
    ],
)
def test_a_trace_that_no_rule_wants_is_not_captured(
    of: factories.People, sender: User, administrator: User, kind: RuleKind, said: dict[str, str]
) -> None:
    rule(administrator, of, kind, **said)
    receive(sender, as_json(chat(), span(2, parent=1, outcome="well", bad="outcome")))
    age()
    assert trace_captures.look() == 0


@pytest.mark.parametrize(
    ("value", "wanted", "is_it"),
    [
        ("a", "a", True),
        ("a", "A", False),
        ("a", ".*", False),
        ("\uff41", "a", False),
        ("a\0", "a", False),
        ("5", "5", True),
        ("5", "5.0", False),
        (5, "5", True),
        (5.0, "5", True),
        (5, "5.0", True),
        (50, "5_0", False),
        (5, "five", False),
        (True, "true", True),
        (True, "1", False),
        (1, "true", False),
        (None, "None", False),
        ({"a": 1}, "{'a': 1}", False),
        (["a"], "['a']", False),
        ("", "", True),
        (None, "", False),
    ],
)
def test_a_value_is_what_a_rule_names_or_it_is_not(value: object, wanted: str, is_it: bool) -> None:
    assert trace_buffer._is(value, wanted) is is_it


def test_a_rule_that_is_switched_off_wants_nothing(of: factories.People, sender: User, administrator: User) -> None:
    capture_rules.set_enabled(administrator, rule=rule(administrator, of, RuleKind.ERROR), enabled=False)
    receive(sender, as_json(chat(), span(2, parent=1, error=True)))
    age()
    assert trace_captures.look() == 0


@pytest.mark.parametrize("anew", [False, True])
def test_a_rule_about_a_trace_wants_what_came_of_it_before(
    of: factories.People, sender: User, administrator: User, anew: bool
) -> None:
    if anew:
        there = rule(administrator, of, RuleKind.TRACE, value=TRACE)
        capture_rules.set_enabled(administrator, rule=there, enabled=False)
    receive(sender, as_json(chat(), chat(1, trace=OTHER)))
    if anew:
        assert capture_rules.set_enabled(administrator, rule=there, enabled=True).matched == 1
    else:
        assert rule(administrator, of, RuleKind.TRACE, value=TRACE).matched == 1
    age()
    assert trace_captures.look() == 1
    assert Capture.objects.get().trace_id == TRACE


def test_what_a_rule_wanted_before_it_was_switched_off_is_not_captured(
    of: factories.People, sender: User, administrator: User
) -> None:
    wanted = rule(administrator, of, RuleKind.TRACE, value=TRACE)
    receive(sender, as_json(chat()))
    capture_rules.set_enabled(administrator, rule=wanted, enabled=False)
    age()
    assert trace_captures.look() == 0


@pytest.mark.parametrize("came_before", [False, True])
def test_a_rule_that_was_switched_off_keeps_no_trace_from_another(
    of: factories.People, sender: User, administrator: User, came_before: bool
) -> None:
    first = rule(administrator, of, RuleKind.ATTRIBUTE, key="service.name", value="agent")
    receive(sender, as_json(chat()))
    capture_rules.set_enabled(administrator, rule=first, enabled=False)
    if came_before:
        second = rule(administrator, of, RuleKind.TRACE, value=TRACE)
    else:
        second = rule(administrator, of, RuleKind.ERROR)
        receive(sender, as_json(span(2, parent=1, error=True)))
    second.refresh_from_db()
    assert (BufferedTrace.objects.get().rule, second.matched) == (second, 1)
    age()
    assert trace_captures.look() == 1


def test_a_trace_whose_root_has_not_ended_is_captured_when_it_is_kept_no_longer(
    of: factories.People, sender: User, administrator: User
) -> None:
    rule(administrator, of, RuleKind.TRACE, value=TRACE)
    receive(sender, as_json(chat(2, parent=1)))
    age()
    assert trace_captures.look() == 0
    age(KEPT)
    assert trace_buffer.look() == 0
    assert trace_captures.look() == 1
    assert trace_buffer.look() == 1


def test_what_is_wanted_and_was_never_captured_does_not_stay_for_ever(
    of: factories.People, sender: User, administrator: User
) -> None:
    rule(administrator, of, RuleKind.TRACE, value=TRACE)
    receive(sender, as_json(chat()))
    age(KEPT + trace_buffer.SLACK / 2)
    assert trace_buffer.look() == 1


def test_a_trace_of_which_more_comes_all_the_time_is_captured_by_rule_a_few_times_and_says_so(
    of: factories.People, sender: User, administrator: User
) -> None:
    rule(administrator, of, RuleKind.TRACE, value=TRACE)
    captured = []
    for number in range(1, 7):
        receive(sender, as_json(chat(number, parent=number - 1)))
        age(timedelta(minutes=2))
        captured.append(trace_captures.look())
    assert captured == [1, 1, 1, 0, 0, 0]
    trace = BufferedTrace.objects.get()
    assert "captured 3 times" in trace.why_not
    assert trace.capture == Capture.objects.latest("number")
    trace_captures.capture_trace(of.responder, project=of.project, trace_id=TRACE)
    assert Capture.objects.count() == 4


def test_what_comes_while_a_trace_is_put_together_is_in_its_capture(
    of: factories.People, sender: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive(sender, as_json(chat()))
    find, done = captures.find, []

    def found(*said: Any) -> Any:
        assert not locked
        if not done:
            receive(sender, as_json(chat(2, parent=1)))
        done.append(said)
        return find(*said)

    locked: list[Any] = []
    monkeypatch.setattr(captures, "find", found)
    monkeypatch.setattr(trace_captures, "lock_project", lambda project: done[1:] and locked.append(project))
    capture = trace_captures.capture_trace(of.responder, project=of.project, trace_id=TRACE)
    export = envelope.read_file(evidence.read(capture.payload))
    assert export is not None
    assert len(export.spans) == len(done) == 2
    assert locked


def test_a_trace_of_which_more_comes_all_the_time_is_not_captured_now(
    of: factories.People, sender: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive(sender, as_json(chat()))
    find, more = captures.find, iter(range(2, 100))

    def found(*said: Any) -> Any:
        receive(sender, as_json(chat(next(more), parent=1)))
        return find(*said)

    monkeypatch.setattr(captures, "find", found)
    with pytest.raises(InvalidTransition, match="Try it again"):
        trace_captures.capture_trace(of.responder, project=of.project, trace_id=TRACE)
    assert not Capture.objects.exists()


def test_what_comes_after_a_rule_captured_a_trace_is_captured_too_and_once(
    of: factories.People, sender: User, administrator: User
) -> None:
    rule(administrator, of, RuleKind.TRACE, value=TRACE)
    receive(sender, as_json(chat(1)))
    age()
    listed = BufferedTrace.objects.select_related("project", "token__user").get()
    assert trace_captures._by_rule(listed)
    receive(sender, as_json(chat(2, parent=1)))
    assert not trace_captures._by_rule(listed)  # another beat listed it before
    assert Capture.objects.count() == 1
    age()
    assert trace_captures.look() == 1
    export = envelope.read_file(evidence.read(Capture.objects.latest("number").payload))
    assert export is not None
    assert len(export.spans) == 2


def test_a_trace_of_which_nothing_could_be_made_is_tried_again_once_more_came(
    of: factories.People, sender: User, administrator: User
) -> None:
    rule(administrator, of, RuleKind.TRACE, value=TRACE)
    receive(sender, records(), signal="logs")
    age(KEPT)
    assert trace_captures.look() == 0
    assert BufferedTrace.objects.get().why_not
    receive(sender, as_json(chat()))
    age()
    assert trace_captures.look() == 1


def test_a_trace_that_was_dropped_meanwhile_is_not_captured_empty(
    of: factories.People, sender: User, administrator: User
) -> None:
    rule(administrator, of, RuleKind.TRACE, value=TRACE)
    receive(sender, as_json(chat()))
    age(timedelta(days=1))
    listed = BufferedTrace.objects.select_related("project", "token__user").get()
    trace_buffer.look()
    assert not trace_captures._by_rule(listed)
    assert not Capture.objects.exists()


def test_whose_sender_may_capture_no_more_is_not_captured_by_a_rule(
    of: factories.People, sender: User, administrator: User
) -> None:
    rule(administrator, of, RuleKind.TRACE, value=TRACE)
    receive(sender, as_json(chat()))
    of.responder.memberships.all().delete()
    age()
    assert trace_captures.look() == 0
    assert "role" in BufferedTrace.objects.get().why_not
    assert not Capture.objects.exists()


@pytest.mark.parametrize("why", ["revoked", "expired"])
def test_nothing_is_captured_by_rule_in_the_name_of_a_token_that_is_none_any_more(
    of: factories.People, sender: User, administrator: User, why: str
) -> None:
    rule(administrator, of, RuleKind.TRACE, value=TRACE)
    receive(sender, as_json(chat()))
    assert sender.token is not None
    if why == "revoked":
        people.revoke_token(of.responder, token=sender.token)
    else:
        ApiToken.objects.update(expires_at=timezone.now())
    age()
    assert trace_captures.look() == 0
    assert "revoked or expired" in BufferedTrace.objects.get().why_not
    assert not Capture.objects.exists()


def test_a_trace_that_fails_as_nobody_foresaw_holds_up_no_other_and_says_so(
    of: factories.People, sender: User, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule(administrator, of, RuleKind.ATTRIBUTE, key="service.name", value="agent")
    receive(sender, as_json(chat(1, trace=OTHER)))
    receive(sender, as_json(chat()))
    age()
    assembled = trace_captures.assembled

    def failing(trace: BufferedTrace) -> bytes:
        if trace.trace_id == OTHER:
            raise TypeError("refund 4711")
        return assembled(trace)

    monkeypatch.setattr(trace_captures, "assembled", failing)
    assert trace_captures.look() == 1
    assert BufferedTrace.objects.get(trace_id=OTHER).why_not == "It failed on our side (TypeError)."
    assert trace_captures._wanted().count() == 0


def test_a_trace_without_anything_to_import_holds_up_no_other(
    of: factories.People, sender: User, administrator: User
) -> None:
    rule(administrator, of, RuleKind.ATTRIBUTE, key="service.name", value="agent")
    receive(sender, records(trace=OTHER), signal="logs")
    BufferedTrace.objects.update(rule=CaptureRule.objects.get(), ended=True)
    receive(sender, as_json(chat()))
    age()
    assert trace_captures.look() == 1
    assert BufferedTrace.objects.get(trace_id=OTHER).why_not


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (RuleKind.ERROR, {"value": "x"}),
        (RuleKind.ATTRIBUTE, {"value": "x"}),
        (RuleKind.TRACE, {"value": "x"}),
        (RuleKind.TRACE, {"key": "x", "value": TRACE}),
    ],
)
def test_a_rule_that_lacks_a_part_is_refused(
    of: factories.People, administrator: User, kind: RuleKind, said: dict[str, str]
) -> None:
    with pytest.raises(ValidationError):
        rule(administrator, of, kind, **said)


def test_rules_are_kept_by_administrators_and_by_no_program(of: factories.People, administrator: User) -> None:
    token, _ = people.create_token(administrator, project=of.project, name="any", scopes=["read"], days=1)
    program = User.objects.get(pk=administrator.pk)
    program.token = token
    for actor in (of.responder, of.lead, program):
        with pytest.raises(PermissionDenied):
            rule(actor, of, RuleKind.ERROR)
    added = rule(administrator, of, RuleKind.ERROR)
    for actor in (of.responder, of.lead, program):
        with pytest.raises(PermissionDenied):
            capture_rules.set_enabled(actor, rule=added, enabled=False)


def test_no_more_rules_are_on_than_the_most_by_any_way(
    of: factories.People, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture_rules, "MOST", 1)
    off = rule(administrator, of, RuleKind.ERROR)
    capture_rules.set_enabled(administrator, rule=off, enabled=False)
    rule(administrator, of, RuleKind.TRACE, value=TRACE)
    for on in (
        lambda: rule(administrator, of, RuleKind.TRACE, value=OTHER),
        lambda: rule(administrator, of, RuleKind.ERROR),
        lambda: capture_rules.set_enabled(administrator, rule=off, enabled=True),
    ):
        with pytest.raises(ValidationError, match="which is the most"):
            on()
    assert CaptureRule.objects.filter(enabled=True).count() == 1


def test_a_rule_is_there_once_and_can_be_switched_on_again(of: factories.People, administrator: User) -> None:
    first = rule(administrator, of, RuleKind.ERROR)
    capture_rules.set_enabled(administrator, rule=first, enabled=False)
    assert rule(administrator, of, RuleKind.ERROR) == first
    assert CaptureRule.objects.get().enabled
    actions = list(AuditEvent.objects.filter(action__startswith="capture_rule").values_list("action", flat=True))
    assert actions == ["capture_rule.added", "capture_rule.disabled", "capture_rule.added"]


# --- whose work it is -----------------------------------------------------------------------------------------------


def test_who_sent_any_of_it_approves_nothing_of_the_case_that_others_make_of_it(of: factories.People) -> None:
    senders = [factories.person(of.project, Role.RESPONDER, Role.PRIVACY_REVIEWER) for _ in range(3)]
    for number, person in enumerate(senders[:2], 1):
        receive(sending(person, of.project), as_json(chat(number, parent=number - 1)))
    trace = BufferedTrace.objects.get()
    assert not StatementEdit.objects.exists()
    capture = trace_captures.capture_trace(of.responder, project=of.project, trace_id=TRACE)
    draft = drafts.save(of.responder, capture=capture, run=0, choices=CHOICES)
    said = {**STATEMENT, "seen": draft.choices.digest, "despite": "It is about who sent it."}
    case = drafts.make_case(of.responder, draft=draft, **said)
    assert all(decisions.own_work(person, case) for person in senders[:2])
    assert not decisions.own_work(senders[2], case)
    revision = factories.revision(case)
    with pytest.raises(IntegrityError, match="own work"), transaction.atomic():
        decisions.record(
            senders[0], revision=revision, kind=DecisionKind.REDACTION, outcome=DecisionOutcome.APPROVED, note=""
        )
    # The same bytes once more, after a third program sent of the trace what is in them already.
    receive(sending(senders[2], of.project), as_json(chat(2, parent=1), chat(1)))
    again = trace_captures.capture_trace(of.responder, project=of.project, trace_id=TRACE)
    assert (again, BufferedTrace.objects.get(pk=trace.pk).capture) == (capture, capture)
    assert decisions.own_work(senders[2], case)
    noted = AuditEvent.objects.filter(action="capture.senders_noted").order_by("sequence")
    assert [len(json.loads(event.after)["sent_by"]) for event in noted] == [2, 1]
