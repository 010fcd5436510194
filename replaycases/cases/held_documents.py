"""Which captures and cases hold a document: asked by its id, and answered from digests.

What a run retrieved is evidence. So that a leaked or wrong document can be followed without reading any of it, the ids
of retrieved chunks, and of their documents where a trace names them, are kept as digests when a capture comes in and
when a revision is added: of retrievals, and of tools whose answer has the shape of what was looked up. They outlive the
evidence. Of one capture or revision at most `MOST` are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.db.models import QuerySet

from replaycases.accounts.models import Project, User
from replaycases.cases.models import Capture, FixtureRevision, HeldDocument
from replaycases.fixture.model import Event, Fixture
from replaycases.importers import answer_ids
from replaycases.importers.neutral import NeutralRun, RetrievalStep, Step

JSON = Any
BATCH = 1000
MOST = 50_000
SHOWN = 500
_PLACE = re.compile(r"\Achunk#\d+\Z")


def in_runs(project: Project, runs: Iterable[NeutralRun]) -> list[str]:
    """The digests of what they were given."""
    return _digests(project, (name for run in runs for name in _of_run(run)))


def of_capture(capture: Capture, digests: Iterable[str]) -> None:
    """Note what its runs were given, as `in_runs` found it."""
    _note(capture.project, digests, capture)


def of_revision(revision: FixtureRevision, fixture: Fixture) -> None:
    """Note what the fixture's retrievals and tools answered."""
    project = revision.case.project
    _note(project, _digests(project, (name for event in fixture.events for name in _of_event(event))), revision)


def of_steps(revision: FixtureRevision, steps: Iterable[Step]) -> None:
    """Note also what the trace of which the revision was made says of its retrievals and no fixture keeps: the
    documents of their chunks."""
    project = revision.case.project
    names = (name for step in steps if isinstance(step, RetrievalStep) for name in step.documents)
    _note(project, _digests(project, (name for name in names if not _PLACE.match(name))), revision)


@dataclass(frozen=True, kw_only=True)
class Holders:
    """Who holds a document, newest first: captures, also destroyed ones, and revisions of cases. `more`: there are
    others of either."""

    captures: tuple[Capture, ...]
    revisions: tuple[FixtureRevision, ...]
    more: bool


def holders(reader: User, name: str) -> Holders:
    """Of the projects that the reader sees, the first `SHOWN` of each."""
    rows = holding(reader, name)
    captures = Capture.objects.filter(pk__in=rows.values("capture")).select_related("project")
    revisions = FixtureRevision.objects.filter(pk__in=rows.values("revision")).select_related("case__project")
    first = tuple(captures.order_by("-captured_at", "-number")[: SHOWN + 1])
    second = tuple(revisions.order_by("-case__created_at", "-case__number", "-number")[: SHOWN + 1])
    more = max(len(first), len(second)) > SHOWN
    return Holders(captures=first[:SHOWN], revisions=second[:SHOWN], more=more)


def holding(reader: User, name: str) -> QuerySet[HeldDocument]:
    """The rows of the projects that the reader sees, for a chunk or document of this id."""
    seen = Project.objects.visible_to(reader)
    digests = [digest_of(project, name) for project in seen]
    return HeldDocument.objects.filter(digest__in=digests, project__in=seen)


def digest_of(project: Project, name: str) -> str:
    return sha256(f"{project.pk}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()


def _of_run(run: NeutralRun) -> Iterator[str]:
    for step in run.steps:
        if isinstance(step, RetrievalStep):
            yield from (name for name in step.documents if not _PLACE.match(name))
    yield from (name for name in run.documents if not _PLACE.match(name))
    yield from answer_ids.named_by(run.steps)


def _of_event(event: Event) -> Iterator[str]:
    if event.boundary == "retrieval":
        yield from _ids(event.chunks or ())
    elif event.boundary == "model":
        yield from answer_ids.named_in(answer_ids.answered_by_provider(event.response))
    elif event.outcome is not None:
        yield from answer_ids.named_in(event.outcome.value)


def _ids(chunks: Iterable[JSON]) -> Iterator[str]:
    """The ids that the retriever gave; a chunk that had none is named by its place, which is no id."""
    for chunk in chunks:
        name = chunk.get("id") if isinstance(chunk, dict) else None
        if isinstance(name, str) and not _PLACE.match(name):
            yield name


def _digests(project: Project, names: Iterable[str]) -> list[str]:
    """Of the first `MOST` that differ; all are asked for, since who gives them reads the runs."""
    found: set[str] = set()
    for name in names:
        if len(found) < MOST:
            found.add(digest_of(project, name))
    return sorted(found)


def _note(project: Project, digests: Iterable[str], holder: Capture | FixtureRevision) -> None:
    """Each digest once; a row that stands is left alone, since none can be written over."""
    field = "capture" if isinstance(holder, Capture) else "revision"
    there = set(HeldDocument.objects.filter(**{field: holder}).values_list("digest", flat=True))
    rows = [
        HeldDocument(project=project, digest=digest, **{field: holder}) for digest in digests if digest not in there
    ]
    HeldDocument.objects.bulk_create(rows, batch_size=BATCH)
