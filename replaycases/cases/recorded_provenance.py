"""What a captured run says of the provenance of the case that is made of it."""

from __future__ import annotations

from replaycases.accounts.models import User
from replaycases.cases import details, evidence
from replaycases.cases.models import Case, Implementation, Provenance
from replaycases.cases.recording_ages import is_same_commit
from replaycases.importers.neutral import NeutralRun
from replaycases.importers.run_record import COMMIT
from replaycases.importers.supplied import Supplied

LINKS = ("incident_url", "trace_url")


def record_of(run: NeutralRun, supplied: Supplied) -> dict[str, dict[str, str]]:
    """The run record as `Provenance.run_record`; a person's word stands in place of the trace's."""
    found = {name: {"value": value, "source": "trace"} for name, value in run.record.items()}
    said = {name: evidence.printable(value) for name, value in supplied.record.items()}
    return found | {name: {"value": value, "source": "declared"} for name, value in said.items()}


def keep(actor: User, *, case: Case, run: NeutralRun, supplied: Supplied, trace_id: str) -> Provenance:
    """Record it, in the caller's transaction. What somebody recorded of the case already stays. Raises as
    `details.edit_provenance`."""
    found = Provenance.objects.filter(case=case).select_related("affected", "fixed").first()
    kept = found or Provenance(case_id=case.pk)
    record = record_of(run, supplied)
    links = {name: record.pop(name, {"value": ""})["value"] for name in LINKS}
    return details.edit_provenance(
        actor,
        case=case,
        incident_url=kept.incident_url or links["incident_url"],
        trace_id=kept.trace_id or trace_id,
        trace_url=kept.trace_url or links["trace_url"],
        affected=kept.affected or _affected(case, run, supplied),
        fixed=kept.fixed,
        covering_test=kept.covering_test,
        run_record=record,
    )


def _affected(case: Case, run: NeutralRun, supplied: Supplied) -> Implementation | None:
    """The registered version that the run record names, by its version or its commit; None where it names none, or more
    than one code: nothing is guessed."""
    said = [
        supplied.workflow_version or run.workflow_version,
        supplied.record.get("commit") or run.record.get("commit"),
    ]
    known = Implementation.objects.filter(project=case.project_id).order_by("created_at").defer("spec")
    named = [one for one in known if any(name and _is_named(one, name) for name in said)]
    return named[-1] if len({one.digest for one in named}) == 1 else None


def _is_named(one: Implementation, name: str) -> bool:
    return one.version == name or bool(COMMIT.fullmatch(name) and is_same_commit(one.commit, name))
