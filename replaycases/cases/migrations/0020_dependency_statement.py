import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("cases", "0019_tallies"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="fixturerevision",
            name="authored_answers",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.CreateModel(
            name="DependencyStatement",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "acceptance",
                    models.CharField(
                        choices=[
                            ("before_acceptance", "Before acceptance"),
                            ("after_acceptance", "After acceptance"),
                            ("unknown", "Unknown"),
                        ],
                        max_length=24,
                    ),
                ),
                ("authored_confirmed", models.BooleanField(default=False)),
                ("note", models.TextField(blank=True)),
                ("said_at", models.DateTimeField()),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="dependency_statements",
                        to="cases.case",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="dependency_statements",
                        to="cases.fixturerevision",
                    ),
                ),
                (
                    "said_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["said_at"],
                "indexes": [models.Index(fields=["revision", "-said_at"], name="dependency_statement_newest")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("acceptance__in", ["before_acceptance", "after_acceptance", "unknown"])),
                        name="dependency_acceptance_known",
                    )
                ],
            },
        ),
    ]
