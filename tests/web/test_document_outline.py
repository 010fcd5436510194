"""A long document has an outline, whose links lead to rows that are there."""

from __future__ import annotations

import json
import re
from typing import Any

from replaycases.cases.models import Case
from replaycases.web import document_outline, document_rows
from tests import factories
from tests.factories import People
from tests.web.conftest import client_of


def document(events: int) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(factories.fixture())
    (event,) = made["events"]
    made["events"] = [{**event, "seq": number, "attempt": f"a-{number}"} for number in range(1, events + 1)]
    return made


def test_a_short_document_needs_none() -> None:
    assert document_outline.of(document_rows.places(document(1))) == []


def test_each_part_is_named_once_and_many_events_stand_together() -> None:
    found = document_outline.of(document_rows.places(document(20)))
    titles = [entry.title for entry in found]
    assert titles[:2] == ["Head", "Input"]
    assert "Event 20" in titles
    assert len(titles) == len(set(titles))
    many = [entry for entry in document_outline.of(document_rows.places(document(320))) if entry.is_event]
    assert [entry.title for entry in many][-2:] == ["Event 251 to 300", "Event 301 to 320"]
    assert many[-1].address == "?page=2#/events/300"


def test_every_link_of_the_outline_leads_to_a_row_of_the_page(people: People) -> None:
    made: Case = factories.case(people.project, people.responder, json.dumps(document(20)).encode())
    html = client_of(people.viewer).get(f"/cases/{made.readable_id}/revisions/1/").content.decode()
    outline = html.split('class="outline"')[1].split("</nav>")[0]
    anchors = re.findall(r'href="#([^"]+)"', outline)
    assert len(anchors) > 20
    assert [anchor for anchor in anchors if f'id="{anchor}"' not in html] == []
