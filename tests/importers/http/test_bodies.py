from __future__ import annotations

import codecs
import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.fixture.pointer import ABSENT
from replaycases.importers.findings import ImportRefused
from replaycases.importers.http import bodies
from replaycases.importers.http.bodies import Body, Unpacking, decoded, from_base64

PLAIN = b'{"said": "hello", "n": 1}'


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


def test_a_compressed_body_is_unpacked_by_what_it_is() -> None:
    for packed, encoding in [
        (gzip.compress(PLAIN), "gzip"),
        (gzip.compress(PLAIN), ""),
        (gzip.compress(gzip.compress(PLAIN)), "gzip, gzip"),
        (gzip.compress(PLAIN) + gzip.compress(b"  "), "gzip"),
        (zlib.compress(PLAIN), "deflate"),
        (raw_deflate(PLAIN), "deflate"),
        (gzip.compress(PLAIN), "identity, x-gzip"),
    ]:
        body = decoded(packed, encoding, Unpacking())
        assert (body.json, body.fault) == ({"said": "hello", "n": 1}, "")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "something"])
def test_a_body_that_was_unpacked_by_the_recorder_is_left_as_it_is(encoding: str) -> None:
    assert decoded(PLAIN, encoding, Unpacking()) == Body(data=PLAIN)


def test_a_body_that_breaks_off_keeps_what_came_of_it_and_says_so() -> None:
    long = bytes(range(256)) * 2000
    packed = gzip.compress(long)
    body = decoded(packed[: len(packed) // 2], "gzip", Unpacking())
    assert long.startswith(body.data)
    assert body.data
    assert "breaks off" in body.fault


def test_a_damaged_body_says_so() -> None:
    packed = bytearray(gzip.compress(PLAIN))
    packed[-6] ^= 0xFF
    assert "damaged" in decoded(bytes(packed), "gzip", Unpacking()).fault


@pytest.mark.parametrize("encoding", ["br", "zstd"])
def test_a_compression_that_is_not_read_is_named(encoding: str) -> None:
    body = decoded(b"\x8b\x02\x80\xff\x00", encoding, Unpacking())
    assert (body.data, encoding in body.fault) == (b"", True)


def test_a_small_body_that_unpacks_to_a_large_one_is_refused() -> None:
    with pytest.raises(ImportRefused) as caught:
        decoded(gzip.compress(bytes(8 * 1024 * 1024)), "gzip", Unpacking(source="/here"))
    assert (caught.value.finding.id, caught.value.finding.pointer) == ("import.too-large", "/here")


def test_all_bodies_of_a_file_unpack_to_so_much_together() -> None:
    unpacking = Unpacking(left=100)
    decoded(gzip.compress(b"x" * 60), "gzip", unpacking)
    with pytest.raises(ImportRefused) as caught:
        decoded(gzip.compress(b"x" * 60), "gzip", unpacking)
    assert caught.value.finding.id == "import.too-large"


def test_a_mark_of_byte_order_is_no_part_of_the_json() -> None:
    assert Body(data=codecs.BOM_UTF8 + PLAIN).json == {"said": "hello", "n": 1}


@pytest.mark.parametrize("data", [b"", b"hello", b'{"a": nan}', b'{"a"', b"\xff"])
def test_what_is_no_json_is_none(data: bytes) -> None:
    assert Body(data=data).json is ABSENT


def test_bytes_in_a_value_that_was_kept_parsed_become_text() -> None:
    assert Body(parsed={"a": [b"text", b"\xff"]}).json == {"a": ["text", "/w=="]}


def test_base64_is_decoded_or_said_to_be_none() -> None:
    assert from_base64("aGk=") == (b"hi", "")
    assert from_base64("a")[1] == "the body is not base64"


@given(st.binary(max_size=200), st.sampled_from(["", "gzip", "deflate", "br", "gzip, deflate", ",", "x"]))
def test_any_body_is_decoded_or_said_to_be_broken(data: bytes, encoding: str) -> None:
    for body in (data, b"\x1f\x8b" + data):
        told = decoded(body, encoding, Unpacking())
        packed = encoding not in ("", ",") or body.startswith(b"\x1f\x8b")
        assert told.fault or packed or told.data == body


@given(st.binary(max_size=3000), st.integers(1, 700))
def test_slices_do_not_change_what_is_unpacked(data: bytes, size: int) -> None:
    before, bodies._SLICE = bodies._SLICE, size
    try:
        assert decoded(gzip.compress(data) + gzip.compress(data), "gzip", Unpacking()).data == data + data
    finally:
        bodies._SLICE = before
