import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def fill(apps, schema_editor):
    revisions = apps.get_model("cases", "FixtureRevision").objects.order_by()
    current = revisions.filter(pk=OuterRef("current_revision"))
    with_one = apps.get_model("cases", "Case").objects.filter(current_revision__isnull=False)
    with_one.update(
        revised_by=Subquery(current.values("created_by")), revised_for=Subquery(current.values("on_behalf_of"))
    )


def person():
    return models.ForeignKey(
        blank=True,
        db_index=False,
        editable=False,
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("cases", "0039_batch_sender"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(model_name="case", name="revised_by", field=person()),
        migrations.AddField(model_name="case", name="revised_for", field=person()),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
