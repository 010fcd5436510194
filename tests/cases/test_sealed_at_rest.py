"""Canaries in every part of raw evidence: no copy of the database shows one, and none opens once its time is over."""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
import time_machine
from django.db import connection
from django.test import override_settings
from django.utils import timezone

from replaycases.cases import captures, details, drafts, expiry, intake, key_ring, notifying, purging, sealing
from replaycases.cases.key_ring import KeyMissing, SealBroken
from replaycases.cases.models import Case, Classification, Comparison, Origin, OutcomeType, Payload, Run
from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.load import load_fixture
from tests import factories, services
from tests.cases.deployment import REPOSITORY, Deployment
from tests.cases.test_captures import CHOICES
from tests.importers.transcripts import answers, asks, call, says, transcript, user
from tests.web import recorded

# A number of its own for each place, so that a canary that is found says where it came from.
_serial = itertools.count(1)
CANARY = "zqcanary"
# What names the case and its tools stands on lists and in lanes, and is not sealed: docs/operations.md says so.
IN_CLEAR = re.compile(r"/case_id|/incident_id|/events/\d+/tool")
INCIDENT = "examples/incidents/refund-timeout.json"


def canary() -> str:
    return f"{CANARY}{next(_serial):05d}z"


def everywhere(document: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
    """The document with a canary in every text and every key that a valid fixture can hold one in, and by canary the
    place where it is."""
    document, placed = deepcopy(document), {}
    for path in list(_places(document)):
        pointer = "/" + "/".join(map(str, path))
        if IN_CLEAR.fullmatch(pointer):
            continue
        before, sung = deepcopy(document), canary()
        _change(document, path, sung)
        try:
            load_fixture(json.dumps(document).encode())
        except FixtureInvalid:
            document = before
        else:
            placed[sung] = pointer
    return json.dumps(document).encode(), placed


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The leaves from the last one on, so that a key that was changed leads nowhere else."""
    if isinstance(value, dict):
        for key in reversed(value):
            yield from _places(value[key], (*path, key))
            yield (*path, key, "key")
    elif isinstance(value, list):
        for index in reversed(range(len(value))):
            yield from _places(value[index], (*path, index))
    else:
        yield path


def _change(document: Any, path: tuple[Any, ...], sung: str) -> None:
    *steps, last = path
    if last == "key":
        *steps, last = steps
        for step in steps:
            document = document[step]
        document[f"{last}{sung}"] = document.pop(last)
        return
    for step in steps:
        document = document[step]
    document[last] = f"{document[last]}{sung}" if isinstance(document[last], str) else sung


@pytest.fixture
def keys(deployment: Deployment) -> Iterator[Path]:
    path = deployment.folder / "evidence-keys.json"
    with override_settings(EVIDENCE_KEYS_FILE=path):
        yield path


@pytest.fixture
def sung(keys: Path) -> dict[str, str]:
    """Raw evidence of every kind with canaries in it; by canary where it was put."""
    of = factories.people(factories.project())
    document = json.loads((REPOSITORY / INCIDENT).read_text())
    document["input"] |= {"notes": ["a note", {"deep": "value"}], "card": 4711}
    fixture, placed = everywhere(document)
    assert len(placed) > 60, placed
    case = factories.case(of.project, of.responder, fixture, classification=Classification.QUARANTINED)
    placed |= _control(of, case) | _runs(of, case, fixture) | _capture(of)
    expiry.look()
    notifying.look()
    return placed


def _control(of: factories.People, case: Case) -> dict[str, str]:
    document, placed = everywhere(json.loads(factories.control_fixture()))
    mutated = canary()
    value = {"state": mutated}
    intake.add_control(
        of.engineer,
        revision=factories.revision(case),
        name="confirmed",
        outcome_type=OutcomeType.SUCCESS,
        fixture=document,
        mutation=json.dumps([{"op": "replace", "path": "/events/0/outcome/value", "value": value}]).encode(),
    )
    return {**placed, mutated: "mutation"}


def _runs(of: factories.People, case: Case, fixture: bytes) -> dict[str, str]:
    """A side that answers as recorded, and one that asks for something else; both write to standard error."""
    said, asked, shouted = canary(), canary(), canary()
    event = json.loads(fixture)["events"][0]
    lookup = ("tool.call", {"tool": event["tool"], "arguments": event["arguments"]})
    other = ("tool.call", {"tool": event["tool"], "arguments": {asked: asked}})
    old = recorded.says(f"Your refund was completed. {said}", lookup, status="done")
    new = recorded.says(f"I could not confirm it. {said}", other, status=said)
    recorded.compared(case, of.engineer, old, new, stderr=f"Traceback {shouted}")
    comparison = Comparison.objects.get()
    assert comparison.label
    details.edit_provenance(
        of.engineer,
        case=case,
        incident_url="",
        trace_id="trace-1",
        trace_url="",
        affected=comparison.old,
        fixed=comparison.new,
        covering_test="tests/test_refund.py",
    )
    assert all(run.status for run in Run.objects.all())
    return {said: "what the agent said", asked: "what the agent asked", shouted: "standard error"}


def _capture(of: factories.People) -> dict[str, str]:
    traced, chosen = canary(), canary()
    data = transcript(
        user(f"refund {traced}"), asks(call("refund", {"id": traced})), answers(traced), says(f"It is {traced}.")
    )
    capture = captures.bring(of.responder, project=of.project, data=data, origin=Origin.UPLOAD, name="trace.json")
    drafts.save(of.responder, capture=capture, run=0, choices={**CHOICES, "identity": {"subject": chosen}})
    return {traced: "capture", chosen: "draft"}


# --- copies of the database -----------------------------------------------------------------------------------------


def copy_of(folder: Path) -> tuple[bytes, list[Payload]]:
    """A dump of the whole database as text, and its payloads as a restored backup holds them."""
    return _from_postgresql(folder) if connection.vendor == "postgresql" else _from_sqlite(folder)


_COLUMNS = "id, project_id, digest, size, expires_at, key_id, key_hour, data_key, body"


def _from_sqlite(folder: Path) -> tuple[bytes, list[Payload]]:
    connection.ensure_connection()
    with sqlite3.connect(folder / "backup.sqlite3") as restored:
        connection.connection.backup(restored)
        dump = "\n".join(restored.iterdump()).encode("utf-8", "surrogateescape")
        rows = restored.execute(f"SELECT {_COLUMNS} FROM cases_payload WHERE data_key IS NOT NULL").fetchall()
    restored.close()
    files = b"".join(path.read_bytes() for path in folder.glob("*.sqlite3*"))
    return dump + files, [_payload(row) for row in rows]


def _from_postgresql(folder: Path) -> tuple[bytes, list[Payload]]:
    named = connection.settings_dict
    where, tools = {"host": named["HOST"], "user": "postgres"}, services._postgresql_bin()
    assert tools is not None
    options = ["-h", named["HOST"], "-U", "postgres"]
    dump = subprocess.run([tools / "pg_dump", *options, named["NAME"]], check=True, capture_output=True).stdout
    with psycopg.connect(dbname="postgres", autocommit=True, **where) as admin:
        admin.execute(f'CREATE DATABASE "{named["NAME"]}_restored"')
    restored = f"{named['NAME']}_restored"
    subprocess.run(
        [tools / "psql", *options, "-q", "-v", "ON_ERROR_STOP=1", restored], input=dump, check=True, capture_output=True
    )
    with psycopg.connect(dbname=restored, **where) as beside:
        rows = beside.execute(f"SELECT {_COLUMNS} FROM cases_payload WHERE data_key IS NOT NULL").fetchall()
    return dump, [_payload(row) for row in rows]


def _payload(row: Any) -> Payload:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    for name in ("id", "project_id"):
        values[name] = UUID(str(values[name]))
    return Payload(**values)


def found_in(copy: bytes, sung: dict[str, str]) -> dict[str, str]:
    """The canaries that the copy shows: as text, or as the hexadecimal digits by which dumps write bytes."""
    low = copy.lower()
    return {one: where for one, where in sung.items() if one.encode() in low or one.encode().hex().encode() in low}


# --- what must hold -------------------------------------------------------------------------------------------------


def test_no_copy_of_the_database_shows_raw_evidence(deployment: Deployment, keys: Path, sung: dict[str, str]) -> None:
    dump, restored = copy_of(deployment.folder)
    assert found_in(dump, sung) == {}
    # The search finds what is there: the same canaries, once the payloads are opened.
    opened = b"".join(sealing.opened(payload) for payload in restored)
    assert found_in(opened, sung) == sung


def test_once_its_time_is_over_a_restored_backup_opens_nothing(
    deployment: Deployment, keys: Path, sung: dict[str, str]
) -> None:
    _, restored = copy_of(deployment.folder)
    kept = key_ring.dump(sealing.ring())
    with time_machine.travel(timezone.now() + timedelta(days=31), tick=False):
        assert purging.look() == len(restored)
        for payload in restored:
            with pytest.raises(KeyMissing):
                sealing.opened(payload)
        _nothing_of_the_ring_opens(restored)
        # It is the ring that forgot: a copy of it, as one in the environment is, opens all of the backup for ever.
        assert keys.read_text() != kept
        assert found_in(b"".join(_opened(key_ring.parse(kept), payload) for payload in restored), sung) == sung
    assert not Payload.objects.filter(data_key__isnull=False).exists()


def _opened(ring: key_ring.KeyRing, payload: Payload) -> bytes:
    context, hour = sealing._context(payload), payload.key_hour
    assert hour is not None
    data_key = ring.unwrap(bytes(payload.data_key), key_id=payload.key_id, hour=hour, context=context)
    return key_ring.open_seal(data_key, bytes(payload.body), context=context)


def _nothing_of_the_ring_opens(restored: list[Payload]) -> None:
    """Not by another hour either: whoever holds the ring has those from now on."""
    [key] = sealing.ring().keys
    hours = [key.of(hour) for hour in range(key.hour, key.hour + 24 * 40)]
    for payload in restored:
        for wrapping in hours:
            with pytest.raises(SealBroken):
                key_ring.open_seal(wrapping, bytes(payload.data_key), context=sealing._context(payload))
