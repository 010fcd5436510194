"""schemathesis over the whole schema: what the schema allows is answered as it says, and what it forbids is refused.

One person with every role asks, in a project where every resource has a row. Half of the requests name rows that are
there, so that they come further than the lookup. Each request is undone, so that no answer depends on an earlier one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient
from schemathesis import Case as Request
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from replaycases.config.wsgi import application
from tests import factories
from tests.api.conftest import client_of
from tests.api.world import World, build

BOUNDED = settings(
    max_examples=6, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
CONFORMS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture
def world(db: None) -> World:
    return build()


@pytest.fixture
def client(world: World) -> APIClient:
    return client_of(factories.everyone(world.team.project))


@pytest.fixture
def document(client: APIClient) -> dict[str, Any]:
    """The schema without its `security`, else schemathesis signs in as it likes."""
    document: dict[str, Any] = json.loads(client.get("/api/v1/schema/?format=json").content)
    for methods in document["paths"].values():
        for operation in methods.values():
            operation.pop("security")
    return document


@pytest.fixture
def one_connection(document: dict[str, Any]) -> Iterator[None]:
    """Requests share the test's connection: at its ends a request closes one that is inside a transaction. Django's own
    test client keeps them from it, and connects them again after each of its requests: it is not used within."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


class Asker:
    """Asks what schemathesis makes, and remembers which statuses came."""

    def __init__(self, client: APIClient, world: World) -> None:
        self.world, self.asked, self.statuses = world, 0, set[int]()
        token = "a" * 32  # a session's requests must show in a header that they can read its cookies
        session = {name: morsel.value for name, morsel in client.cookies.items()}
        self.sent = {"cookies": {**session, "csrftoken": token}, "headers": {"X-CSRFToken": token}}

    def ask(self, operation: Any, mode: GenerationMode, checks: list[Any]) -> None:
        @BOUNDED
        @given(request=operation.as_strategy(generation_mode=mode), known=st.booleans())
        def one(request: Request, known: bool) -> None:
            if known:
                name_rows_that_are_there(request, self.world, body=mode is GenerationMode.POSITIVE)
            with transaction.atomic():
                response = request.call(**self.sent)
                transaction.set_rollback(True)
            request.validate_response(response, checks=checks)
            self.asked += 1
            self.statuses.add(response.status_code)

        one()


@pytest.mark.usefixtures("one_connection")
def test_every_operation_keeps_to_the_schema_and_refuses_what_it_forbids(
    client: APIClient, world: World, document: dict[str, Any]
) -> None:
    schema = schemathesis.openapi.from_dict(document)
    schema.app = application
    asker = Asker(client, world)
    for result in schema.get_all_operations():
        asker.ask(result.ok(), GenerationMode.POSITIVE, CONFORMS)
        if "requestBody" in result.ok().definition.raw:
            asker.ask(result.ok(), GenerationMode.NEGATIVE, [*CONFORMS, negative_data_rejection])
    assert asker.asked > 500
    assert asker.statuses >= {200, 201, 400, 404, 409}


def name_rows_that_are_there(request: Request, world: World, *, body: bool) -> None:
    noun, _, rest = request.path.removeprefix("/api/v1/").partition("/")
    if "id" in (request.path_parameters or {}) and noun in world.objects:
        request.path_parameters["id"] = world.objects[noun]
    right = world.bodies.get(f"{request.method.upper()} {noun}/{rest.replace('{id}/', '')}")
    if body and right and isinstance(request.body, dict):
        request.body = {**request.body, **{key: value for key, value in right.items() if key in request.body}}
