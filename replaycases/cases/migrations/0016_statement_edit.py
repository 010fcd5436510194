import json
import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

STATEMENT = {"trigger", "prohibited_outcome", "deciding_evidence"}


def fill(apps, schema_editor):
    """Everybody who restated a part, as the audit chain names them; and who is said on the case to have been last."""
    StatementEdit = apps.get_model("cases", "StatementEdit")
    edits = apps.get_model("cases", "AuditEvent").objects.filter(action="statement.edited", actor__isnull=False)
    known = set()
    for case, editor, before, at in edits.values_list("case", "actor", "before", "at"):
        if STATEMENT & json.loads(before).keys():
            StatementEdit.objects.create(case_id=case, editor_id=editor, at=at)
            known.add((case, editor))
    stated = apps.get_model("cases", "Case").objects.filter(statement_by__isnull=False)
    for case, editor in stated.values_list("pk", "statement_by"):
        if (case, editor) not in known:
            StatementEdit.objects.create(case_id=case, editor_id=editor)


def take_back(apps, schema_editor):
    """The last one stays on the case."""
    cases = apps.get_model("cases", "Case").objects
    for case, editor in apps.get_model("cases", "StatementEdit").objects.order_by("at").values_list("case", "editor"):
        cases.filter(pk=case).update(statement_by=editor)


class Migration(migrations.Migration):
    dependencies = [
        ("cases", "0015_plural_names"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="StatementEdit",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "case",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="cases.case"),
                ),
                (
                    "editor",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["at"],
                "indexes": [models.Index(fields=["case", "editor"], name="statement_edit_by_editor")],
            },
        ),
        migrations.RunPython(fill, take_back),
    ]
