"""Whether a case was made of a capture, kept beside it, for those that wait for one."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import migrations, models


def fill(apps: Any, schema_editor: Any) -> None:
    drafts = apps.get_model("cases", "Draft")._default_manager.exclude(case=None)
    captures = apps.get_model("cases", "Capture")._default_manager
    captures.filter(pk__in=drafts.values("capture")).update(has_case=True)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_user_email_in_any_case"),
        ("cases", "0043_recorded_by_which_commit"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(model_name="capture", name="has_case", field=models.BooleanField(default=False)),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="capture",
            index=models.Index(
                condition=models.Q(("has_case", False), ("purged_at", None)),
                fields=["project", "expires_at"],
                name="capture_ends_without_a_case",
            ),
        ),
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(condition=models.Q(("case", None)), fields=["edited_by"], name="draft_without_a_case"),
        ),
    ]
