"""What is known around the recorded run, beside the case."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("cases", "0047_redaction_on_the_server"),
    ]

    operations = [
        migrations.AddField(
            model_name="provenance", name="run_record", field=models.JSONField(blank=True, default=dict)
        ),
    ]
