"""The list of cases: stage, lane and latest verdict, which are three different things, and the filters in the URL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import cache
from typing import Any
from uuid import UUID

import django_filters
from django import forms
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from replaycases.accounts.models import Project, Team, User
from replaycases.cases import searching
from replaycases.cases.models import Case, CaseOwner, LaneName, Stage
from replaycases.web.labels import VERDICTS
from replaycases.web.members import members_of
from replaycases.web.pages import COUNTED, ROWS_A_PAGE
from replaycases.web.templatetags import ui
from replaycases.web.templatetags.evidence import visible_html
from replaycases.web.widgets import Select

NO_VERDICT = "none"
SOON = (1, 7, 30, 90)
ORDER = ("-created_at", "-number")
# Of the case's own row: a join makes the database read all of the other table where many rows match.
COLUMNS = (
    "project_id",
    "number",
    "title",
    "incident_id",
    "stage",
    "lane",
    "verdict",
    "compared",
    "flagged",
    "security_incident",
    "contained_at",
    "evidence_expires_at",
    "created_at",
)


@dataclass(frozen=True, kw_only=True)
class Listing:
    """One page. `rows` are table rows, drawn; `total` is None where there are too many to be counted."""

    rows: SafeString
    number: int
    first: int
    last: int
    total: int | None
    has_next: bool

    @property
    def has_previous(self) -> bool:
        return self.number > 1

    @property
    def previous_number(self) -> int:
        return self.number - 1

    @property
    def next_number(self) -> int:
        return self.number + 1


class CaseFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    q = django_filters.CharFilter(method="search", label="Search", widget=forms.TextInput(attrs={"type": "search"}))
    project = django_filters.ChoiceFilter(
        method="in_project", widget=Select, empty_label="any project", label="Project"
    )
    stage = django_filters.ChoiceFilter(choices=Stage.choices, widget=Select, empty_label="any stage", label="Stage")
    lane = django_filters.ChoiceFilter(choices=LaneName.choices, widget=Select, empty_label="any lane", label="Lane")
    verdict = django_filters.ChoiceFilter(
        choices=[(NO_VERDICT, "None yet"), *((key, look.word) for key, look in VERDICTS.items())],
        method="with_verdict",
        widget=Select,
        empty_label="any verdict",
        label="Latest verdict",
    )
    owner = django_filters.ChoiceFilter(method="owned_by", widget=Select, empty_label="any owner", label="Owner")
    expires = django_filters.ChoiceFilter(
        choices=[(days, f"in {days} day{'s' if days > 1 else ''}") for days in SOON],
        method="expiring",
        widget=Select,
        empty_label="any time",
        label="Evidence expires",
    )
    flagged = django_filters.BooleanFilter(
        method="marked", widget=forms.CheckboxInput, label="Re-review asked", field_name="flagged"
    )
    security = django_filters.BooleanFilter(
        method="marked", widget=forms.CheckboxInput, label="Security incident", field_name="security_incident"
    )

    class Meta:
        model = Case
        fields: list[str] = []

    def __init__(self, *args: Any, user: User, projects: Sequence[Project], **kwargs: Any) -> None:
        super().__init__(*args, queryset=Case.objects.filter(project__in=[p.pk for p in projects]), **kwargs)
        self.user = user
        self.projects = {project.key: project for project in projects}
        # Whether a word that is found nearly everywhere was searched for: then the matches are not counted.
        self.frequent = False
        # Whether a text was searched for: then a full page is not counted beyond itself.
        self.searched = False
        # What says whose the cases are, one for each person or team that was asked for.
        self.owners: list[QuerySet[CaseOwner]] = []
        self.filters["project"].extra["choices"] = [(key, key) for key in self.projects]
        self.filters["owner"].extra["choices"] = owner_choices(projects)
        for field in self.form.fields.values():
            if not isinstance(field.widget, forms.CheckboxInput):
                field.widget.attrs["class"] = "input"

    def search(self, cases: QuerySet[Case], name: str, value: str) -> QuerySet[Case]:
        found = searching.matching(value, self.projects)
        self.frequent, self.searched = found.frequent, True
        return cases.filter(found.condition)

    def in_project(self, cases: QuerySet[Case], name: str, value: str) -> QuerySet[Case]:
        return cases.filter(project=self.projects[value])

    def with_verdict(self, cases: QuerySet[Case], name: str, value: str) -> QuerySet[Case]:
        return cases.filter(verdict="" if value == NO_VERDICT else value)

    def owned_by(self, cases: QuerySet[Case], name: str, value: str) -> QuerySet[Case]:
        kind, _, key = value.partition(":")
        owners = CaseOwner.objects.filter(project__in=[project.pk for project in self.projects.values()])
        if kind != "me":
            self.owners = [owners.filter(**{kind: UUID(key)})]
            return cases.filter(Exists(self.owners[0].filter(case=OuterRef("pk"))))
        teams = list(self.user.teams.values_list("pk", flat=True))
        self.owners = [owners.filter(user=self.user), *(owners.filter(team=team) for team in teams)]
        # Two lists of keys, each from one index: a database that is asked for "either of" a case reads every owner.
        mine = (CaseOwner.objects.filter(user=self.user), CaseOwner.objects.filter(team__in=teams))
        return cases.filter(Q(pk__in=mine[0].values("case")) | Q(pk__in=mine[1].values("case")))

    def expiring(self, cases: QuerySet[Case], name: str, value: str) -> QuerySet[Case]:
        return cases.filter(evidence_expires_at__lte=timezone.now() + timedelta(days=int(value)))

    def marked(self, cases: QuerySet[Case], name: str, value: bool) -> QuerySet[Case]:
        return cases.filter(**{name: True}) if value else cases

    @property
    def owned(self) -> list[QuerySet[CaseOwner]]:
        """Where an owner and perhaps a project are all that is asked for: the rows that say so, which are leafed
        through faster than the cases are. After `qs`."""
        asked = {name for name, value in self.form.cleaned_data.items() if value}
        if not asked <= {"owner", "project"}:
            return []
        key = self.form.cleaned_data["project"]
        return [owners.filter(project=self.projects[key]) for owners in self.owners] if key else self.owners

    @property
    def order(self) -> tuple[str, ...]:
        """What runs out first stands first where that was asked for; else the newest."""
        return ("evidence_expires_at", *ORDER) if self.form.cleaned_data.get("expires") else ORDER


def owner_choices(projects: Iterable[Project]) -> list[tuple[str, Any]]:
    """Me, the teams and the people of the projects. Two queries."""
    keys = {project.pk: project.key for project in projects}
    teams = Team.objects.filter(project__in=keys).values_list("pk", "name", "project_id")
    people = members_of(projects).values_list("pk", "display_name", "username")
    many = len(keys) > 1
    return [
        ("me", "me, or a team of mine"),
        ("Teams", [(f"team:{pk}", f"{name} ({keys[project]})" if many else name) for pk, name, project in teams]),
        ("People", [(f"user:{pk}", display_name or username) for pk, display_name, username in people]),
    ]


def listing(found: CaseFilter, number: str | None) -> Listing:
    """The page of that number, or the nearest one."""
    if not found.is_valid():
        return Listing(rows=SafeString(), number=1, first=0, last=0, total=0, has_next=False)
    cases = found.qs.order_by(*found.order)
    wanted = max(1, int(number)) if number and number.isdecimal() and len(number) < 9 else 1
    owned = found.owned
    rows = _rows(cases, owned, wanted)
    total = None if found.frequent else _total(found, cases, rows, wanted)
    if not rows and wanted > 1:
        reachable = 0 if found.frequent else COUNTED if total is None else total
        wanted = max(1, -(-min(reachable, COUNTED) // ROWS_A_PAGE))
        rows = _rows(cases, owned, wanted)
    start = (wanted - 1) * ROWS_A_PAGE
    shown = rows[:ROWS_A_PAGE]
    return Listing(
        rows=_drawn(shown, {project.pk: project.key for project in found.projects.values()}),
        number=wanted,
        first=start + 1 if shown else 0,
        last=start + len(shown),
        total=total,
        has_next=len(rows) > ROWS_A_PAGE and start + ROWS_A_PAGE < COUNTED,
    )


def _rows(cases: QuerySet[Case], owned: Sequence[QuerySet[CaseOwner]], page: int) -> list[tuple[Any, ...]]:
    """The rows of the page and one more, which says that there is a next page."""
    start = (page - 1) * ROWS_A_PAGE
    if start >= COUNTED:
        return []
    end = start + ROWS_A_PAGE + 1
    if owned:
        return list(_shown_of(Case.objects.filter(pk__in=_chosen_of(owned, start, end)).order_by(*ORDER)))
    return list(_shown_of(cases)[start:end])


def _shown_of(cases: QuerySet[Case]) -> QuerySet[Case, Any]:
    compared = ExpressionWrapper(Q(latest_comparison__isnull=False), output_field=BooleanField())
    return cases.annotate(compared=compared).values_list(*COLUMNS)


def _keys(owners: QuerySet[CaseOwner]) -> QuerySet[CaseOwner, Any]:
    """Each case of an owner once, who may have several of its boundaries. All of it is of the index, in its order: so
    many are read as are asked for."""
    newest = owners.order_by("-case_created_at", "-case_number", "case_id")
    return newest.values_list("case_created_at", "case_number", "case_id").distinct()


def _chosen_of(owned: Sequence[QuerySet[CaseOwner]], start: int, end: int) -> RawSQL:
    """The keys of the newest cases of any of the owners. Each owner's rows come in the order of an index; they are
    merged, a case of several owners is taken once, and no more is read than the page needs."""
    each = [_keys(owners)[:end].query.sql_with_params() for owners in owned]
    newest = "ORDER BY case_created_at DESC, case_number DESC, case_id LIMIT"
    union = " UNION ALL ".join(f"SELECT * FROM ({sql}) AS owner_{at}" for at, (sql, _) in enumerate(each))  # noqa: S608
    merged = f"SELECT * FROM ({union}) AS owned {newest} {end * len(owned)}"  # noqa: S608
    columns = "DISTINCT case_created_at, case_number, case_id"
    once = f"SELECT {columns} FROM ({merged}) AS merged {newest} {end - start}"  # noqa: S608
    keys = f"SELECT case_id FROM ({once} OFFSET {start}) AS chosen"  # noqa: S608
    return RawSQL(keys, [param for _, params in each for param in params])  # noqa: S611


def _total(found: CaseFilter, cases: QuerySet[Case], rows: Sequence[Any], page: int) -> int | None:
    """How many there are, None for more than COUNTED. Not asked of the database where the rows tell, nor where what a
    text finds or cases of several owners fill the page: to count them takes as long as to find them."""
    if 0 < len(rows) <= ROWS_A_PAGE or (page == 1 and not rows):
        return (page - 1) * ROWS_A_PAGE + len(rows)
    if (found.searched or len(found.owners) > 1) and rows:
        return None
    few = slice(0, COUNTED + 1)
    if len(found.owned) == 1:
        counted = _keys(found.owned[0])[few].count()
    else:
        counted = cases.order_by().values("pk")[few].count()
    return counted if counted <= COUNTED else None


def _drawn(rows: Sequence[tuple[Any, ...]], keys: Mapping[UUID, str]) -> SafeString:
    """Rows are put together here and not by a template: five hundred of them take a template longer than everything
    else on the page does. Each part is escaped where it is made."""
    zone = timezone.get_current_timezone()
    return SafeString("\n".join(_row(row, keys, zone) for row in rows))


def _row(values: tuple[Any, ...], keys: Mapping[UUID, str], zone: tzinfo) -> str:
    project, number, title, incident, stage, lane, verdict, compared, flagged, security, contained, expires, at = values
    key = keys[project]
    address = f"{_list_address()}{key}-{number}/"
    marks = (_mark("bad", "warn", "not contained") if security and contained is None else "") + (
        _mark("look", "clock", "re-review asked") if flagged else ""
    )
    shown = f'<a href="{address}comparisons/latest/">{_verdict(verdict)}</a>' if compared else _mute("never compared")
    return (
        f'<tr><th scope="row" class="id"><a href="{address}">{key}-{number}</a></th>'
        f'<td class="grow">{visible_html(title)}{marks}</td><td class="nw">{visible_html(incident)}</td>'
        f"<td>{ui.stage_of(stage)}</td><td>{_lane(lane)}</td><td>{shown}</td>"
        f'<td class="nw">{_day(expires, zone)}</td><td class="r nw">{_day(at, zone)}</td></tr>'
    )


@cache
def _list_address() -> str:
    return reverse("case_list")


@cache
def _verdict(label: str) -> str:
    return ui.verdict_badge(label)


@cache
def _lane(lane: str) -> str:
    return format_html('<span class="lane">{}</span>', lane) if lane else _mute("none")


@cache
def _mute(word: str) -> str:
    return format_html('<span class="mute">{}</span>', word)


@cache
def _mark(css: str, icon: str, words: str) -> str:
    return format_html('<div><span class="st {}">{}{}</span></div>', css, ui.icon(icon), words)


_MONTHS = ("", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _day(at: datetime | None, zone: tzinfo) -> str:
    """The day of an instant, with the full time on hover, as `{% when at "day" %}` draws it."""
    if at is None:
        return _mute("-")
    local = at.astimezone(zone)
    full = local.isoformat(sep=" ", timespec="seconds")
    words = f"{local.day} {_MONTHS[local.month]} {local.year}"
    return f'<time datetime="{full[:10]}T{full[11:]}" title="{full[:19]}, UTC{full[19:]}">{words}</time>'
