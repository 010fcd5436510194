"""Rows from before: how many of a revision's answers nobody recorded."""

from django.db import migrations

from replaycases.cases import immutability
from replaycases.fixture.load import load_fixture


def fill(apps, schema_editor):
    using = schema_editor.connection.alias
    # Revisions refuse UPDATE; the triggers are installed again after every migrate.
    immutability.remove(using)
    for revision in apps.get_model("cases", "FixtureRevision").objects.using(using).select_related("payload", "detect"):
        detect = bytes(revision.detect.body) if revision.detect else None
        events = load_fixture(bytes(revision.payload.body), detect=detect).events
        authored = sum(other.origin == "authored" for event in events for other in event.alternatives)
        if authored:
            revision.authored_answers = authored
            revision.save(update_fields=["authored_answers"])


class Migration(migrations.Migration):
    dependencies = [("cases", "0020_dependency_statement")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
