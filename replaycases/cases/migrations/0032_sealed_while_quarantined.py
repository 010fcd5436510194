from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("cases", "0031_seal_raw_evidence")]

    operations = [
        migrations.AddConstraint(
            model_name="payload",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("classification", "quarantined"),
                        ("data_key__isnull", False),
                        ("expires_at__isnull", False),
                        ("key_hour__isnull", False),
                        ("purged_at", None),
                    ),
                    models.Q(("classification", "quarantined"), ("data_key", None), ("purged_at__isnull", False)),
                    models.Q(
                        models.Q(("classification", "quarantined"), _negated=True),
                        ("data_key", None),
                        ("purged_at", None),
                    ),
                    _connector="OR",
                ),
                name="payload_sealed_while_quarantined",
            ),
        ),
    ]
