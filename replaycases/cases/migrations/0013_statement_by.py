import json

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

STATEMENT = {"trigger", "prohibited_outcome", "deciding_evidence"}


def fill(apps, schema_editor):
    """Who restated a case before it was kept on the case; the last one stays."""
    cases = apps.get_model("cases", "Case").objects
    edits = apps.get_model("cases", "AuditEvent").objects.filter(action="statement.edited").order_by("sequence")
    for case, actor, before in edits.values_list("case", "actor", "before"):
        if STATEMENT & json.loads(before).keys():
            cases.filter(pk=case).update(statement_by=actor)


class Migration(migrations.Migration):
    dependencies = [
        ("cases", "0012_expectation_approved"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="case",
            name="statement_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
