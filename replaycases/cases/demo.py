"""The demo: one project, five people, the worked incidents of examples/, and a comparison of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from replaycases.accounts.models import Membership, Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import archives, intake, jobs, registry
from replaycases.cases.models import Case, Classification, Comparison, Implementation, OutcomeType

KEY = "DEMO"
# (user name, name shown, roles). Nobody holds all roles: approvals need two people.
PEOPLE = (
    ("responder", "Rosa Responder", (Role.RESPONDER,)),
    ("privacy", "Piet Privacy", (Role.PRIVACY_REVIEWER, Role.SECURITY_OWNER)),
    ("owner", "Olga Owner", (Role.INCIDENT_OWNER, Role.DEPENDENCY_OWNER)),
    ("qa", "Quentin Quality", (Role.QA,)),
    ("engineer", "Emil Engineer", (Role.WORKFLOW_ENGINEER,)),
)


@dataclass(frozen=True, kw_only=True)
class Incident:
    """A fixture of examples/incidents with its failure statement; `controls` maps file names to outcome types."""

    name: str
    incident_id: str
    title: str
    trigger: str
    prohibited_outcome: str
    deciding_evidence: str
    controls: dict[str, OutcomeType]


INCIDENTS = (
    Incident(
        name="refund-timeout",
        incident_id="INC-2025-031",
        title="Told the customer that a refund was completed after the lookup timed out",
        trigger="The payment service did not answer the refund lookup before its deadline.",
        prohibited_outcome="The reply says that the refund was completed.",
        deciding_evidence="The lookup ended in a timeout, so the state of the refund was not known.",
        controls={
            "confirmed": OutcomeType.SUCCESS,
            "declined": OutcomeType.REJECTION,
            "timeout-before-result": OutcomeType.TIMEOUT,
            "still-processing": OutcomeType.UNCERTAIN,
        },
    ),
    Incident(
        name="shipment-created-twice",
        incident_id="INC-2025-044",
        title="Created a second shipment because the retry dropped its idempotency key",
        trigger="The warehouse accepted the first request and its answer came too late.",
        prohibited_outcome="Two shipments stand in the warehouse for one order.",
        deciding_evidence="The list of shipments shows two for the order, one for each attempt.",
        controls={
            "accepted": OutcomeType.SUCCESS,
            "rejected": OutcomeType.REJECTION,
            "timeout-before-acceptance": OutcomeType.TIMEOUT,
            "never-known": OutcomeType.UNCERTAIN,
        },
    ),
    Incident(
        name="recovery-handoff-clock-change",
        incident_id="INC-2025-058",
        title="Handed an account recovery to a desk that was closed, in the night of the clock change",
        trigger="The request came at 03:20 local time, minutes after the clocks went forward.",
        prohibited_outcome="The customer is handed to the desk outside its hours instead of getting a callback.",
        deciding_evidence="The policy's hours, read with the zone's own rules, were over at that instant.",
        controls={
            "just-before": OutcomeType.SUCCESS,
            "just-after": OutcomeType.SUCCESS,
            "desk-full": OutcomeType.UNCERTAIN,
            "handoff-rejected": OutcomeType.REJECTION,
        },
    ),
    Incident(
        name="email-change-timeout",
        incident_id="INC-2025-012",
        title="Confirmed a new e-mail address although saving it timed out",
        trigger="The profile service did not answer the change.",
        prohibited_outcome="The reply says that the address was changed.",
        deciding_evidence="The only attempt ended in a timeout and nothing was read back.",
        controls={"changed": OutcomeType.SUCCESS, "rejected": OutcomeType.REJECTION},
    ),
)


def load(examples: Path) -> Project:
    """Create what is missing of the demo; what is there stays as it is. Every comparison is queued for a worker."""
    people = {name: _person(name, shown) for name, shown, _ in PEOPLE}
    with transaction.atomic():
        project, _ = Project.objects.get_or_create(key=KEY, defaults={"name": "Support agent (demo)"})
        for name, _, roles in PEOPLE:
            for role in (*roles, Role.VIEWER):
                Membership.objects.get_or_create(project=project, user=people[name], role=role)
    old, new = (_implementation(people["engineer"], project, examples, name) for name in ("affected", "fixed"))
    for incident in INCIDENTS:
        case = _case(people["responder"], project, examples / "incidents", incident)
        if not Comparison.objects.filter(revision=case.current_revision, old=old, new=new).exists():
            assert case.current_revision is not None
            jobs.request_comparison(people["engineer"], revision=case.current_revision, old=old, new=new)
    return project


def _person(name: str, shown: str) -> User:
    defaults = {"email": f"{name}@demo.invalid", "display_name": shown}
    person, created = User.objects.get_or_create(username=name, defaults=defaults)
    if created:
        person.set_unusable_password()
        person.save(update_fields=["password"])
    return person


def _implementation(actor: User, project: Project, examples: Path, name: str) -> Implementation:
    folder = examples / "support-agent"
    files = {f"{name}.json": ((folder / f"{name}.json").read_bytes(), False)}
    for path in sorted((folder / name).rglob("*.py")):
        files[path.relative_to(folder).as_posix()] = (path.read_bytes(), False)
    return registry.register_archive(actor, project=project, archive=archives.pack(files), spec_path=f"{name}.json")


def _case(actor: User, project: Project, folder: Path, incident: Incident) -> Case:
    """The case with its controls. They are examples, made up from the start: nothing in them is quarantined."""
    existing = Case.objects.filter(project=project, case_id=incident.name).first()
    if existing is not None:
        return existing
    detect = folder / f"{incident.name}.detect.json"
    with transaction.atomic():
        case = intake.create_case(
            actor,
            project=project,
            title=incident.title,
            incident_id=incident.incident_id,
            trigger=incident.trigger,
            prohibited_outcome=incident.prohibited_outcome,
            deciding_evidence=incident.deciding_evidence,
            fixture=(folder / f"{incident.name}.json").read_bytes(),
            detect=detect.read_bytes() if detect.exists() else None,
            classification=Classification.PUBLIC,
        )
        assert case.current_revision is not None
        for name, outcome_type in incident.controls.items():
            control = folder / "controls" / incident.name / f"{name}.json"
            intake.add_control(
                actor,
                revision=case.current_revision,
                name=name,
                outcome_type=outcome_type,
                fixture=control.read_bytes(),
                mutation=control.with_suffix(".mutation.json").read_bytes(),
                classification=Classification.PUBLIC,
            )
    return case
