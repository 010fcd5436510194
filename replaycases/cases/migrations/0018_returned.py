from django.db import migrations, models
from django.db.models import Exists, OuterRef


def fill(apps, schema_editor):
    """From before it was repeated on the case: the current revision came back and was not approved after that."""
    decided = apps.get_model("cases", "Decision").objects.filter(control=None)
    cases = apps.get_model("cases", "Case").objects
    for kind in ("redaction", "expectation"):
        approved = decided.filter(
            revision=OuterRef("revision"), kind=kind, outcome="approved", decided_at__gt=OuterRef("decided_at")
        )
        returned = decided.filter(~Exists(approved), kind=kind, outcome="returned")
        cases.filter(current_revision__in=returned.values("revision")).update(**{f"{kind}_returned": True})


class Migration(migrations.Migration):
    dependencies = [
        ("cases", "0017_no_statement_by"),
    ]

    operations = [
        migrations.AddField(
            model_name="case",
            name="redaction_returned",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="case",
            name="expectation_returned",
            field=models.BooleanField(default=False),
        ),
        migrations.RemoveIndex(
            model_name="case",
            name="case_waits_for_review",
        ),
        migrations.RemoveIndex(
            model_name="case",
            name="case_expectation_waits",
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                condition=models.Q(("redaction_returned", False), ("stage", "in_review")),
                fields=["evidence_expires_at"],
                name="case_waits_for_review",
            ),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                condition=models.Q(
                    ("expectation_approved", False),
                    ("expectation_returned", False),
                    ("stage__in", ("in_review", "redaction_approved", "reproduced")),
                ),
                fields=["stage_since"],
                name="case_expectation_waits",
            ),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                condition=models.Q(("redaction_returned", True), ("expectation_returned", True), _connector="OR"),
                fields=["stage_since"],
                name="case_returned",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
