from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("cases", "0034_raw_reads")]

    operations = [
        migrations.AddField(
            model_name="case",
            name="evidence_destroyed_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RemoveConstraint(model_name="payload", name="payload_once_per_project"),
        migrations.AddConstraint(
            model_name="payload",
            constraint=models.UniqueConstraint(
                condition=models.Q(("purged_at", None)),
                fields=("project", "digest"),
                name="payload_once_per_project",
            ),
        ),
    ]
