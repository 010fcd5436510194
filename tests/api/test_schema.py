"""The API keeps to its published schema, and answers no request with a 5xx."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from replaycases.accounts.models import Project, User
from replaycases.cases.models import Case
from tests import factories
from tests.web import recorded

METHODS = ("get", "post", "put", "patch", "delete")
SCALARS = st.sampled_from([None, True, 0, -1, 2, 2**53, 1e300, "", "x", "RC", "\x00", "é\u202e", "[", "x" * 500])
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner))
TEXTS = st.sampled_from(["", "0", "-1", "x", "RC", "true", "2026-13-01", "\x00", "%", "1" * 30, "é", "bmFu", "queued"])


@pytest.fixture
def document(api: APIClient) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(api.get("/api/v1/schema/?format=json").content)
    return read


def new_case(project: Project) -> dict[str, Any]:
    texts = ("title", "incident_id", "trigger", "prohibited_outcome", "deciding_evidence")
    return {"project": project.key, "fixture": json.loads(factories.fixture()), **dict.fromkeys(texts, "said")}


def new_control(revision: str) -> dict[str, Any]:
    document, mutation = json.loads(factories.fixture()), json.loads(factories.MUTATION)
    said = {"name": "confirmed anew", "outcome_type": "success", "fixture": document, "mutation": mutation}
    return {"revision": revision, **said}


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                yield path, method, methods[method]


def as_json_schema(node: Any) -> Any:
    """OpenAPI 3.0 says `nullable` where JSON Schema has a type `null`."""
    if isinstance(node, list):
        return [as_json_schema(item) for item in node]
    if not isinstance(node, dict):
        return node
    plain = {key: as_json_schema(value) for key, value in node.items() if key != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if node.get("nullable") is True else plain


def test_every_route_is_described_with_its_errors(document: dict[str, Any]) -> None:
    described = {(path, method): set(about["responses"]) for path, method, about in operations(document)}
    assert len(described) == 149
    for (_, method), codes in described.items():
        assert {"400", "403", "404"} <= codes
        assert method == "get" or {"409", "413", "415", "422"} <= codes


def test_every_answer_is_one_that_the_schema_names(
    api: APIClient, case: Case, everyone: User, document: dict[str, Any]
) -> None:
    control = factories.control(factories.revision(case), everyone)
    comparison = recorded.compared(case, everyone)
    run, revision, old = comparison.runs()[0], str(comparison.revision_id), str(comparison.old_id)
    ids = [str(key) for key in (comparison.pk, case.pk, revision, control.pk, old, run.pk, run.run_set_id, everyone.pk)]
    right = {
        "/api/v1/cases/": new_case(case.project),
        "/api/v1/run-sets/": {"revision": revision, "implementation": old, "size": 2},
        "/api/v1/comparisons/": {"revision": revision, "old": old},
        "/api/v1/controls/": new_control(revision),
    }
    seen: set[int] = set()
    for path, method, about in operations(document):
        seen |= answers(api, document, path, method, about, ids=ids, right=right.get(path))
    assert seen >= {200, 201, 400, 404, 409, 415}


def answers(
    api: APIClient,
    document: dict[str, Any],
    path: str,
    method: str,
    about: dict[str, Any],
    *,
    ids: list[str],
    right: Any,
) -> set[int]:
    """The statuses that an operation gave; each answer had the shape that the schema names for its status. Generated
    bodies are nonsense, the right one, or the right one with some fields replaced."""
    names = [parameter["name"] for parameter in about.get("parameters", []) if parameter["in"] == "query"]
    fields, known = body_fields(document, about), st.sampled_from(ids)
    components = {"components": as_json_schema(document["components"])}
    changes = st.dictionaries(st.sampled_from([*fields, "x"]), VALUES | known, max_size=2)
    seen: set[int] = set()

    @settings(max_examples=6, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(
        key=known,
        query=st.dictionaries(st.sampled_from([*names, "x"]), TEXTS | known, max_size=3),
        body=VALUES | changes.map(lambda changed: {**(right or {}), **changed}),
    )
    def answer(key: str, query: dict[str, str], body: Any) -> None:
        asked = "&".join(f"{name}={quote(value)}" for name, value in query.items())
        address = f"{path.replace('{id}', key)}?{asked}"
        sent = {} if method == "get" else {"data": json.dumps(body), "content_type": "application/json"}
        response = getattr(api, method)(address, **sent)
        seen.add(response.status_code)
        described = about["responses"].get(str(response.status_code))
        assert described is not None, f"{method} {address} answered {response.status_code}"
        shape = as_json_schema(described["content"]["application/json"]["schema"])
        jsonschema.validate(json.loads(response.content), {**shape, **components})

    answer()
    return seen


def body_fields(document: dict[str, Any], about: dict[str, Any]) -> list[str]:
    """The names that the operation's JSON or multipart body may have."""
    for content in about.get("requestBody", {}).get("content", {}).values():
        name = content["schema"]["$ref"].rpartition("/")[2]
        return list(document["components"]["schemas"][name]["properties"])
    return []
