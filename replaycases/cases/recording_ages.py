"""Cases whose recording is older than the parsers of the code that replays them, from the versions registered here.

The server has no repository. What stands in for its history is the order in which versions were registered: each names
its commit, and the digests of the parsers that it declares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from replaycases.accounts.models import Project
from replaycases.cases.models import Case, FlagReason, Implementation, ReviewFlag, RunSet
from replaycases.cases.policies import OPEN
from replaycases.fixture.model import Fixture
from replaycases.fixture.recording_age import age_problems

_SHORTEST = 4
_COMMIT = re.compile(f"[0-9a-fA-F]{{{_SHORTEST},64}}")


@dataclass(frozen=True, kw_only=True)
class RegisteredVersions:
    """The versions of one implementation, by when they were registered. No server knows of what is `uncommitted`."""

    name: str
    changed_at: datetime
    changed_path: str
    commits: tuple[tuple[str, datetime], ...]
    uncommitted: tuple[str, ...] = ()
    known_from: str = "the list of registered versions"

    def recorded_at(self, commit: str) -> datetime | None:
        """When the version of this commit was registered first; either side may have it cut short."""
        return min((at for known, at in self.commits if is_same_commit(known, commit)), default=None)


def commit_of(fixture: Fixture) -> str:
    """Of the code that recorded it, as it is kept with a revision; "" for what is no commit's digits: a recording is
    raw evidence, and nothing else of it may stand in a column that is not sealed."""
    said = str((fixture.recorded_by or {}).get("commit") or "")
    return said if _COMMIT.fullmatch(said) else ""


def older() -> Iterator[tuple[QuerySet[Case], dict[str, str]]]:
    """Open cases to be flagged, with why for each commit that recorded some of them. A case that was looked at since
    the parsers changed is kept as it is; so is one that is flagged."""
    for project in Project.objects.filter(Exists(_declaring().filter(project=OuterRef("pk")))):
        for name in _declaring().filter(project=project).order_by().values_list("name", flat=True).distinct():
            versions = versions_of(project, name)
            if versions is not None:
                yield _older_than(project, versions)


def versions_of(project: Project, name: str) -> RegisteredVersions | None:
    """None where the newest version declares no parsers."""
    registered = list(Implementation.objects.filter(project=project, name=name).order_by("created_at"))
    if not registered or not registered[-1].parsers:
        return None
    changed_at, changed_path, before = registered[0].created_at, "", dict[str, str]()
    for version in registered:
        changed = [path for path, digest in version.parsers.items() if before.get(path) != digest]
        if changed:
            changed_at, changed_path = version.created_at, changed[0]
        before = version.parsers
    commits = tuple((version.commit, version.created_at) for version in registered if version.commit)
    return RegisteredVersions(name=name, changed_at=changed_at, changed_path=changed_path, commits=commits)


def _older_than(project: Project, versions: RegisteredVersions) -> tuple[QuerySet[Case], dict[str, str]]:
    """The rule is asked once a commit, and not a case: many cases were recorded by the same code."""
    cases = Case.objects.filter(project=project, stage__in=OPEN, current_revision__isnull=False)
    found = {
        commit: problem.text
        for commit in cases.order_by().values_list("current_revision__recorded_commit", flat=True).distinct()
        for problem in age_problems(commit, [versions], None)
    }
    ran = RunSet.objects.filter(revision__case=OuterRef("pk"), implementation__name=versions.name)
    asked = ReviewFlag.objects.filter(case=OuterRef("pk"), reason=FlagReason.PARSER_CHANGED)
    settled = asked.filter(Q(cleared_at=None) | Q(cleared_at__gte=versions.changed_at))
    return cases.filter(Exists(ran), ~Exists(settled), current_revision__recorded_commit__in=found), found


def _declaring() -> QuerySet[Implementation]:
    return Implementation.objects.exclude(parsers={})


def is_same_commit(one: str, other: str) -> bool:
    """Either may be cut short."""
    shorter, longer = sorted((one.lower(), other.lower()), key=len)
    return len(shorter) >= _SHORTEST and longer.startswith(shorter)
