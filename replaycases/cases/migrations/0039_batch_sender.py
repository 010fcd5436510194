from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("cases", "0038_what_collectors_sent"),
    ]

    operations = [
        migrations.AddField(
            model_name="tracebatch",
            name="token",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.apitoken"
            ),
        ),
    ]
