"""The demo: one project, its people and teams, the worked incidents of examples/, and a comparison of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from django.db import transaction

from replaycases.accounts.models import Membership, Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import archives, details, intake, jobs, people, redaction_policies, registry
from replaycases.cases.demo_cases import INCIDENTS, POLICY, Incident
from replaycases.cases.models import Boundary, Case, FixtureRevision, Implementation

KEY = "DEMO"
# (user name, name shown, roles). Nobody holds all roles: approvals need two people.
PEOPLE = (
    ("responder", "Rosa Responder", (Role.RESPONDER,)),
    ("privacy", "Piet Privacy", (Role.PRIVACY_REVIEWER, Role.SECURITY_OWNER)),
    ("security", "Samir Security", (Role.SECURITY_OWNER, Role.PRIVACY_REVIEWER)),
    ("owner", "Olga Owner", (Role.INCIDENT_OWNER, Role.DEPENDENCY_OWNER)),
    ("qa", "Quentin Quality", (Role.QA,)),
    ("lead", "Lena Lead", (Role.QA, Role.QA_LEAD)),
    ("engineer", "Emil Engineer", (Role.WORKFLOW_ENGINEER,)),
    ("admin", "Ada Administrator", (Role.ADMINISTRATOR,)),
)
# {name: user names of its members}
TEAMS: Mapping[str, tuple[str, ...]] = {
    "Support agent": ("engineer", "owner"),
    "Payments": ("owner",),
    "Warehouse": ("owner", "qa"),
    "Support desk": ("responder",),
    "Profiles": ("owner",),
}

People = Mapping[str, User]


def load(examples: Path) -> Project:
    """Create what is missing of the demo; what is there stays as it is. Every comparison is queued for a worker; how
    the cases go on from there stands in `demo_walk`."""
    by_name = {name: _person(name, shown) for name, shown, _ in PEOPLE}
    with transaction.atomic():
        project, _ = Project.objects.get_or_create(key=KEY, defaults={"name": "Support agent (demo)"})
        for name, _, roles in PEOPLE:
            for role in (*roles, Role.VIEWER):
                Membership.objects.get_or_create(project=project, user=by_name[name], role=role)
    if redaction_policies.current(project) is None:
        note = "The shop and its ids are made up; what a customer is called is replaced."
        redaction_policies.save(by_name["privacy"], project=project, data=POLICY, note=note, seen=0)
    for name, members in TEAMS.items():
        _team(by_name, project, name, members)
    versions = {name: _implementation(by_name["engineer"], project, examples, name) for name in ("affected", "fixed")}
    for incident in INCIDENTS:
        if not Case.objects.filter(project=project, incident_id=incident.incident_id).exists():
            _bring_in(by_name, project, examples / "incidents", incident, versions)
    return project


def cast() -> People:
    """The demo's people by user name."""
    return {user.username: user for user in User.objects.filter(username__in=[name for name, _, _ in PEOPLE])}


def _person(name: str, shown: str) -> User:
    defaults = {"email": f"{name}@demo.invalid", "display_name": shown}
    person, created = User.objects.get_or_create(username=name, defaults=defaults)
    if created:
        person.set_unusable_password()
        person.save(update_fields=["password"])
    return person


def _team(by_name: People, project: Project, name: str, members: tuple[str, ...]) -> None:
    if not Team.objects.filter(project=project, name=name).exists():
        team = people.create_team(by_name["admin"], project=project, name=name)
        people.set_team_members(by_name["admin"], team=team, members=[by_name[member] for member in members])


def _implementation(actor: User, project: Project, examples: Path, name: str) -> Implementation:
    folder = examples / "support-agent"
    files = {f"{name}.json": ((folder / f"{name}.json").read_bytes(), False)}
    for path in sorted((folder / name).rglob("*.py")):
        files[path.relative_to(folder).as_posix()] = (path.read_bytes(), False)
    return registry.register_archive(actor, project=project, archive=archives.pack(files), spec_path=f"{name}.json")


# --- cases ----------------------------------------------------------------------------------------------------------


def _bring_in(
    by_name: People, project: Project, folder: Path, incident: Incident, versions: Mapping[str, Implementation]
) -> None:
    with transaction.atomic():
        case = _case(by_name, project, folder, incident)
        if case.current_revision is None:
            return
        _describe(by_name, case, incident, versions)
        _controls(by_name["engineer"], case.current_revision, folder, incident)
        jobs.request_comparison(
            by_name["engineer"], revision=case.current_revision, old=versions["affected"], new=versions["fixed"]
        )


def _case(by_name: People, project: Project, folder: Path, incident: Incident) -> Case:
    detect = folder / f"{incident.source}.detect.json"
    return intake.create_case(
        by_name["responder"],
        project=project,
        title=incident.title,
        incident_id=incident.incident_id,
        trigger=incident.trigger,
        prohibited_outcome=incident.prohibited_outcome,
        deciding_evidence=incident.deciding_evidence,
        fixture=_fixture(folder, incident) if incident.source else None,
        detect=detect.read_bytes() if detect.exists() else None,
        evidence_days=incident.evidence_days,
        security_incident=incident.security_incident,
    )


def _fixture(folder: Path, incident: Incident) -> bytes:
    """The example's fixture; a copy says whose case it is."""
    data = (folder / f"{incident.source}.json").read_bytes()
    if incident.name == incident.source:
        return data
    document = {**json.loads(data), "case_id": incident.name, "incident_id": incident.incident_id}
    if incident.message:
        document["identity"] = {**document["identity"], **incident.personal}
        document["input"] = {**document["input"], "message": incident.message}
    return json.dumps(document, indent=2, ensure_ascii=False).encode()


def _describe(by_name: People, case: Case, incident: Incident, versions: Mapping[str, Implementation]) -> None:
    details.edit_provenance(
        by_name["engineer"],
        case=case,
        incident_url=f"https://incidents.demo.invalid/{incident.incident_id}",
        trace_id=f"trace-{incident.incident_id[-3:]}",
        trace_url="",
        affected=versions["affected"],
        fixed=versions["fixed"],
        covering_test=incident.covering_test,
    )
    teams = {team.name: team for team in Team.objects.filter(project=case.project)}
    owners: dict[Boundary, User | Team | None] = {
        Boundary.PROHIBITED_OUTCOME: by_name["owner"],
        Boundary.WORKFLOW: teams["Support agent"],
        Boundary.DEPENDENCY: teams[incident.dependency],
        Boundary.SUITE_POLICY: by_name["qa"],
        Boundary.PRIVACY: by_name["privacy"],
    }
    details.set_owners(by_name["engineer"], case=case, owners=owners)


def _controls(actor: User, revision: FixtureRevision, folder: Path, incident: Incident) -> None:
    for name, outcome_type in incident.controls.items():
        control = folder / "controls" / incident.source / f"{name}.json"
        intake.add_control(
            actor,
            revision=revision,
            name=name,
            outcome_type=outcome_type,
            fixture=control.read_bytes(),
            mutation=control.with_suffix(".mutation.json").read_bytes(),
        )
