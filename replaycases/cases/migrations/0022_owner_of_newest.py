import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def fill(apps, schema_editor):
    case = apps.get_model("cases", "Case").objects.filter(pk=OuterRef("case"))
    apps.get_model("cases", "CaseOwner").objects.update(
        project=Subquery(case.values("project")),
        case_created_at=Subquery(case.values("created_at")),
        case_number=Subquery(case.values("number")),
    )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_lifecycle"),
        ("cases", "0021_count_authored_answers"),
    ]

    operations = [
        migrations.AddField(
            model_name="caseowner",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="accounts.project",
            ),
        ),
        migrations.AddField(
            model_name="caseowner",
            name="case_created_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="caseowner",
            name="case_number",
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
