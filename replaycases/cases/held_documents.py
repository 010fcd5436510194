"""Which captures and cases hold a document: asked by its id, and answered from digests.

What a run retrieved is evidence. So that a leaked or wrong document can be followed without reading any of it, the ids
of retrieved chunks, and of their documents where a trace names them, are kept as digests when a capture comes in and
when a revision is added. They outlive the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from django.db.models import QuerySet

from replaycases.accounts.models import Project, User
from replaycases.cases.models import Capture, FixtureRevision, HeldDocument
from replaycases.fixture.model import Fixture
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import RetrievalStep
from replaycases.importers.registry import Recording

JSON = Any
BATCH = 1000
_PLACE = re.compile(r"\Achunk#\d+\Z")


def in_recording(project: Project, recording: Recording) -> list[str]:
    """The digests of what its runs were given. A run that cannot be read holds nothing. Raises ImportRefused, as the
    first of them does, where none can be read."""
    names, refusals = set[str](), list[ImportRefused]()
    for run in range(len(recording.runs)):
        try:
            names |= set(_of_run(recording, run))
        except ImportRefused as refusal:
            refusals.append(refusal)
    if refusals and len(refusals) == len(recording.runs):
        raise refusals[0]
    return _digests(project, names)


def of_capture(capture: Capture, digests: Iterable[str]) -> None:
    """Note what its runs were given, as `in_recording` found it."""
    _note(capture.project, digests, capture)


def of_revision(revision: FixtureRevision, fixture: Fixture) -> None:
    """Note what the fixture's retrievals answered."""
    names = (name for event in fixture.events if event.boundary == "retrieval" for name in _ids(event.chunks or ()))
    project = revision.case.project
    _note(project, _digests(project, names), revision)


def holding(reader: User, name: str) -> QuerySet[HeldDocument]:
    """The rows of the projects that the reader sees, for a chunk or document of this id."""
    seen = Project.objects.visible_to(reader)
    digests = [digest_of(project, name) for project in seen]
    return HeldDocument.objects.filter(digest__in=digests, project__in=seen)


def digest_of(project: Project, name: str) -> str:
    return sha256(f"{project.pk}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()


def _of_run(recording: Recording, run: int) -> Iterator[str]:
    for step in recording.read(run).steps:
        if isinstance(step, RetrievalStep):
            yield from (name for name in step.documents if not _PLACE.match(name))


def _ids(chunks: Iterable[JSON]) -> Iterator[str]:
    """The ids that the retriever gave; a chunk that had none is named by its place, which is no id."""
    for chunk in chunks:
        name = chunk.get("id") if isinstance(chunk, dict) else None
        if isinstance(name, str) and not _PLACE.match(name):
            yield name


def _digests(project: Project, names: Iterable[str]) -> list[str]:
    return sorted({digest_of(project, name) for name in names})


def _note(project: Project, digests: Iterable[str], holder: Capture | FixtureRevision) -> None:
    field = "capture" if isinstance(holder, Capture) else "revision"
    rows = [HeldDocument(project=project, digest=digest, **{field: holder}) for digest in digests]
    HeldDocument.objects.bulk_create(rows, batch_size=BATCH)
