"""`manage.py demo`: load the demo; on the embedded database also give its people a password and print it."""

from __future__ import annotations

import os
import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from replaycases.accounts.models import User
from replaycases.cases import demo


class Command(BaseCommand):
    help = "Load the demo project: people, both versions of the example agent, its incidents, a comparison of each."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--logins",
            action="store_true",
            help="also give the demo's people a password where DATABASE_URL is set (always done without it)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = demo.load(settings.BASE_DIR / "examples")
        self.stdout.write(f"Project {project.key}: {len(demo.INCIDENTS)} cases, comparisons queued for the worker.")
        if settings.EMBEDDED or options["logins"]:
            password = _password(settings.VAR_DIR / "demo-password")
            _give(password)
            names = ", ".join(name for name, _, _ in demo.PEOPLE)
            self.stdout.write(f"Log in as {names}; password of each: {password}")


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
