"""Registering implementations: whatever the way in, what is kept is one archive of exactly the tree to be mounted."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import REGISTERS_IMPLEMENTATIONS
from replaycases.cases import archives, events, evidence, policies
from replaycases.cases.models import Classification, Implementation
from replaycases.cases.models.implementation import NAME_LENGTH
from replaycases.fixture import strict_json
from replaycases.fixture.findings import FixtureInvalid
from replaycases.replay import implementation as replayed
from replaycases.replay.implementation import LARGEST_SPEC, ImplementationInvalid
from replaycases.replay.tree import Entry, TreeLimits

SPEC_NAME = "implementation.json"
TREE_NAME = "tree"
# An odd number of backslashes: the escape, and not a backslash followed by its letters.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
# An archive is held in memory and in one database row: smaller than what the command line mounts from disk.
LIMITS = TreeLimits(files=10_000, bytes=128 * 1024 * 1024)


def register_archive(actor: User, *, project: Project, archive: bytes, spec_path: str) -> Implementation:
    """Register an uploaded .zip or .tar.gz in which `spec_path` is the implementation file. The same code under the
    same name and version is registered once. Raises ImplementationInvalid, PermissionDenied."""
    access.require(actor, project, *REGISTERS_IMPLEMENTATIONS)
    with tempfile.TemporaryDirectory(prefix="replaycases-upload-") as folder:
        root = Path(folder).resolve()
        try:
            archives.unpack(archive, root, limits=LIMITS)
        except archives.ArchiveInvalid as error:
            raise ImplementationInvalid(Path("archive"), "", str(error), "upload another archive") from None
        return _register(actor, project, root, _inside(root, spec_path), allowed_path="")


def register_path(actor: User, *, project: Project, path: str) -> Implementation:
    """Register the implementation file at `path` on the server, below a directory that an administrator allowed. It is
    packed now, so that any worker has it and later changes on disk are another version. Raises as above."""
    access.require(actor, project, *REGISTERS_IMPLEMENTATIONS)
    spec = Path(path).resolve()
    for root in settings.REPLAYCASES_IMPLEMENTATION_PATHS:
        if spec.is_relative_to(root):
            return _register(actor, project, root, spec, allowed_path=str(spec))
    raise ImplementationInvalid(
        Path(spec.name),
        "",
        "not below an allowed directory",
        "an administrator names one in REPLAYCASES_IMPLEMENTATION_PATHS",
    )


@contextmanager
def materialised(implementation: Implementation) -> Iterator[replayed.Implementation]:
    """The implementation unpacked from its archive into a directory of its own, for as long as the context lasts.
    Raises EvidenceDamaged or ImplementationInvalid if it is no longer what was registered."""
    data = evidence.read(implementation.archive)
    with tempfile.TemporaryDirectory(prefix="replaycases-run-") as folder:
        root = Path(folder).resolve()
        archives.unpack(data, root, limits=LIMITS)
        loaded = replayed.load_implementation(root / implementation.spec_path, limits=LIMITS)
        if loaded.digest != implementation.digest:
            raise evidence.EvidenceDamaged(f"implementation {implementation.pk} no longer has its digest")
        yield loaded


def _inside(root: Path, spec_path: str) -> Path:
    spec = (root / spec_path).resolve() if "\0" not in spec_path else root
    if not spec.is_relative_to(root) or not os.path.isfile(spec):  # the method raises for a name that is too long
        raise ImplementationInvalid(
            Path("archive"), "", "does not hold the implementation file", "give its path inside the archive"
        )
    return spec


def _refuse_reaching_out(root: Path, spec: Path) -> None:
    """Before anything that the file names is looked at: reading it, or only saying whether it exists, would show an
    uploader what is on this machine. Everything else about the file is `load_implementation`'s to judge."""
    try:
        with spec.open("rb") as file:
            document = strict_json.parse(file.read(LARGEST_SPEC + 1))
    except (OSError, FixtureInvalid):
        return
    path = document.get("path") if isinstance(document, dict) else None
    if isinstance(path, str) and "\0" not in path and not (spec.parent / path).resolve().is_relative_to(root):
        raise ImplementationInvalid(spec, "/path", "leads out of what may be read", "keep the code inside")
    if isinstance(document, dict) and "python" in document:
        raise ImplementationInvalid(spec, "/python", "is not taken on the server", "leave it out: the worker's is used")


def _refuse_what_no_column_holds(spec: Path, document: dict[str, Any]) -> None:
    """PostgreSQL refuses longer texts than declared, and NUL in JSON; SQLite takes both. Neither shall depend on it."""
    for name in ("name", "version", "commit"):
        if len(document[name]) > NAME_LENGTH:
            raise ImplementationInvalid(spec, f"/{name}", f"longer than {NAME_LENGTH} characters", "shorten it")
    if _NUL.search(json.dumps(document)):
        raise ImplementationInvalid(spec, "", "holds a NUL character", "leave it out")


def _register(actor: User, project: Project, root: Path, spec: Path, *, allowed_path: str) -> Implementation:
    _refuse_reaching_out(root, spec)
    loaded = replayed.load_implementation(spec, limits=LIMITS)
    document = {**strict_json.parse(spec.read_bytes()), "path": TREE_NAME}
    _refuse_what_no_column_holds(spec, document)
    packed = _pack(loaded, document)
    if len(packed) > settings.MAX_UPLOAD_BYTES:
        raise ImplementationInvalid(
            spec,
            "/path",
            f"is {len(packed)} bytes when packed; at most {settings.MAX_UPLOAD_BYTES} are kept",
            "leave out what the replay does not need",
        )
    with transaction.atomic():
        policies.require_roles_locked(actor, project, *REGISTERS_IMPLEMENTATIONS)
        payload = evidence.store(
            project, packed, media_type=evidence.ARCHIVE_TYPE, classification=Classification.REDACTED
        )
        registered, created = Implementation.objects.get_or_create(
            project=project,
            digest=loaded.digest,
            name=loaded.name,
            version=loaded.version,
            defaults={
                "commit": loaded.commit,
                "spec": document,
                "spec_path": SPEC_NAME,
                "archive": payload,
                "parsers": loaded.parser_digests(),
                "allowed_path": allowed_path,
                "created_by": actor,
            },
        )
        if created:
            events.record(
                actor=actor,
                action="implementation.registered",
                subject=registered,
                project=project,
                object_hash=loaded.digest,
                after={"archive": payload.digest},
            )
    return registered


def _pack(loaded: replayed.Implementation, document: dict[str, Any]) -> bytes:
    spec = json.dumps(document, indent=2, sort_keys=True).encode()
    files = {SPEC_NAME: (spec, False)}
    files |= {f"{TREE_NAME}/{entry.path}": _content(loaded, entry) for entry in loaded.entries}
    return archives.pack(files)


def _content(loaded: replayed.Implementation, entry: Entry) -> tuple[bytes, bool]:
    if entry.kind == "link":
        raise ImplementationInvalid(
            Path(entry.path), "/path", "is a symbolic link, which the server does not keep", "replace it by a copy"
        )
    return (loaded.path / entry.path).read_bytes(), entry.kind == "executable"
