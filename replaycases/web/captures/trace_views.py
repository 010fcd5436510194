"""Traces that collectors sent, and the rules of a project that capture some of them."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from replaycases.accounts.models import Project
from replaycases.accounts.roles import ADMINISTERS
from replaycases.cases import capture_rules, evidence, trace_captures
from replaycases.cases.models import BufferedTrace, CaptureRule, RuleKind
from replaycases.cases.policies import InvalidTransition
from replaycases.importers.findings import ImportRefused
from replaycases.web.captures import trace_page
from replaycases.web.captures.trace_page import RuleForm, TraceFilter
from replaycases.web.forms import projects_where
from replaycases.web.pages import page_of_many
from replaycases.web.scope import user_of


@login_required
@require_safe
def trace_list(request: HttpRequest) -> HttpResponse:
    """What is kept for now of each trace: no content, which is sealed."""
    user = user_of(request)
    projects = list(Project.objects.visible_to(user).order_by("key"))
    found = TraceFilter(request.GET, projects=projects)
    page = page_of_many(request, found.qs if found.is_valid() else found.qs.none())
    context = {
        "section": "captures",
        "tab": "traces",
        "filter": found,
        "filtered": any(request.GET.get(name) for name in found.filters),
        "page": page,
        "rows": trace_page.rows_of(list(page.object_list), user),
        "held": trace_page.held(projects),
        "limits": trace_page.limits(),
        "collector": trace_page.collector(),
        "has_projects": bool(projects),
        "many": len(projects) > 1,
    }
    return render(request, "captures/traces.html", context)


@login_required
@require_POST
def capture_trace(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What came of the trace so far becomes a capture."""
    user = user_of(request)
    trace = get_object_or_404(BufferedTrace.objects.visible_to(user).select_related("project"), pk=pk)
    try:
        made = trace_captures.capture_trace(user, project=trace.project, trace_id=trace.trace_id)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    except InvalidTransition as refused:
        messages.error(request, str(refused))
    except ImportRefused as refused:
        messages.error(request, f"The trace cannot be captured: {refused.finding.message}. {refused.finding.hint}")
    except (evidence.EvidenceTooLarge, evidence.EvidenceDestroyed) as refused:
        messages.error(request, f"The trace cannot be captured: {refused}.")
    else:
        messages.success(request, f"{made.readable_id} is captured. This is what the trace holds.")
        return redirect("capture", made.readable_id)
    return redirect("trace_list")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def rule_list(request: HttpRequest) -> HttpResponse:
    """The rules, and for administrators the form that adds one."""
    user = user_of(request)
    form = RuleForm(request.POST or None, user=user)
    if form.is_valid():
        said = form.cleaned_data
        try:
            rule = capture_rules.add(
                user, project=said["project"], kind=RuleKind(said["kind"]), key=said["key"], value=said["value"]
            )
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            messages.success(request, f"A trace of {rule.project.key} is captured when {trace_page.words_of(rule)}.")
            return redirect("rule_list")
    projects = list(Project.objects.visible_to(user).order_by("key"))
    context = {
        "section": "captures",
        "tab": "rules",
        "rules": trace_page.rule_rows(projects, user),
        "form": form,
        "may_add": projects_where(user, ADMINISTERS).exists(),
        "has_projects": bool(projects),
        "limits": trace_page.limits(),
        "most": capture_rules.MOST,
    }
    return render(request, "captures/rules.html", context, status=422 if request.method == "POST" else 200)


@login_required
@require_POST
def rule_state(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Switch a rule on or off."""
    user = user_of(request)
    rule = get_object_or_404(CaptureRule.objects.visible_to(user).select_related("project"), pk=pk)
    try:
        kept = capture_rules.set_enabled(user, rule=rule, enabled=request.POST.get("enabled") == "yes")
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    else:
        switched = "on" if kept.enabled else "off"
        messages.success(request, f"The rule is switched {switched}: {trace_page.words_of(kept)}.")
    return redirect("rule_list")
