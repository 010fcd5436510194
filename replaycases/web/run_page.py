"""The list of runs and the page of one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import django_filters
from django.db.models import QuerySet

from replaycases.accounts.models import User
from replaycases.accounts.roles import VOIDS_RUN_SETS
from replaycases.cases import evidence, reading, searching
from replaycases.cases.models import MAX_ATTEMPTS, Run, RunState
from replaycases.verdict.manifest import parse
from replaycases.web import sharing, timeout_rows, words
from replaycases.web.call_rows import asked, call_name
from replaycases.web.raw_reading import Shown
from replaycases.web.scope import may

CALLS_SHOWN = 500
# What a row of the list shows: five tables' whole rows take longer to read than to show.
LISTED = (
    *("number", "index", "state", "status", "boundary_passed", "observation_hash", "created_at", "project__key"),
    *("run_set__size", "run_set__mutated", "run_set__voided_at", "run_set__control__name"),
    *("run_set__implementation__name", "run_set__implementation__version"),
    *("run_set__revision__case__number", "run_set__revision__case__project__key"),
)


def listed_runs(user: User) -> QuerySet[Run]:
    return (
        Run.objects.visible_to(user)
        .select_related("project", "run_set__implementation", "run_set__revision__case__project", "run_set__control")
        .only(*LISTED)
        .order_by("-created_at", "-number")
    )


class RunFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    case = django_filters.CharFilter(method="of_case", label="Case")
    state = django_filters.ChoiceFilter(choices=RunState.choices, empty_label="any state", label="State")

    class Meta:
        model = Run
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.form.fields.values():
            field.widget.attrs["class"] = "input"

    def of_case(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        """By readable id ("RC-17"); anything else finds nothing."""
        named = searching.case_id_of(value)
        if named is None:
            return runs.none()
        return runs.filter(project__key=named[0], run_set__revision__case__number=named[1])


def context(run: Run, *, user: User, raw: Shown) -> dict[str, Any]:
    """What runs/detail.html shows. `manifest` is None where there is none or it is not open to the user; `withheld` and
    `raw` say which of the two."""
    payload = run.manifest
    manifest = parse(evidence.read(payload)).document if payload and raw.open else None
    case = run.run_set.revision.case
    return {
        "section": "runs",
        "run": run,
        "case": case,
        "revision": run.run_set.revision,
        "max_attempts": MAX_ATTEMPTS,
        "may_void": run.run_set.voided_at is None and may(user, run.project, VOIDS_RUN_SETS),
        "manifest": manifest,
        "manifest_size": payload.size if payload else 0,
        "sharing": sharing.cases_on(
            run.run_set.fixture_hash, run.run_set.checks_hash, beside=run.run_set.revision.case, user=user
        ),
        "raw": raw,
        "withheld": None if raw.access.may else reading.readers(),
        "calls": calls_of(manifest) if manifest else [],
        "calls_total": len(manifest["calls"]) if manifest else 0,
        "divergence": divergence_of(manifest) if manifest else None,
        # A control is another recording than its revision's.
        "timeouts": timeout_rows.rows_of(run.run_set.revision) if run.run_set.control_id is None else [],
        "outcome": outcome_of(manifest) if manifest else None,
        "stderr": words.whole(evidence.printable(manifest["stderr"])) if manifest and manifest["stderr"] else None,
    }


def outcome_of(manifest: Mapping[str, Any]) -> words.Shown:
    report = manifest["raw_outcome"]
    return words.whole("The run ended without a report." if report is None else words.as_text(report))


def calls_of(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The first calls in order: place, name, what was asked, the event that answered."""
    return [
        {
            "place": place,
            "name": call_name(call),
            "boundary": call["boundary"],
            "seq": call["seq"],
            "answered": call["answered"],
            "asked": words.whole(words.as_text(asked(call))),
        }
        for place, call in enumerate(manifest["calls"][:CALLS_SHOWN], start=1)
    ]


def divergence_of(manifest: Mapping[str, Any]) -> dict[str, Any] | None:
    """The run's own first divergence, its values as text."""
    found = manifest["first_divergence"]
    if found is None:
        return None
    differences = [
        {
            "pointer": item["pointer"],
            "sides": words.differing(_side(item, "expected"), _side(item, "actual")),
        }
        for item in found["differences"]
    ]
    nearest = words.whole(words.as_text(found["nearest"])) if found["nearest"] else None
    return {**found, "differences": differences, "nearest": nearest, "word": found["kind"].replace("_", " ")}


def _side(difference: Mapping[str, Any], side: str) -> str:
    other = "actual" if side == "expected" else "expected"
    return "absent" if difference["only"] == other else words.as_text(difference[side])
