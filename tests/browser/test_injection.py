"""A recorded trace never executes in a page, whatever stands in it."""

from __future__ import annotations

import pytest

from replaycases.accounts.models import Project, User
from replaycases.cases import comments, lifecycle, raw_reads
from replaycases.cases.models import Case, Stage
from tests import factories
from tests.browser.conftest import Session
from tests.web import recorded

pytestmark = pytest.mark.service

CORPUS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "'-alert(4)-'",
    "</textarea><script>alert(5)</script>",
    "javascript:alert(6)",
    "{{ 7|add:1 }}{% load x %}",
    "<a href='javascript:alert(8)' hx-get='/logout/' hx-trigger='load'>x</a>",
    "<iframe srcdoc='<script>alert(9)</script>'></iframe>",
    "<style>*{display:none}</style><meta http-equiv=refresh content='0;url=/logout/'>",
    "\u202e\u2066tpircs\u2069\x00\x1b]0;x\x07",
    "]]><!--<script>alert(10)//-->",
)
EVERYTHING = " ".join(CORPUS)

PAGES = (
    "/cases/",
    "/cases/?q=%3Cscript%3Ealert(1)%3C/script%3E",
    "/cases/RC-1/",
    "/cases/RC-1/timeline/",
    "/cases/RC-1/comparisons/1/",
    "/cases/RC-1/comparisons/1/?show=all",
    "/cases/RC-1/review/",
    "/cases/RC-1/review/redaction-approval/",
    "/cases/RC-1/revisions/",
    "/cases/RC-1/revisions/1/",
    "/cases/RC-1/revisions/1/?at=/events/0/outcome",
    "/cases/RC-1/revisions/2/differences/?from=1",
    "/cases/RC-1/revisions/new/",
    "/cases/RC-1/controls/{control}/approval/",
    "/reviews/?show=all",
    "/runs/",
    "/runs/RC/1/",
    "/runs/RC/3/",
    "/implementations/",
    "/implementations/{implementation}/",
)


def test_nothing_recorded_executes_and_the_policy_reports_nothing(
    session: Session, project: Project, everyone: User
) -> None:
    arguments = {"order": EVERYTHING, "<b>key</b>": EVERYTHING}
    event = {
        "seq": 1,
        "boundary": "tool",
        "attempt": "a-1",
        "tool": "<script>alert('tool')</script>",
        "arguments": arguments,
        "outcome": {"type": "error", "error": {"kind": "<i>kind</i>", "message": EVERYTHING}},
    }
    call = ("tool.call", {"tool": event["tool"], "arguments": arguments})
    wrong = ("tool.call", {"tool": event["tool"], "arguments": {**arguments, "order": f"{EVERYTHING}!"}})
    everyone.display_name = EVERYTHING[:150]
    everyone.save()
    case = factories.case(project, everyone, factories.fixture(events=[event], case_id=EVERYTHING[:150]))
    type(case).objects.filter(pk=case.pk).update(
        title=EVERYTHING[:300], incident_id=EVERYTHING[:200], trigger=EVERYTHING, deciding_evidence=EVERYTHING
    )
    first = factories.revision(case)
    comments.add(everyone, revision=first, pointer="/events/0/arguments/<b>key<~1b>", text=EVERYTHING)
    changed = factories.fixture(events=[{**event, "arguments": {"order": f"{EVERYTHING}?"}}], case_id=EVERYTHING[:150])
    second = factories.redacted_revision(everyone, case, changed, changed=EVERYTHING)
    Case.objects.filter(pk=case.pk).update(stage=Stage.IN_REVIEW)
    case.refresh_from_db()
    lifecycle.return_redaction(everyone, case=case, revision=2, content_hash=second.content_hash, note=EVERYTHING)
    raw_reads.begin(everyone, case=case, reason=EVERYTHING[:480])
    control = factories.control(second, everyone, name=EVERYTHING[:200])
    comparison = recorded.compared(
        case,
        everyone,
        recorded.says(f"The refund was completed. {EVERYTHING}", call, status=EVERYTHING, action=EVERYTHING),
        recorded.says("never said", wrong),
        stderr=f"Traceback\n{EVERYTHING}",
    )
    for page in PAGES:
        opened = session.open(page.format(implementation=comparison.old_id, control=control.pk))
        opened.wait_for_load_state("networkidle")
        assert session.violations() == [], page
        assert opened.url.endswith(page.format(implementation=comparison.old_id, control=control.pk)), page
        assert opened.locator("main script, main img, main iframe, main style, [onload], [onerror]").count() == 0, page
    assert session.dialogs == []
