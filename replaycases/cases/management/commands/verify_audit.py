"""`manage.py verify_audit`: is the audit chain whole? Exit code 1 and one line a fault if not."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from replaycases.cases import events


def _anchor(text: str) -> events.Anchor:
    sequence, _, digest = text.partition(" ")
    if not sequence.isdecimal() or not digest.startswith("sha256:"):
        raise ArgumentTypeError("give what an earlier run printed as the head: NUMBER sha256:…")
    return events.Anchor(sequence=int(sequence), hash=digest)


class Command(BaseCommand):
    help = "Check the audit chain: finds an edit, a deletion and a cut tail."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--noted",
            type=_anchor,
            metavar='"NUMBER HASH"',
            help="the head that an earlier run printed, kept elsewhere: finds a chain that was rewritten with its head",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        faults = events.verify(options["noted"])
        if faults:
            raise CommandError("The audit chain is broken:\n" + "\n".join(f"- {fault}" for fault in faults))
        head = events.head()
        self.stdout.write(f"The audit chain is whole: {head.sequence} events.")
        if head.sequence:
            self.stdout.write(f"Its head, to note elsewhere: {head.sequence} {head.hash}")
