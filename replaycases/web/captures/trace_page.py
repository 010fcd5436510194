"""What collectors sent and nobody captured yet, the rules that capture some of it, and how much of it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import django_filters
from django import forms
from django.conf import settings
from django.db.models import Q, QuerySet

from replaycases.accounts import access
from replaycases.accounts.models import Project, Scope, User
from replaycases.accounts.roles import ADMINISTERS, CAPTURES
from replaycases.cases import texts, trace_captures
from replaycases.cases.models import BufferedTrace, CaptureRule, RuleKind, TraceInbox
from replaycases.web.forms import ProjectForm
from replaycases.web.widgets import Select

STATES = {
    "waiting": ("not captured", Q(capture=None)),
    "errors": ("with errors", Q(errors__gt=0)),
    "wanted": ("wanted by a rule", Q(rule__enabled=True)),
    "refused": ("could not be captured", ~Q(why_not="")),
    "captured": ("captured", Q(capture__isnull=False)),
}


class TraceFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter has no types
    q = django_filters.CharFilter(method="search", label="Trace id or service")
    project = django_filters.ChoiceFilter(
        field_name="project__key", widget=Select, empty_label="any project", label="Project"
    )
    state = django_filters.ChoiceFilter(
        choices=[(key, word) for key, (word, _) in STATES.items()],
        method="in_state",
        widget=Select,
        empty_label="any",
        label="State",
    )

    class Meta:
        model = BufferedTrace
        fields: list[str] = []

    def __init__(self, *args: Any, projects: Sequence[Project], **kwargs: Any) -> None:
        super().__init__(*args, queryset=listed(projects), **kwargs)
        self.filters["project"].extra["choices"] = [(project.key, project.key) for project in projects]
        for field in self.form.fields.values():
            field.widget.attrs["class"] = "input"

    def search(self, traces: QuerySet[BufferedTrace], name: str, value: str) -> QuerySet[BufferedTrace]:
        said = value.strip()
        return traces.filter(Q(trace_id__startswith=said.lower()) | Q(service__icontains=said))

    def in_state(self, traces: QuerySet[BufferedTrace], name: str, value: str) -> QuerySet[BufferedTrace]:
        return traces.filter(STATES[value][1])


def listed(projects: Sequence[Project]) -> QuerySet[BufferedTrace]:
    traces = BufferedTrace.objects.filter(project__in=[project.pk for project in projects])
    return traces.select_related("project", "rule", "capture__project").order_by("-last_at", "trace_id")


@dataclass(frozen=True, kw_only=True)
class TraceRow:
    """A trace that is kept. `goes_at`: when it is dropped at the latest. `wanted` are the words of the rule that it
    matched, "" for none; `rule_on`: that rule is on. `may_capture`: the reader may. `more`: some of it came after it
    was captured."""

    trace: BufferedTrace
    goes_at: datetime
    wanted: str
    rule_on: bool
    may_capture: bool
    more: bool


def rows_of(traces: Sequence[BufferedTrace], user: User) -> list[TraceRow]:
    """One query, for the reader's roles."""
    roles = access.roles_by_project(user, {trace.project for trace in traces})
    return [
        TraceRow(
            trace=trace,
            goes_at=trace.first_at + timedelta(seconds=settings.REPLAYCASES_OTLP_KEEP_SECONDS),
            wanted=words_of(trace.rule) if trace.rule else "",
            rule_on=trace.rule is not None and trace.rule.enabled,
            may_capture=not roles[trace.project_id].isdisjoint(CAPTURES),
            more=trace.capture is not None and trace.last_at > trace.capture.captured_at,
        )
        for trace in traces
    ]


def words_of(rule: CaptureRule) -> str:
    match rule.kind:
        case RuleKind.ERROR:
            return "a span ended with an error"
        case RuleKind.ATTRIBUTE:
            return f"attribute {rule.key} is {rule.value or 'empty'}"
    return f"it is trace {rule.value}"


@dataclass(frozen=True, kw_only=True)
class Held:
    """How full the buffer of a project is, and what it could not keep. `full` is in per cent, of bytes or of traces,
    whichever is nearer to its limit."""

    key: str
    inbox: TraceInbox
    full: int


def held(projects: Sequence[Project]) -> list[Held]:
    """The buffers to which something came. One query."""
    found = TraceInbox.objects.filter(project__in=[project.pk for project in projects]).select_related("project")
    return [Held(key=inbox.project.key, inbox=inbox, full=_full(inbox)) for inbox in found.order_by("project__key")]


def _full(inbox: TraceInbox) -> int:
    of_bytes = inbox.bytes / settings.REPLAYCASES_OTLP_BUFFER_BYTES
    return round(100 * max(of_bytes, inbox.traces / settings.REPLAYCASES_OTLP_BUFFER_TRACES))


def limits() -> dict[str, Any]:
    """What is kept of each project at most, for the words of the page."""
    keep = settings.REPLAYCASES_OTLP_KEEP_SECONDS
    return {
        "bytes": settings.REPLAYCASES_OTLP_BUFFER_BYTES,
        "traces": settings.REPLAYCASES_OTLP_BUFFER_TRACES,
        "keep": f"{keep // 3600} hours" if keep >= 7200 else f"{keep // 60} minutes",
        "quiet": settings.REPLAYCASES_OTLP_QUIET_SECONDS,
        "by_rule": trace_captures.MOST_BY_RULE,
    }


SNIPPET = """\
exporters:
  otlphttp/replaycases:
    endpoint: {endpoint}
    headers:
      Authorization: Bearer ${{env:REPLAYCASES_TOKEN}}
    compression: gzip
    retry_on_failure: {{enabled: true}}
service:
  pipelines:
    traces: {{receivers: [otlp], processors: [batch], exporters: [otlphttp/replaycases]}}
    logs: {{receivers: [otlp], processors: [batch], exporters: [otlphttp/replaycases]}}
"""


def collector() -> dict[str, str]:
    """How a collector sends here."""
    endpoint = settings.REPLAYCASES_BASE_URL
    return {"endpoint": endpoint, "scope": Scope.OTLP.value, "snippet": SNIPPET.format(endpoint=endpoint)}


# --- rules ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RuleRow:
    rule: CaptureRule
    words: str
    may_switch: bool


def rule_rows(projects: Sequence[Project], user: User) -> list[RuleRow]:
    """Those that are on first. Two queries."""
    roles = access.roles_by_project(user, projects)
    found = CaptureRule.objects.filter(project__in=list(roles)).select_related("project", "created_by")
    return [
        RuleRow(rule=rule, words=words_of(rule), may_switch=not roles[rule.project_id].isdisjoint(ADMINISTERS))
        for rule in found.order_by("-enabled", "project__key", "created_at")
    ]


class RuleForm(ProjectForm):
    """What is to be captured by itself. Which kind needs which part is decided by the service."""

    roles = ADMINISTERS

    kind = forms.ChoiceField(
        choices=RuleKind.choices,
        initial=RuleKind.ERROR,
        widget=forms.RadioSelect(attrs={"class": ""}),
        label="Capture a trace when",
    )
    key = forms.CharField(
        required=False,
        max_length=texts.NAME_CAP,
        label="Attribute",
        help_text="Of a span, a log record or its resource: service.name.",
    )
    value = forms.CharField(
        required=False,
        max_length=texts.NAME_CAP,
        label="Value or trace id",
        help_text="The attribute's whole value, or 32 hexadecimal digits. It is not sealed: name no customer.",
    )
