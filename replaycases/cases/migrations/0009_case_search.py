from django.db import migrations, models

# Every run of three characters of a text. Its cost keeps the planner from computing it row by row where the index has
# it already.
FUNCTION = """
CREATE OR REPLACE FUNCTION replaycases_trigrams(value text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000
AS $$ SELECT array_agg(DISTINCT substr(value, i, 3)) FROM generate_series(1, length(value) - 2) AS i $$
"""
INDEX = """
CREATE INDEX case_by_text ON cases_case
USING gin (replaycases_trigrams(lower(title || ' ' || incident_id || ' ' || case_id)))
"""


def add_text_index(apps, schema_editor):
    """No extension is needed for it. SQLite reads the rows."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(FUNCTION)
        schema_editor.execute(INDEX)


def remove_text_index(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS case_by_text")
        schema_editor.execute("DROP FUNCTION IF EXISTS replaycases_trigrams(text)")


class Migration(migrations.Migration):
    dependencies = [("cases", "0008_expiry_and_notifying")]

    operations = [
        migrations.AddIndex(
            model_name="case", index=models.Index(fields=["-created_at", "-number"], name="case_newest")
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(fields=["project", "-created_at", "-number"], name="case_newest_of_project"),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(fields=["stage", "-created_at", "-number"], name="case_newest_by_stage"),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(fields=["lane", "-created_at", "-number"], name="case_newest_by_lane"),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(fields=["verdict", "-created_at", "-number"], name="case_newest_by_verdict"),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                fields=["-created_at"], condition=models.Q(("security_incident", True)), name="case_security_incident"
            ),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                fields=["evidence_expires_at", "-created_at", "-number"],
                condition=models.Q(("evidence_expires_at__isnull", False)),
                name="case_soonest_to_expire",
            ),
        ),
        migrations.AddIndex(
            model_name="fixturerevision",
            index=models.Index(
                fields=["fixture_hash"], name="revision_by_fixture_hash", opclasses=["varchar_pattern_ops"]
            ),
        ),
        migrations.AddIndex(
            model_name="fixturerevision",
            index=models.Index(
                fields=["content_hash"], name="revision_by_content_hash", opclasses=["varchar_pattern_ops"]
            ),
        ),
        migrations.RunPython(add_text_index, remove_text_index),
    ]
