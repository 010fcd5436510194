"""`redact` writes what nobody has to be told about any more, or nothing; neither it nor `scan` prints a value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaycases.fixture.load import load_fixture
from tests.cli.conftest import INCIDENTS, Command

CANARY = "canary.kestrel@corp.test"


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "document.json"
    path.write_text(json.dumps({"email": CANARY, CANARY: f"mail {CANARY}", "password": "kestrel-9-kestrel"}))
    return path


def policy(tmp_path: Path, **members: Any) -> Path:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"name": "test", "version": "1", **members}))
    return path


def test_the_result_holds_no_original_and_nothing_printed_does(
    command: Command, document: Path, tmp_path: Path
) -> None:
    result = tmp_path / "redacted.json"
    code, out, err = command("redact", document, "-o", result)
    assert code == 0
    assert "replaced 3 email, 1 secret" in out
    assert "kestrel" not in (result.read_text() + out + err).replace(str(tmp_path), "")


def test_an_incident_stays_a_fixture_and_another_key_gives_another_one(command: Command, tmp_path: Path) -> None:
    hashes = set()
    for name in ("one.json", "two.json"):
        assert command("redact", INCIDENTS / "refund-timeout.json", "-o", tmp_path / name)[0] == 0
        hashes.add(load_fixture((tmp_path / name).read_bytes()).content_hash)
    assert len(hashes) == 2


def test_what_is_open_is_listed_and_nothing_is_written(command: Command, tmp_path: Path) -> None:
    path, result = tmp_path / "document.json", tmp_path / "redacted.json"
    path.write_text(json.dumps({"customer_name": "Jane Doe", "notes": {"jane@corp.test": "Jane called"}}))
    code, out, err = command("redact", path, "-o", result)
    assert code == 10
    assert "person at /notes/… [0:4]: alias" in out
    assert "was not written: 1 open" in err
    assert not result.exists()


def test_a_policy_decides_what_was_open(command: Command, tmp_path: Path) -> None:
    path, result = tmp_path / "document.json", tmp_path / "redacted.json"
    path.write_text(json.dumps({"customer_name": "Jane Doe", "text": "Jane called"}))
    code, _, _ = command("redact", path, "--policy", policy(tmp_path, aliases="replace"), "-o", result)
    assert code == 0
    assert "Jane" not in result.read_text()


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"kinds_off": ["secret"]}, "/kinds_off: secrets and what could not be read are never switched off."),
        ({"fields": [{"key": "a"}]}, "/fields/0 has a kind and either a key or a pointer"),
        ({"fields": [{"pointer": "a", "kind": "id"}]}, "/fields/0/pointer is a JSON Pointer"),
        ({"opaque": {"min_length": 3}}, "/opaque/min_length is a whole number from 12 to 200."),
        ({"colour": "red"}, "A policy has no member 'colour'"),
        ({"dates": "guess"}, '/dates is "keep" or "shift".'),
    ],
)
def test_a_policy_that_says_nothing_clear_is_refused_by_its_place(
    command: Command, document: Path, tmp_path: Path, members: dict[str, Any], said: str
) -> None:
    code, _, err = command("scan", document, "--policy", policy(tmp_path, **members))
    assert code == 2
    assert said in err


def test_scan_says_where_and_what_and_exits_10(command: Command, document: Path) -> None:
    code, out, err = command("scan", document)
    assert code == 10
    assert "secret at /password [0:17]: field:secret" in out
    assert "email at the key /… [0:24]: personal:email" in out
    assert "kestrel" not in out + err


def test_scan_of_what_was_redacted_finds_only_surrogates(command: Command, document: Path, tmp_path: Path) -> None:
    result = tmp_path / "redacted.json"
    command("redact", document, "-o", result)
    code, out, _ = command("scan", result, "--json")
    found = json.loads(out)["findings"]
    assert (code, {row["kind"] for row in found}) == (10, {"email", "secret"})
    assert all("value" not in row for row in found)


def test_a_damaged_document_is_refused(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "document.json"
    path.write_bytes(b'{"a": "\xff"}')
    assert command("scan", path)[0] == 10


@pytest.mark.parametrize("verb", ["scan", "redact"])
def test_a_name_that_may_be_a_value_is_shown_in_no_fault_either(command: Command, tmp_path: Path, verb: str) -> None:
    path = tmp_path / "document.json"
    path.write_text(f'{{"notes": {{"{CANARY}": 1, "{CANARY}": 2}}}}')
    output = ("-o", tmp_path / "redacted.json") if verb == "redact" else ()
    code, out, err = command(verb, path, *output)
    assert code == 10
    assert "/notes/…: the key stands twice in its object" in out + err
    assert "kestrel" not in out + err
