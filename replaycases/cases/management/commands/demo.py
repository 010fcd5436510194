"""`manage.py demo`: load the demo; on the embedded database also give its people a password and print it. `--advance`
takes its cases on from there, as the results of their replays come in."""

from __future__ import annotations

import os
import secrets
from argparse import ArgumentParser
from pathlib import Path
from time import sleep
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from replaycases.accounts.models import User
from replaycases.cases import demo, demo_walk
from replaycases.cases.demo_cases import INCIDENTS

# Between two looks at whether a replay has ended.
PAUSE_SECONDS = 2.0


class Command(BaseCommand):
    help = "Load the demo project: people, both versions of the example agent, its incidents, a comparison of each."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--logins",
            action="store_true",
            help="also give the demo's people a password where DATABASE_URL is set (always done without it)",
        )

        parser.add_argument(
            "--advance",
            action="store_true",
            help="load nothing: take the cases on through review, approvals and lanes while a worker replays them",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["advance"]:
            self._advance()
            return
        project = demo.load(settings.BASE_DIR / "examples")
        self.stdout.write(f"Project {project.key}: {len(INCIDENTS)} cases, comparisons queued for the worker.")
        if settings.EMBEDDED or options["logins"]:
            password = _password(settings.VAR_DIR / "demo-password")
            _give(password)
            names = ", ".join(name for name, _, _ in demo.PEOPLE)
            self.stdout.write(f"Log in as {names}; password of each: {password}")

    def _advance(self) -> None:
        """Until every case is where it rests. Only a worker brings that about, so `serve` ends this with it."""
        told = False
        state = demo_walk.advance()
        while state != "settled":
            if state == "waiting":
                if not told:
                    self.stdout.write("The demo's cases wait for their replays; they go on as a worker ends these.")
                    self.stdout.flush()
                    told = True
                sleep(PAUSE_SECONDS)
            state = demo_walk.advance()


def _password(path: Path) -> str:
    """Made once per installation, so that a restart prints the same one."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text()
    password = secrets.token_urlsafe(12)
    with os.fdopen(descriptor, "w") as file:
        file.write(password)
    return password


def _give(password: str) -> None:
    """Only to people without one: what somebody changed stays changed."""
    for person in User.objects.filter(username__in=[name for name, _, _ in demo.PEOPLE]):
        if not person.has_usable_password():
            person.set_password(password)
            person.save(update_fields=["password"])
