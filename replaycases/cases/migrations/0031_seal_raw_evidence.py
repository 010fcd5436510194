from datetime import timedelta

from django.db import migrations
from django.utils import timezone

from replaycases.cases import sealing


def seal(apps, schema_editor):
    using = schema_editor.connection.alias
    payloads = apps.get_model("cases", "Payload").objects.using(using)
    now = timezone.now()
    for payload in payloads.filter(classification="quarantined").select_related("project").iterator(chunk_size=10):
        if payload.expires_at is None:
            payload.expires_at = now + timedelta(days=payload.project.retention_days)
        # What is past its time is sealed for the next hour: from then on it is destroyed as everything else is.
        payload.expires_at = max(payload.expires_at, now + timedelta(hours=1))
        sealing.seal(payload, bytes(payload.body))
        payload.save(update_fields=["expires_at", "key_id", "key_hour", "data_key", "body"])


def unseal(apps, schema_editor):
    payloads = apps.get_model("cases", "Payload").objects.using(schema_editor.connection.alias)
    for payload in payloads.filter(data_key__isnull=False).iterator(chunk_size=10):
        sealing.unseal(payload)
        payload.save(update_fields=["key_id", "key_hour", "data_key", "body"])


class Migration(migrations.Migration):
    dependencies = [("cases", "0030_sealed_payloads")]

    operations = [migrations.RunPython(seal, unseal)]
