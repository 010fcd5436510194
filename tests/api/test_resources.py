"""Every route: what it answers, to whom, and with which status when it cannot."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from typing import Any

import pytest
from rest_framework.test import APIClient

from replaycases.accounts.models import Project, User
from replaycases.cases import evidence, intake
from replaycases.cases.models import Case, Classification, Comparison, Control, Implementation, Payload, Run
from tests import factories
from tests.web import recorded

LISTS = ("cases", "revisions", "controls", "implementations", "run-sets", "runs", "comparisons")


@pytest.fixture
def comparison(case: Case, everyone: User) -> Comparison:
    factories.control(factories.revision(case), everyone)
    return recorded.compared(case, everyone)


def new_control(comparison: Comparison, **changes: Any) -> dict[str, Any]:
    return {
        "revision": str(comparison.revision_id),
        "name": "never known",
        "outcome_type": "uncertain",
        "fixture": json.loads(factories.fixture(case_id="control-2")),
        "mutation": json.loads(factories.MUTATION),
        **changes,
    }


def new_case(project: Project, **changes: Any) -> dict[str, Any]:
    return {
        "project": project.key,
        "title": "Claimed a refund",
        "incident_id": "INC-7",
        "trigger": "the lookup timed out",
        "prohibited_outcome": "the reply says completed",
        "deciding_evidence": "the final message",
        "fixture": json.loads(factories.fixture()),
        **changes,
    }


def objects(comparison: Comparison) -> dict[str, str]:
    """The address of one object of each list."""
    run = comparison.runs()[0]
    named = {
        "cases": comparison.revision.case_id,
        "revisions": comparison.revision_id,
        "controls": comparison.revision.controls.get().pk,
        "implementations": comparison.old_id,
        "run-sets": run.run_set_id,
        "runs": run.pk,
        "comparisons": comparison.pk,
    }
    return {name: f"/api/v1/{name}/{key}/" for name, key in named.items()}


def test_every_list_and_object_is_read_by_a_member(viewer: APIClient, comparison: Comparison) -> None:
    for name, address in objects(comparison).items():
        listed = viewer.get(f"/api/v1/{name}/")
        assert listed.status_code == 200, name
        assert listed.json()["results"], name
        read = viewer.get(address).json()
        assert listed.json()["results"][0].items() <= read.items() or read in listed.json()["results"], name


def test_a_foreign_object_does_not_exist(stranger: APIClient, comparison: Comparison) -> None:
    addresses = objects(comparison)
    for name, address in addresses.items():
        assert stranger.get(address).status_code == 404, name
        assert stranger.get(f"/api/v1/{name}/").json()["results"] == [], name
    for address in (
        addresses["revisions"] + "document/",
        addresses["runs"] + "manifest/",
        addresses["comparisons"] + "document/",
    ):
        assert stranger.get(address).status_code == 404
    for name in ("run-sets", "comparisons"):
        assert stranger.post(addresses[name] + "cancellation/").status_code == 404


def test_without_an_account_nothing_is_answered(db: None) -> None:
    for name in LISTS:
        response = APIClient().get(f"/api/v1/{name}/")
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == 'Bearer realm="replaycases"'


def test_the_wrong_role_is_forbidden(viewer: APIClient, project: Project, comparison: Comparison) -> None:
    old, new = str(comparison.old_id), str(comparison.new_id)
    revision = str(comparison.revision_id)
    asked = {
        "cases": new_case(project),
        "run-sets": {"revision": revision, "implementation": old, "size": 2},
        "comparisons": {"revision": revision, "old": old, "new": new},
        "controls": new_control(comparison),
    }
    for name, body in asked.items():
        assert viewer.post(f"/api/v1/{name}/", body, format="json").status_code == 403, name
    archive = io.BytesIO(factories.archive(factories.NEW_CODE))
    upload = {"project": project.key, "archive": archive}
    assert viewer.post("/api/v1/implementations/", upload, format="multipart").status_code == 403


def test_a_case_is_opened_from_json(api: APIClient, project: Project) -> None:
    response = api.post("/api/v1/cases/", new_case(project), format="json")
    assert response.status_code == 201
    assert response.json()["readable_id"] == "RC-1"
    revision = factories.revision(Case.objects.get())
    assert json.loads(evidence.read(revision.payload)) == json.loads(factories.fixture())


def test_a_case_is_opened_from_a_file_whose_bytes_are_kept(api: APIClient, project: Project) -> None:
    data = json.dumps(json.loads(factories.fixture()), indent=3).encode()
    response = api.post("/api/v1/cases/", new_case(project, fixture=io.BytesIO(data)), format="multipart")
    assert response.status_code == 201
    made = response.json()
    api.post("/api/v1/raw-reads/", {"case": made["id"], "reason": "Is it whole?"}, format="json")
    document = api.get(f"/api/v1/revisions/{made['current_revision']}/document/")
    assert document.content == data
    assert document.headers["Content-Disposition"].startswith("attachment;")


def test_an_invalid_fixture_is_unprocessable_with_every_finding(api: APIClient, project: Project) -> None:
    broken = json.loads(factories.fixture(frozen_at="yesterday", incident_id=7))
    response = api.post("/api/v1/cases/", new_case(project, fixture=broken), format="json")
    assert response.status_code == 422
    pointers = {finding["pointer"] for finding in response.json()["findings"]}
    assert {"/frozen_at", "/incident_id"} <= pointers
    assert not Case.objects.exists()


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        (b'{"title": NaN}', "json."),
        (b'{"title": 1, "title": 2}', "json.duplicate-key"),
        (b'{"n": 9007199254740993}', "json."),
        (b"[" * 1000 + b"]" * 1000, "json."),
        (b'"\\ud800"', "json."),
        (b"\xff", "json."),
    ],
)
def test_a_body_that_two_readers_read_differently_is_bad_with_a_finding(
    api: APIClient, project: Project, body: bytes, finding: str
) -> None:
    response = api.post("/api/v1/cases/", body, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["findings"][0]["id"].startswith(finding)


@pytest.mark.parametrize(
    "body", [b"[]", b"1", b"null", b'"text"', b'{"project": {}}', b'{"project": ["RC"]}', b'{"project": "RC\\u0000"}']
)
def test_a_body_of_another_shape_is_bad(api: APIClient, project: Project, body: bytes) -> None:
    assert api.post("/api/v1/cases/", body, content_type="application/json").status_code == 400


def test_a_body_over_the_cap_is_too_large(api: APIClient, project: Project, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 10_000
    response = api.post("/api/v1/cases/", new_case(project, title="x" * 20_000), format="json")
    assert response.status_code == 413


def test_an_upload_over_the_cap_is_too_large(api: APIClient, project: Project, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 10_000
    upload = {"project": project.key, "archive": io.BytesIO(b"x" * 200_000)}
    assert api.post("/api/v1/implementations/", upload, format="multipart").status_code == 413


def test_a_control_is_added_from_json_and_listed_by_its_revision(api: APIClient, comparison: Comparison) -> None:
    created = api.post("/api/v1/controls/", new_control(comparison), format="json")
    assert created.status_code == 201
    control = Control.objects.get(pk=created.json()["id"])
    assert json.loads(evidence.read(control.payload))["case_id"] == "control-2"
    assert created.json()["mutated_hash"] not in ("", control.fixture_hash)
    listed = api.get(f"/api/v1/controls/?revision={comparison.revision_id}").json()["results"]
    assert [found["name"] for found in listed] == ["confirmed", "never known"]
    assert len(api.get("/api/v1/controls/?outcome_type=uncertain").json()["results"]) == 1


def test_a_control_is_added_from_files_whose_bytes_are_kept(api: APIClient, comparison: Comparison) -> None:
    files = {
        "fixture": json.dumps(json.loads(factories.fixture(case_id="control-2")), indent=3).encode(),
        "mutation": json.dumps(json.loads(factories.MUTATION), indent=3).encode(),
    }
    body = new_control(comparison, **{name: io.BytesIO(data) for name, data in files.items()})
    created = api.post("/api/v1/controls/", body, format="multipart")
    assert created.status_code == 201
    control = Control.objects.get(pk=created.json()["id"])
    assert control.mutation is not None
    assert {"fixture": evidence.read(control.payload), "mutation": evidence.read(control.mutation)} == files


def test_controls_are_walked_by_cursor(api: APIClient, comparison: Comparison) -> None:
    for name in ("a", "b", "z"):
        fixture = json.loads(factories.fixture(case_id="control-2", input={"order": name}))
        body = new_control(comparison, name=name, fixture=fixture)
        assert api.post("/api/v1/controls/", body, format="json").status_code == 201
    walked: list[str] = []
    address: str | None = "/api/v1/controls/?page_size=1"
    while address:
        page = api.get(address).json()
        walked += [control["name"] for control in page["results"]]
        address = page["next"]
    assert walked == ["a", "b", "confirmed", "z"]


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"fixture": {"schema_version": "2.0"}}, ("schema.missing-field", "/case_id")),
        ({"mutation": [{"op": "remove", "path": "/expected/boundary"}]}, ("mutation.invalid", "/0/path")),
        ({"mutation": []}, ("mutation.invalid", "")),
    ],
)
def test_a_control_that_cannot_be_used_is_unprocessable_with_its_findings(
    api: APIClient, comparison: Comparison, changes: dict[str, Any], finding: tuple[str, str]
) -> None:
    payloads = Payload.objects.count()
    response = api.post("/api/v1/controls/", new_control(comparison, **changes), format="json")
    assert response.status_code == 422
    assert finding in {(found["id"], found["pointer"]) for found in response.json()["findings"]}
    assert (Control.objects.count(), Payload.objects.count()) == (1, payloads)


@pytest.mark.parametrize("missing", ["revision", "name", "outcome_type", "fixture", "mutation"])
def test_a_control_without_a_part_is_bad(api: APIClient, comparison: Comparison, missing: str) -> None:
    body = new_control(comparison)
    del body[missing]
    response = api.post("/api/v1/controls/", body, format="json")
    assert response.status_code == 400
    assert set(response.json()) == {missing}


def test_a_control_that_was_written_from_another_revision_is_a_conflict(api: APIClient, comparison: Comparison) -> None:
    response = api.post("/api/v1/controls/", new_control(comparison, seen_revision=2), format="json")
    assert response.status_code == 409
    assert "you wrote from 2" in response.json()["detail"]
    assert api.post("/api/v1/controls/", new_control(comparison, seen_revision=1), format="json").status_code == 201


def test_a_second_control_of_the_same_name_is_bad(api: APIClient, comparison: Comparison) -> None:
    response = api.post("/api/v1/controls/", new_control(comparison, name=" confirmed "), format="json")
    assert response.status_code == 400
    assert "has a control of this name already" in response.json()["detail"]


def test_an_implementation_is_registered_once(api: APIClient, project: Project) -> None:
    for _ in range(2):
        archive = io.BytesIO(factories.archive(factories.NEW_CODE))
        upload = {"project": project.key, "archive": archive, "spec_path": "implementation.json"}
        response = api.post("/api/v1/implementations/", upload, format="multipart")
        assert response.status_code == 201
    assert Implementation.objects.count() == 1


def test_an_archive_that_is_none_is_unprocessable(api: APIClient, project: Project) -> None:
    upload = {"project": project.key, "archive": io.BytesIO(b"nothing")}
    response = api.post("/api/v1/implementations/", upload, format="multipart")
    assert response.status_code == 422
    assert response.json()["findings"][0]["id"] == "implementation.invalid"


def test_a_run_set_is_declared_and_cancelled_once(api: APIClient, comparison: Comparison) -> None:
    body = {"revision": str(comparison.revision_id), "implementation": str(comparison.new_id), "size": 3}
    created = api.post("/api/v1/run-sets/", body, format="json")
    assert created.status_code == 201
    address = f"/api/v1/run-sets/{created.json()['id']}/cancellation/"
    assert api.post(address).json() == {"cancelled": 3}
    assert api.post(address).status_code == 409


def test_a_comparison_is_asked_for_and_waits(api: APIClient, comparison: Comparison) -> None:
    body = {"revision": str(comparison.revision_id), "old": str(comparison.old_id), "new": str(comparison.new_id)}
    created = api.post("/api/v1/comparisons/", body, format="json").json()
    assert (created["state"], created["label"]) == ("waiting", "")
    assert api.get(f"/api/v1/comparisons/{created['id']}/document/").status_code == 404
    assert api.post(f"/api/v1/comparisons/{created['id']}/cancellation/").json() == {"cancelled": 8}


def test_a_computed_comparison_has_its_label_and_document(api: APIClient, comparison: Comparison) -> None:
    read = api.get(f"/api/v1/comparisons/{comparison.pk}/").json()
    assert (read["state"], read["label"]) == ("computed", "verified_red_to_green")
    document = json.loads(api.get(f"/api/v1/comparisons/{comparison.pk}/document/").content)
    assert document["green"] is True
    assert api.post(f"/api/v1/comparisons/{comparison.pk}/cancellation/").status_code == 409


@pytest.mark.parametrize("size", [0, 1, 51, "two", None])
def test_a_comparison_needs_two_to_fifty_runs_a_side(api: APIClient, comparison: Comparison, size: Any) -> None:
    sides = {"old": str(comparison.old_id), "new": str(comparison.new_id)}
    body = {"revision": str(comparison.revision_id), **sides, "size": size}
    assert api.post("/api/v1/comparisons/", body, format="json").status_code == 400


def test_a_foreign_object_in_a_body_does_not_exist(stranger: APIClient, comparison: Comparison) -> None:
    body = {"revision": str(comparison.revision_id), "old": str(comparison.old_id), "new": str(comparison.new_id)}
    response = stranger.post("/api/v1/comparisons/", body, format="json")
    assert response.status_code == 400
    assert set(response.json()) == {"revision", "old", "new"}
    response = stranger.post("/api/v1/controls/", new_control(comparison), format="json")
    assert response.status_code == 400
    assert set(response.json()) == {"revision"}


def test_what_was_changed_in_quarantined_evidence_is_told_to_its_readers_only(
    api: APIClient, viewer: APIClient, project: Project, everyone: User
) -> None:
    case = factories.case(project, everyone, classification=Classification.QUARANTINED)
    intake.add_revision(everyone, case=case, fixture=factories.fixture(input={"order": "o-2"}), changed="Mia's order.")
    address = f"/api/v1/revisions/?case={case.pk}"
    told = [[row["changed"] for row in client.get(address).json()["results"]] for client in (api, viewer)]
    assert told == [["", ""], ["", ""]]
    factories.opened(case, everyone)
    told = [[row["changed"] for row in client.get(address).json()["results"]] for client in (api, viewer)]
    assert told == [["Mia's order.", ""], ["", ""]]


def test_quarantined_bytes_are_forbidden_to_who_may_not_read_them(
    viewer: APIClient, project: Project, everyone: User
) -> None:
    case = factories.case(project, everyone, classification=Classification.QUARANTINED)
    factories.control(factories.revision(case), everyone)
    addresses = objects(recorded.compared(case, everyone))
    for address in (
        addresses["revisions"] + "document/",
        addresses["runs"] + "manifest/",
        addresses["comparisons"] + "document/",
    ):
        assert viewer.get(address).status_code == 403


def test_a_verdict_over_runs_of_a_quarantined_case_is_forbidden_to_who_may_not_read_those(
    viewer: APIClient, project: Project, everyone: User
) -> None:
    secret = recorded.compared(factories.case(project, everyone, classification=Classification.QUARANTINED), everyone)
    other_bytes = json.dumps(json.loads(factories.fixture()), indent=1).encode()
    public = factories.case(project, everyone, other_bytes, classification=Classification.PUBLIC)
    assert secret.old is not None
    assert secret.new is not None
    second = recorded.requested(public, everyone, secret.old, secret.new)
    recorded.finish(second, recorded.RED, recorded.GREEN)
    assert viewer.get(f"/api/v1/revisions/{second.revision_id}/document/").status_code == 200
    assert viewer.get(f"/api/v1/comparisons/{second.pk}/document/").status_code == 403


def test_the_same_code_on_both_sides_is_refused(api: APIClient, comparison: Comparison) -> None:
    body = {"revision": str(comparison.revision_id), "old": str(comparison.old_id), "new": str(comparison.old_id)}
    response = api.post("/api/v1/comparisons/", body, format="json")
    assert response.status_code == 400
    assert "the same code" in response.json()["detail"]
    assert Comparison.objects.count() == 1


def test_qa_voids_a_set_once_and_with_a_reason(api: APIClient, viewer: APIClient, comparison: Comparison) -> None:
    address = f"/api/v1/run-sets/{comparison.runs()[0].run_set_id}/voiding/"
    assert viewer.post(address, {"reason": "bad host"}, format="json").status_code == 403
    assert api.post(address, {"reason": " "}, format="json").status_code == 400
    voided = api.post(address, {"reason": "bad host"}, format="json")
    assert voided.status_code == 200
    assert voided.json()["void_reason"] == "bad host"
    assert api.get(f"/api/v1/comparisons/{comparison.pk}/").json()["label"] != "verified_red_to_green"
    assert api.post(address, {"reason": "again"}, format="json").status_code == 409


@pytest.mark.parametrize("stage", ["retired", "non_replayable"])
def test_a_closed_case_takes_no_replays_and_no_controls(api: APIClient, comparison: Comparison, stage: str) -> None:
    Case.objects.update(stage=stage)
    revision, old, new = (str(key) for key in (comparison.revision_id, comparison.old_id, comparison.new_id))
    asked = {
        "run-sets": {"revision": revision, "implementation": old, "size": 2},
        "comparisons": {"revision": revision, "old": old, "new": new},
        "controls": new_control(comparison),
    }
    before = Run.objects.count()
    for name, body in asked.items():
        response = api.post(f"/api/v1/{name}/", body, format="json")
        assert response.status_code == 409, name
        assert response.json() == {"detail": f"The case is {Case.objects.get().get_stage_display().lower()}."}
    assert Run.objects.count() == before
    assert Control.objects.count() == 1


def test_a_manifest_is_the_stored_bytes(viewer: APIClient, comparison: Comparison) -> None:
    run = comparison.runs()[0]
    assert run.manifest is not None
    assert viewer.get(f"/api/v1/runs/{run.pk}/manifest/").content == evidence.read(run.manifest)


def test_lists_are_filtered_and_walked_by_cursor(api: APIClient, comparison: Comparison) -> None:
    walked: list[str] = []
    address: str | None = "/api/v1/runs/?page_size=3&state=finished"
    while address:
        page = api.get(address).json()
        walked += [run["id"] for run in page["results"]]
        address = page["next"]
    assert len(walked) == len(set(walked)) == Run.objects.count() == 8
    assert api.get("/api/v1/runs/?state=queued").json()["results"] == []


@pytest.mark.parametrize("query", ["?state=bogus", "?number=x", "?project=%00"])
def test_a_filter_that_is_not_known_is_bad(api: APIClient, project: Project, query: str) -> None:
    assert api.get(f"/api/v1/runs/{query}").status_code == 400


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("runs", "o=-1"),
        ("runs", "p=abc"),
        ("runs", "p=0001-01-01"),
        ("runs", "p=0001-01-01 00:00:00%2B14:00"),
        ("audit-events", "p=abc"),
        ("projects", "p=%00"),
    ],
)
def test_a_cursor_that_no_page_gave_out_is_bad(api: APIClient, project: Project, name: str, said: str) -> None:
    answer = api.get(f"/api/v1/{name}/", {"cursor": b64encode(said.encode()).decode()})
    assert (answer.status_code, "cursor" in answer.content.decode()) == (400, True)


def test_a_larger_list_costs_no_more_queries(
    api: APIClient, comparison: Comparison, everyone: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(3):
        assert comparison.old is not None
        assert comparison.new is not None
        recorded.requested(comparison.revision.case, everyone, comparison.old, comparison.new)
    for name in LISTS:
        with django_assert_max_num_queries(4):
            api.get(f"/api/v1/{name}/")


def test_a_form_without_a_switch_does_not_switch_anything_off(api: APIClient, case: Case) -> None:
    address = f"/api/v1/cases/{case.pk}/security-incident/"
    assert api.put(address, {"flagged": True}, format="json").status_code == 200
    assert api.put(address, {}, format="multipart").status_code == 400
    assert api.get(f"/api/v1/cases/{case.pk}/").json()["security_incident"] is True
