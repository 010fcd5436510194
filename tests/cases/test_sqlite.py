"""SQLite under a web process and workers: writers wait for each other and never see "locked"."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.deployment import REPOSITORY

pytestmark = pytest.mark.timeout(120)

COMMITS = int(os.environ.get("REPLAYCASES_TEST_COMMITS", "300"))
WRITER = f"""
import django
django.setup()
from django.db import transaction
from django.db.models import F
from replaycases.accounts.models import Project
from replaycases.cases import events
for number in range({COMMITS}):
    with transaction.atomic():
        project = Project.objects.get()  # read first: without immediate transactions the upgrade is what fails
        Project.objects.update(next_number=F("next_number") + 1)
        events.record(actor=None, action="project.edited", subject=project, project=project)
"""
PROJECT = """
import django
django.setup()
from replaycases.accounts.models import Project
Project.objects.create(key="RC")
"""
COUNT = """
import django
django.setup()
from replaycases.accounts.models import Project
from replaycases.cases import events
print(Project.objects.get().next_number, events.verify())
"""


def test_four_writers_never_see_a_locked_database(sqlite_template: Path, tmp_path: Path) -> None:
    (tmp_path / "replaycases.sqlite3").write_bytes(sqlite_template.read_bytes())
    env = {
        "PATH": os.environ["PATH"],
        "REPLAYCASES_VAR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "replaycases.config.settings",
    }

    def python(code: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=REPOSITORY,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    assert python(PROJECT).communicate()[1] == ""
    writers = [python(WRITER) for _ in range(4)]
    assert [writer.communicate()[1] for writer in writers] == [""] * 4
    assert python(COUNT).communicate()[0].strip() == f"{1 + 4 * COMMITS} []"
