"""What people decide of single places: rules of the next redaction, and findings that may stand."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from replaycases.cases import policies, reading, redaction_marks, redaction_rows, redaction_rules, waivers
from replaycases.cases.models import Case, FixtureRevision, Redaction, RedactionRule, RuleAction, Waiver
from replaycases.redaction.places import Kind
from replaycases.web.redactions import loading, pointing
from replaycases.web.redactions.forms import RuleForm, WaiverForm
from replaycases.web.redactions.pointing import Target
from replaycases.web.redactions.value_page import render_value
from replaycases.web.redactions.views import render_review
from replaycases.web.scope import CaseId, case_or_404, user_of


@login_required
@require_POST
def add_rule(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    case, user = case_or_404(request, case_id), user_of(request)
    policies.require(case, user, "redact")
    form = RuleForm(request.POST)
    if not form.is_valid():
        return _refused(request, case, form, _problems(form))
    said = form.cleaned_data
    redaction = loading.redaction_or_404(request, case, said["redaction"])
    loading.require_newest(redaction, redaction_rows.newest(redaction.revision), case)
    sides = loading.sides_of(loading.current(case))
    source = sides.raw or sides.revision
    for side in sides.both:
        reading.require_open(side, user)
    try:
        count = _add(request, said, redaction, sides, source)
    except ValidationError as refused:
        return _refused(request, case, form, refused)
    rules = "The rule holds" if count == 1 else f"{count} rules hold"
    messages.success(request, f"{rules} from the next redaction on. Redact again to see what becomes of it.")
    return redirect("redaction_review", case.readable_id)


def _add(
    request: HttpRequest, said: dict[str, Any], redaction: Redaction, sides: loading.Sides, source: FixtureRevision
) -> int:
    """How many rules were added. Raises ValidationError."""
    user, action, target = user_of(request), RuleAction(said["action"]), Target.of(said["at"])
    read = loading.read(sides, redaction)
    kind = cast("Kind | None", said["kind"] or None) if action == RuleAction.MARK else None
    if action == RuleAction.MARK and target.sort == "line" and said["text"]:
        line = pointing.line_of(read, target.number)
        if kind is None:
            raise ValidationError("Say what it is.")
        made = redaction_marks.mark_every(
            user,
            source=source,
            pointer=line.source or "",
            in_key=line.sort == "key",
            text=said["text"],
            kind=kind,
            reason=said["reason"],
            inside_words=said["inside"],
        )
        return len(made)
    if action == RuleAction.DROP and target.sort == "line":
        line = pointing.line_of(read, target.number)
        place = pointing.member_of(line, said["up"] or 0, pointing.raw_document(source))
    else:
        place = pointing.place_of(target, read, redaction, source)
    joins = action == RuleAction.JOIN and said["other"] is not None
    redaction_rules.add(
        user,
        source=source,
        action=action,
        place=place,
        reason=said["reason"],
        kind=kind,
        other=pointing.span_place(read, said["other"]) if joins else None,
        surrogate=said["surrogate"] if action == RuleAction.SURROGATE else "",
    )
    return 1


def _refused(request: HttpRequest, case: Case, form: RuleForm, refused: ValidationError) -> HttpResponse:
    """The page from which the form came, with what was wrong with it."""
    at = str(form.data.get("row", ""))
    if at.isdecimal() and len(at) < 9:
        return render_value(request, case, int(at), refused=refused)
    return render_review(request, case, refused=refused, said=request.POST.dict())


def _problems(form: Any) -> ValidationError:
    names = {name: field.label or name for name, field in form.fields.items()}
    return ValidationError([f"{names.get(name, name)}: {' '.join(told)}" for name, told in form.errors.items() if told])


@login_required
@require_POST
def withdraw_rule(request: HttpRequest, case_id: CaseId, pk: UUID) -> HttpResponse:
    case = case_or_404(request, case_id)
    rules = RedactionRule.objects.visible_to(user_of(request)).select_related("source__case__project")
    redaction_rules.withdraw(user_of(request), rule=get_object_or_404(rules, source__case=case, pk=pk))
    messages.success(request, "The rule is taken back. Redact again to see what becomes of it.")
    return redirect("redaction_review", case.readable_id)


# --- findings that may stand ------------------------------------------------------------------------------------------


@login_required
@require_POST
def ask_waiver(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    case, user = case_or_404(request, case_id), user_of(request)
    policies.require(case, user, "waive")
    form = WaiverForm(request.POST)
    if not form.is_valid():
        return _not_asked(request, case, _problems(form))
    said = form.cleaned_data
    redaction = loading.redaction_or_404(request, case, said["redaction"])
    reading.require_open(redaction.revision, user)
    if said["finding"] >= len(redaction.open):
        return _not_asked(request, case, ValidationError("Choose a finding that is open here."))
    found = redaction.open[said["finding"]]["finding"]
    try:
        waivers.ask(user, redaction=redaction, findings=[found], reason=said["reason"], until=form.ends())
    except ValidationError as refused:
        return _not_asked(request, case, refused)
    messages.success(request, "It is asked for. The finding counts as waived once a second person agrees.")
    return redirect("redaction_review", case.readable_id)


def _not_asked(request: HttpRequest, case: Case, refused: ValidationError) -> HttpResponse:
    """The page with the form open, and beside it what was wrong with it."""
    finding = str(request.POST.get("finding", ""))
    said = {**request.POST.dict(), "form": f"waive-{finding}", "problems": refused.messages}
    return render_review(
        request, case, refused=ValidationError("It is not asked for: what is wrong stands beside it."), said=said
    )


@login_required
@require_POST
def confirm_waiver(request: HttpRequest, case_id: CaseId, pk: UUID) -> HttpResponse:
    case, waiver = _waiver(request, case_id, pk)
    waivers.confirm(user_of(request), waiver=waiver)
    messages.success(request, "The finding is waived.")
    return redirect("redaction_review", case.readable_id)


@login_required
@require_POST
def end_waiver(request: HttpRequest, case_id: CaseId, pk: UUID) -> HttpResponse:
    case, waiver = _waiver(request, case_id, pk)
    waivers.end(user_of(request), waiver=waiver)
    messages.success(request, "The waiver is ended: the finding is open again.")
    return redirect("redaction_review", case.readable_id)


def _waiver(request: HttpRequest, case_id: CaseId, pk: UUID) -> tuple[Case, Waiver]:
    case = case_or_404(request, case_id)
    rows = Waiver.objects.visible_to(user_of(request)).select_related("case__project", "redaction__revision")
    return case, get_object_or_404(rows, case=case, pk=pk)
