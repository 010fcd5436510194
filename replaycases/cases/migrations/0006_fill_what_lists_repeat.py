"""Rows from before: who added a control, which tools have an effect, the newest verdict, and when evidence ends."""

from datetime import timedelta
from functools import reduce
from operator import or_

from django.db import migrations
from django.db.models import Q
from django.utils import timezone

from replaycases.cases import immutability
from replaycases.fixture.load import load_fixture


def fill(apps, schema_editor):
    using = schema_editor.connection.alias
    # Revisions and controls refuse UPDATE; the triggers are installed again after every migrate.
    immutability.remove(using)
    Control = apps.get_model("cases", "Control")
    for control in Control.objects.using(using).select_related("revision"):
        control.created_by_id = control.revision.created_by_id
        control.save(update_fields=["created_by"])
    for revision in apps.get_model("cases", "FixtureRevision").objects.using(using).select_related("payload", "detect"):
        detect = bytes(revision.detect.body) if revision.detect else None
        events = load_fixture(bytes(revision.payload.body), detect=detect).events
        revision.effectful_tools = sorted({event.tool for event in events if event.effect is not None and event.tool})
        revision.save(update_fields=["effectful_tools"])
    Comparison = apps.get_model("cases", "Comparison")
    Payload = apps.get_model("cases", "Payload")
    for case in apps.get_model("cases", "Case").objects.using(using):
        newest = Comparison.objects.using(using).filter(revision=case.current_revision_id).order_by("-number").first()
        case.latest_comparison = newest
        case.verdict = case.last_verdict = newest.label if newest else ""
        case.verdict_since = newest.computed_at if newest else None
        brought = [case.revisions.values(name) for name in ("payload", "detect")]
        controls = Control.objects.using(using).filter(revision__case=case)
        brought += [controls.values(name) for name in ("payload", "detect", "mutation")]
        raw = Payload.objects.using(using).filter(classification="quarantined")
        held = raw.filter(reduce(or_, (Q(pk__in=keys) for keys in brought)))
        if held.exists():
            case.evidence_expires_at = timezone.now() + timedelta(days=case.project.retention_days)
            held.filter(expires_at=None).update(expires_at=case.evidence_expires_at)
        case.save()


class Migration(migrations.Migration):
    dependencies = [("cases", "0005_lifecycle")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
