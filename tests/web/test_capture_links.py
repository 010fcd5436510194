"""What was made of a capture, from either side: which case, of which run, and whether its evidence is still there."""

from __future__ import annotations

from django.test import Client
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import drafts
from replaycases.cases.models import Capture, Draft
from replaycases.importers import run_record
from tests import factories
from tests.web.conftest import client_of


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_a_case_and_its_capture_lead_to_each_other(project: Project, responder: User) -> None:
    capture = factories.drafted(project, responder)
    draft = Draft.objects.get()
    assert '<a class="btn" href="/captures/RC-T1/runs/0/draft/">Go on' in page(client_of(responder), "/")
    said = {name: factories.STATEMENT[name] for name in ("title", "trigger", "prohibited_outcome", "deciding_evidence")}
    case = drafts.make_case(responder, draft=draft, seen=draft.choices.digest, **said)
    viewer = client_of(factories.person(project, Role.VIEWER))
    html = page(viewer, f"/cases/{case.readable_id}/")
    assert '<a href="/captures/RC-T1/">RC-T1</a>, <a href="/captures/RC-T1/runs/0/">run 0</a>' in html
    assert "its evidence ends" in html
    record = html.split("<summary>Run record")[1].split("</details>")[0]
    assert f"0 of {len(run_record.PARTS)} stated" in record
    assert "cannot be checked out again" in record
    made = page(viewer, "/captures/RC-T1/").split('id="made"')[1]
    assert f'<a href="/cases/{case.readable_id}/">{case.readable_id}</a>' in made
    assert case.title in made
    Capture.objects.filter(pk=capture.pk).update(purged_at=timezone.now())
    assert "its evidence was destroyed" in page(viewer, f"/cases/{case.readable_id}/")


def test_a_case_names_no_capture_of_another_project(project: Project, responder: User) -> None:
    factories.drafted(project, responder)
    other = factories.project("XX")
    stranger = factories.everyone(other)
    case = factories.case(other, stranger)
    Draft.objects.update(case=case)
    assert "RC-T1" not in page(client_of(stranger), f"/cases/{case.readable_id}/")


def test_the_search_in_the_bar_finds_captures_beside_cases(project: Project, responder: User) -> None:
    factories.drafted(project, responder)
    found = page(client_of(responder), "/cases/?q=rc-t1")
    assert "Captures that match" in found
    assert '<a class="id" href="/captures/RC-T1/">RC-T1</a>' in found
    for address in ("/cases/?q=rc-t2", "/cases/?q=rc-t1&stage=quarantined", "/cases/"):
        assert "Captures that match" not in page(client_of(responder), address)
    stranger = factories.everyone(factories.project("XX"))
    assert "RC-T1<" not in page(client_of(stranger), "/cases/?q=rc-t1")
