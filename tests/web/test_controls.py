"""Adding a control on the case page, and what a comparison makes of it."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.test import Client

from replaycases.accounts.models import User
from replaycases.accounts.roles import ADDS_CONTROLS, Role
from replaycases.cases import comparing, evidence, fixtures, intake
from replaycases.cases.models import Case, Comparison, Control, Payload, RunSet
from tests import factories
from tests.web import recorded

ADDRESS = "/cases/RC-1/controls/"
OLD_FIXTURE = json.dumps(
    {
        "schema_version": "1.0",
        "case_id": "control-1",
        "incident_id": "INC-1",
        "workflow_version": "1",
        "prompt_version": "1",
        "frozen_at": "2025-03-01T10:00:00+01:00",
        "input": {"order": "o-1"},
        "identity": {"subject": "c-1"},
        "tool_events": [
            {
                "attempt": "a-1",
                "tool": "refund.lookup",
                "arguments": {"order": "o-1"},
                "outcome": {"type": "error", "error": "timeout"},
            }
        ],
        "expected": {"prohibited_claims": ["It was refunded."]},
    }
).encode()
OLD_DETECT = json.dumps({"It was refunded.": {"any": ["(?i)was refunded"]}}).encode()
OLD_MUTATION = json.dumps([{"op": "replace", "path": "/tool_events/0/outcome/error", "value": "rejected"}]).encode()


def new_control(**changes: object) -> dict[str, object]:
    return {
        "name": "confirmed",
        "outcome_type": "success",
        "fixture": io.BytesIO(factories.fixture(case_id="control-1")),
        "mutation": io.BytesIO(factories.MUTATION),
        **changes,
    }


def page(client: Client) -> str:
    return client.get("/cases/RC-1/").content.decode()


def refused(client: Client, **changes: object) -> str:
    """The case page that answers a control which was not taken."""
    before = (Control.objects.count(), Payload.objects.count())
    response = client.post(ADDRESS, new_control(**changes))
    assert response.status_code == 422
    assert (Control.objects.count(), Payload.objects.count()) == before
    html = response.content.decode()
    assert '<details class="fold" open>' in html
    return html


def test_a_control_is_added_with_the_exact_bytes_of_its_files(signed_in: Client, case: Case) -> None:
    response = signed_in.post(ADDRESS, new_control())
    assert response.headers["Location"] == "/cases/RC-1/#controls"
    control = factories.revision(case).controls.get()
    assert (control.name, control.outcome_type) == ("confirmed", "success")
    assert control.mutation is not None
    assert evidence.read(control.payload) == factories.fixture(case_id="control-1")
    assert evidence.read(control.mutation) == factories.MUTATION
    assert "confirmed" in page(signed_in)


def test_detect_rules_beside_a_control_are_the_ones_its_replays_are_judged_by(signed_in: Client, case: Case) -> None:
    for name, detect in (("plain", b""), ("ruled", OLD_DETECT)):
        files = {"fixture": io.BytesIO(OLD_FIXTURE), "mutation": io.BytesIO(OLD_MUTATION)}
        rules = {"detect": io.BytesIO(detect)} if detect else {}
        assert signed_in.post(ADDRESS, new_control(name=name, **files, **rules)).status_code == 302
    plain, ruled = Control.objects.order_by("name")
    assert plain.checks_hash != ruled.checks_hash
    for control in (plain, ruled):
        for mutated in (False, True):
            assert fixtures.of_control(control, mutated=mutated).checks_hash == control.checks_hash


@pytest.mark.parametrize("part", ["name", "outcome_type", "fixture", "mutation"])
def test_a_control_without_a_part_is_refused_and_the_part_named(signed_in: Client, case: Case, part: str) -> None:
    assert f'id="id_{part}_error"' in refused(signed_in, **{part: ""})


def test_every_finding_in_a_control_is_shown_with_its_pointer(signed_in: Client, case: Case) -> None:
    html = refused(signed_in, fixture=io.BytesIO(factories.fixture(frozen_at="yesterday", incident_id=7)))
    assert "<code>/frozen_at</code>" in html
    assert "<code>/incident_id</code>" in html
    assert 'value="confirmed"' in html


def test_a_mutation_that_reaches_beyond_the_answers_is_a_finding(signed_in: Client, case: Case) -> None:
    html = refused(signed_in, mutation=io.BytesIO(b'[{"op": "remove", "path": "/expected/boundary"}]'))
    assert "<code>mutation.invalid</code>" in html
    assert "<code>/0/path</code>" in html


def test_what_the_mutation_breaks_is_not_blamed_on_the_fixture(signed_in: Client, case: Case) -> None:
    html = refused(signed_in, mutation=io.BytesIO(b'[{"op": "replace", "path": "/events/0/outcome", "value": 1}]'))
    assert "once mutated: " in html


def test_two_controls_of_one_name_are_refused(signed_in: Client, case: Case) -> None:
    signed_in.post(ADDRESS, new_control())
    assert "has a control of this name already" in refused(signed_in)


def test_the_next_comparison_replays_an_added_control(signed_in: Client, case: Case, everyone: User) -> None:
    first = recorded.compared(case, everyone)
    signed_in.post(ADDRESS, new_control())
    again = {"old": first.old_id, "new": first.new_id, "size": 2, "with_controls": "on"}
    signed_in.post("/cases/RC-1/comparisons/", again)
    sets = RunSet.objects.filter(control=Control.objects.get(), comparison__number=2)
    assert sorted(sets.values_list("mutated", flat=True)) == [False, True]
    second = recorded.finish(Comparison.objects.get(number=2), recorded.RED, recorded.GREEN)
    assert second.label == "verified_red_to_green"
    assert "failed, as it should" in page(signed_in)


def test_a_verdict_is_not_green_over_a_control_that_came_after_it(
    signed_in: Client, case: Case, everyone: User
) -> None:
    factories.opened(case, everyone)
    comparison = recorded.compared(case, everyone)
    assert comparison.label == "verified_red_to_green"
    signed_in.post(ADDRESS, new_control())
    comparison.refresh_from_db()
    assert (comparison.state, comparison.label) == ("waiting", "")
    comparing.refresh_waiting()
    comparison.refresh_from_db()
    assert comparison.label == "control_failed"
    assert "The control confirmed has not been replayed on new yet, which is no pass" in comparison.reason
    shown = signed_in.get("/cases/RC-1/comparisons/1/").content.decode()
    assert "Control not passed" in shown
    assert "has not been replayed yet" in shown


def test_only_who_may_add_a_control_is_offered_the_form(client: Client, case: Case) -> None:
    for role in Role:
        client.force_login(factories.person(case.project, role))
        html = page(client)
        assert ("Add the control" in html) is (role in ADDS_CONTROLS), role
        assert ('href="/cases/RC-1/controls/new/"' in html) is (role in ADDS_CONTROLS), role
        assert ("You cannot add a control. This needs the role" in html) is (role not in ADDS_CONTROLS), role


@pytest.mark.parametrize("stage", ["retired", "non_replayable"])
def test_a_closed_case_takes_no_control(signed_in: Client, case: Case, stage: str) -> None:
    Case.objects.update(stage=stage)
    assert "You cannot add a control. The case is " in page(signed_in)
    assert signed_in.post(ADDRESS, new_control()).status_code == 409
    assert not Control.objects.exists()


def two_tools(**changes: Any) -> bytes:
    """A fixture of two tools that both have an effect."""
    document = json.loads(factories.fixture(**changes))
    first = {**document["events"][0], "effect": {"action": "look_up", "accepted": True}}
    second = {
        **first,
        "seq": 2,
        "attempt": "a-2",
        "tool": "refund.create",
        "effect": {"action": "refund", "accepted": True},
    }
    document["expected"]["action_counts"] = {"look_up": {"max": 1}, "refund": {"max": 1}}
    return json.dumps({**document, "events": [first, second]}).encode()


def test_where_several_tools_have_an_effect_a_control_says_which_it_is_about(
    signed_in: Client, case: Case, everyone: User
) -> None:
    intake.add_revision(everyone, case=case, fixture=two_tools())
    mutation = factories.MUTATION
    files = {"fixture": io.BytesIO(two_tools(case_id="control-1")), "mutation": io.BytesIO(mutation)}
    assert 'id="id_tool_error"' in refused(
        signed_in, **{key: io.BytesIO(file.getvalue()) for key, file in files.items()}
    )
    assert signed_in.post(ADDRESS, new_control(tool="refund.create", **files)).status_code == 302
    assert Control.objects.get().tool == "refund.create"
