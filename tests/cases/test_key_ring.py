from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.test import override_settings

from replaycases.cases import key_ring, sealing
from replaycases.cases.key_ring import KeyMissing, RingFile, RingInvalid, SealBroken

NOW = datetime(2026, 11, 29, 10, 20, tzinfo=UTC)
DATA_KEY = bytes(range(32))


@pytest.fixture
def file(tmp_path: Path) -> RingFile:
    made = RingFile(tmp_path / "ring.json")
    made.create(NOW)
    return made


def wrapped(file: RingFile, ends: datetime, context: bytes = b"row") -> dict:
    hour = key_ring.hour_of(ends)
    key_id, data = file.ring().wrap(DATA_KEY, hour=hour, context=context)
    return {"wrapped": data, "key_id": key_id, "hour": hour, "context": context}


def test_a_data_key_is_opened_while_its_hour_is_not_over(file: RingFile) -> None:
    kept = wrapped(file, NOW + timedelta(days=30))
    file.forget(NOW + timedelta(days=29, hours=23))
    assert file.ring().unwrap(**kept) == DATA_KEY


def test_once_the_hour_is_forgotten_no_copy_is_opened(file: RingFile) -> None:
    kept = wrapped(file, NOW + timedelta(days=30))
    assert file.forget(NOW + timedelta(days=30, hours=1))
    with pytest.raises(KeyMissing):
        file.ring().unwrap(**kept)


def test_the_file_holds_nothing_of_what_it_forgot(file: RingFile) -> None:
    before = file.ring().keys[0].secret
    file.forget(NOW + timedelta(hours=1))
    after = file.ring().keys[0]
    assert after.secret != before
    assert key_ring.parse(file.path.read_text()).keys == (after,)
    assert [path.name for path in file.path.parent.iterdir() if path.name.endswith(".new")] == []


def test_a_ring_that_was_written_is_on_the_disk_under_its_name(file: RingFile, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync, kept = os.fsync, []

    def noted(descriptor: int) -> None:
        kept.append((os.fstat(descriptor).st_ino, list(file.path.parent.glob("*.new")) == []))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    file.add(NOW)
    assert kept == [(file.path.stat().st_ino, False), (file.path.parent.stat().st_ino, True)]


def test_a_present_hour_is_forgotten_by_nobody(file: RingFile) -> None:
    assert not file.forget(NOW + timedelta(minutes=39))


def test_every_holder_of_the_file_sees_what_another_one_changed(file: RingFile) -> None:
    other = RingFile(file.path)
    kept = wrapped(other, NOW + timedelta(days=1))
    added = file.add(NOW)
    assert other.ring().keys[-1] == added
    assert other.ring().unwrap(**kept) == DATA_KEY
    file.drop(kept["key_id"])
    with pytest.raises(KeyMissing):
        other.ring().unwrap(**kept)


def test_the_way_to_an_hour_is_walked_once_and_again_once_the_ring_moved_on(file: RingFile) -> None:
    hour = key_ring.hour_of(NOW + timedelta(days=90))
    first = file.ring().keys[0].of(hour)
    assert file.ring().keys[0].of(hour) is first
    file.forget(NOW + timedelta(hours=1))
    again = file.ring().keys[0].of(hour)
    assert (again, again is first) == (first, False)


def test_the_current_key_is_not_dropped(file: RingFile) -> None:
    with pytest.raises(ValueError, match="current"):
        file.drop(file.ring().keys[-1].id)


def test_a_ring_that_is_there_is_not_made_anew(file: RingFile) -> None:
    before = file.path.read_bytes()
    file.create(NOW)
    assert file.path.read_bytes() == before


def test_only_its_owner_reads_the_file(file: RingFile) -> None:
    assert file.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("change", [{"context": b"another row"}, {"wrapped": b""}, {"wrapped": b"x" * 60}])
def test_what_was_moved_or_changed_is_not_opened(file: RingFile, change: dict) -> None:
    kept = wrapped(file, NOW + timedelta(days=1))
    with pytest.raises(SealBroken):
        file.ring().unwrap(**{**kept, **change})


def test_another_hour_opens_nothing(file: RingFile) -> None:
    kept = wrapped(file, NOW + timedelta(days=1))
    with pytest.raises(SealBroken):
        file.ring().unwrap(**{**kept, "hour": kept["hour"] + 1})


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"keys": []}', '{"keys": [{"id": "a", "hour": 1, "secret": "AAAA"}]}', '{"keys": [{"id": "a"}]}'],
)
def test_a_ring_that_cannot_be_one_is_refused_without_its_content(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ring.json"
    path.write_text(text)
    with pytest.raises(RingInvalid) as caught:
        RingFile(path).ring()
    assert "AAAA" not in str(caught.value)


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(RingInvalid, match="cannot be read"):
        RingFile(tmp_path / "none.json").ring()


def test_a_ring_in_the_environment_still_seals_when_its_text_is_years_old(file: RingFile) -> None:
    years = NOW + timedelta(days=3 * 366)
    with override_settings(EVIDENCE_KEYS=file.path.read_text()), time_machine.travel(years, tick=False):
        hour = key_ring.hour_of(years + timedelta(days=90))
        key_id, wrapped = sealing.ring().wrap(DATA_KEY, hour=hour, context=b"row")
        assert sealing.ring().unwrap(wrapped, key_id=key_id, hour=hour, context=b"row") == DATA_KEY


def test_a_ring_in_the_environment_opens_nothing_of_an_hour_that_is_over(file: RingFile) -> None:
    kept = wrapped(file, NOW + timedelta(days=1))
    with override_settings(EVIDENCE_KEYS=file.path.read_text()):
        with time_machine.travel(NOW + timedelta(hours=23), tick=False):
            assert sealing.ring().unwrap(**kept) == DATA_KEY
        with time_machine.travel(NOW + timedelta(hours=25), tick=False), pytest.raises(KeyMissing):
            sealing.ring().unwrap(**kept)


def test_a_ring_that_is_cut_off_while_it_is_in_use_is_refused_and_taken_again_once_it_is_whole(file: RingFile) -> None:
    kept, whole, stamp = wrapped(file, NOW + timedelta(days=1)), file.path.read_text(), file.path.stat().st_mtime_ns
    file.ring()
    file.path.write_text(whole[:40])
    os.utime(file.path, ns=(stamp, stamp))
    with pytest.raises(RingInvalid):
        file.ring()
    file.path.write_text(whole)
    assert file.ring().unwrap(**kept) == DATA_KEY
