from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import archives, evidence, registry
from replaycases.cases.models import Classification, Implementation
from replaycases.replay.implementation import ImplementationInvalid, load_implementation
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor() -> User:
    return factories.everyone(factories.project())


def _register(actor: User, archive: bytes, spec_path: str = "implementation.json") -> Implementation:
    return registry.register_archive(
        actor, project=actor.memberships.first().project, archive=archive, spec_path=spec_path
    )


def _path(folder: Path, **spec: object) -> Path:
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "agent.py").write_text(factories.NEW_CODE)
    document = {"name": "agent", "version": "1", "commit": "c", "path": "src"}
    adapter = {"kind": "python", "target": "agent:replay"}
    (folder / "agent.json").write_text(json.dumps({**document, "adapter": adapter, **spec}))
    return folder / "agent.json"


def test_what_is_kept_has_the_digest_of_what_was_sent(actor: User, tmp_path: Path) -> None:
    registered = _register(actor, factories.archive(factories.NEW_CODE))
    assert registered.digest == load_implementation(_path(tmp_path)).digest
    with registry.materialised(registered) as loaded:
        assert loaded.digest == registered.digest
        assert (loaded.path / "agent.py").read_text() == factories.NEW_CODE
    assert not loaded.path.exists()


def test_the_same_code_under_the_same_name_and_version_is_registered_once(actor: User) -> None:
    first = _register(actor, factories.archive(factories.NEW_CODE))
    assert _register(actor, factories.archive(factories.NEW_CODE)) == first


def test_evidence_and_history_in_the_archive_are_not_kept(actor: User) -> None:
    files = {"implementation.json": (json.dumps(_spec()).encode(), False), "src/agent.py": (b"x = 1", False)}
    hidden = {"src/case.json": (factories.fixture(), False), "src/.git/HEAD": (b"ref", False)}
    registered = _register(actor, archives.pack({**files, **hidden}))
    with registry.materialised(registered) as loaded:
        assert [path.name for path in loaded.path.rglob("*") if path.is_file()] == ["agent.py"]


def _spec(**changes: object) -> dict[str, object]:
    adapter = {"kind": "python", "target": "agent:replay"}
    return {"name": "a", "version": "1", "commit": "c", "path": "src", "adapter": adapter, **changes}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"path": ".."}, "leads out"),
        ({"path": "/etc"}, "leads out"),
        ({"python": "/usr/bin/python3"}, "not taken on the server"),
        ({"adapter": {"kind": "magic"}}, "not an adapter"),
    ],
)
def test_a_specification_that_reaches_outside_is_refused(actor: User, spec: dict[str, object], said: str) -> None:
    with pytest.raises(ImplementationInvalid, match=said):
        _register(actor, factories.archive(factories.NEW_CODE, spec=spec))
    assert not Implementation.objects.exists()


@pytest.mark.parametrize("spec_path", ["../../etc/passwd", "/etc/passwd", "absent.json", "", "a\x00b"])
def test_a_specification_outside_of_the_archive_is_not_read(actor: User, spec_path: str) -> None:
    with pytest.raises(ImplementationInvalid):
        _register(actor, factories.archive(factories.NEW_CODE), spec_path)


def test_an_archive_changed_in_the_database_is_not_run(actor: User) -> None:
    registered = _register(actor, factories.archive(factories.NEW_CODE))
    other = archives.pack(
        {"implementation.json": (json.dumps(_spec(path="tree")).encode(), False), "tree/agent.py": (b"", False)}
    )
    kept = evidence.store(
        registered.project, other, media_type=evidence.ARCHIVE_TYPE, classification=Classification.REDACTED
    )
    Implementation.objects.filter(pk=registered.pk).update(archive=kept)
    registered = Implementation.objects.get(pk=registered.pk)
    with pytest.raises(evidence.EvidenceDamaged), registry.materialised(registered):
        pass


def test_a_path_is_registered_only_below_an_allowed_directory(actor: User, tmp_path: Path, settings: Any) -> None:
    project = actor.memberships.first().project
    allowed, outside = _path(tmp_path / "allowed"), _path(tmp_path / "outside")
    settings.REPLAYCASES_IMPLEMENTATION_PATHS = [tmp_path / "allowed"]
    registered = registry.register_path(actor, project=project, path=str(allowed))
    assert registered.allowed_path == str(allowed)
    (tmp_path / "allowed" / "link.json").symlink_to(outside)
    for path in (outside, tmp_path / "allowed" / ".." / "outside" / "agent.json", tmp_path / "allowed" / "link.json"):
        with pytest.raises(ImplementationInvalid, match="allowed directory"):
            registry.register_path(actor, project=project, path=str(path))


def test_a_path_to_nothing_is_refused(actor: User, tmp_path: Path, settings: Any) -> None:
    settings.REPLAYCASES_IMPLEMENTATION_PATHS = [tmp_path]
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(ImplementationInvalid):
            registry.register_path(actor, project=actor.memberships.first().project, path=str(path))


def test_only_a_workflow_engineer_registers(actor: User) -> None:
    project = actor.memberships.first().project
    with pytest.raises(PermissionDenied):
        _register(factories.person(project, Role.QA), factories.archive(factories.NEW_CODE))


@pytest.mark.parametrize(
    ("spec", "pointer"),
    [
        ({"name": "n" * 201}, "/name"),
        ({"version": "v" * 201}, "/version"),
        ({"commit": "c" * 201}, "/commit"),
        ({"serving": {"settings": {"stop": "a\0"}}}, ""),
        ({"serving": {"settings": {"a\0": 1}}}, ""),
        ({"path": "p" * 300}, "/path"),
    ],
)
def test_what_the_database_would_refuse_is_refused_with_its_place(
    actor: User, spec: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(ImplementationInvalid) as refused:
        _register(actor, factories.archive(factories.NEW_CODE, spec=spec))
    assert refused.value.pointer == pointer


def test_a_backslash_before_the_letters_of_an_escape_is_no_nul(actor: User) -> None:
    spec = {"serving": {"settings": {"stop": "\\u0000"}}}
    registered = _register(actor, factories.archive(factories.NEW_CODE, spec=spec))
    assert Implementation.objects.get(pk=registered.pk).spec["serving"] == spec["serving"]


def test_a_path_in_the_archive_that_no_file_can_have_is_not_there(actor: User) -> None:
    with pytest.raises(ImplementationInvalid, match="does not hold the implementation file"):
        _register(actor, factories.archive(factories.NEW_CODE), "a" * 300)


def test_code_that_is_too_large_to_be_kept_is_refused_with_both_sizes(actor: User, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 100
    with pytest.raises(ImplementationInvalid, match=r"bytes when packed; at most 100 are kept"):
        _register(actor, factories.archive(factories.NEW_CODE))
