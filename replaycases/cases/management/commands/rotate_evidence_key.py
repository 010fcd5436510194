"""`manage.py rotate_evidence_key`: a new key for raw evidence, everything wrapped under it, the old one gone. Started
again after it died, it goes on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from replaycases.cases import key_rotation
from replaycases.cases.key_ring import RingInvalid

_BEGAN = {
    "made": "There was no key ring: one was made, with key {key}.",
    "added": "Key {key} was added: raw evidence is sealed under it from now on.",
    "resumed": "A rotation that had not ended goes on, to key {key}. Start this again for a new one.",
}


class Command(BaseCommand):
    help = "Make the key ring of raw evidence, or put a new key in the place of the present one. Safe to start again."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = key_rotation.rotate()
        except RingInvalid as fault:
            raise CommandError(f"Nothing was rotated: {fault}.") from None
        self.stdout.write(_BEGAN[done.began].format(key=done.key_id))
        self.stdout.write(f"Payloads wrapped anew: {done.rewrapped}.")
        if done.dropped:
            self.stdout.write(f"Keys that left the ring for good: {', '.join(done.dropped)}.")
            self.stdout.write("Back up the database now: what an earlier backup holds of raw evidence opens no more.")
        if done.ended:
            self.stdout.write(f"Past their time, left to be destroyed by the next look at the calendar: {done.ended}.")
        if done.unopened:
            self.stderr.write(
                f"Payloads that do not open, because they or their key were lost or changed: {done.unopened}."
            )
