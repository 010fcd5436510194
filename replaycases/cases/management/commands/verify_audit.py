"""`manage.py verify_audit`: is the audit chain whole? Exit code 1 and one line a fault if not."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from replaycases.cases import events
from replaycases.cases.models import AuditHead


class Command(BaseCommand):
    help = "Check the audit chain: finds an edit, a deletion and a cut tail."

    def handle(self, *args: Any, **options: Any) -> None:
        faults = events.verify()
        if faults:
            raise CommandError("The audit chain is broken:\n" + "\n".join(f"- {fault}" for fault in faults))
        self.stdout.write(f"The audit chain is whole: {AuditHead.objects.get().sequence} events.")
