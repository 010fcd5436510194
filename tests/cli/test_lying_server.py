"""A server that is broken, slow or hostile: nothing is laid down, nothing is called kept, the token stays here."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaycases.cli import pull, server
from tests.cli.conftest import Command
from tests.cli.lying import LIST, Liar, answer, listed, signed, zipped

SECRET = "rc_the-secret"
DEEP = b"[" * 100_000


@pytest.fixture
def pulled(command: Command, liar: Liar, tmp_path: Path) -> Callable[[], tuple[int, str]]:
    """What pulling from the liar gave: exit code and what was said. Whatever it was, nothing stays half done."""

    def run() -> tuple[int, str]:
        code, out, err = command("pull", "--server", liar.url, "--project", "RC", tmp_path / "lane")
        if code:
            assert list(tmp_path.iterdir()) == []
        return code, out + err

    return run


@pytest.fixture
def pushed(command: Command, liar: Liar, tmp_path: Path) -> Callable[[], tuple[int, str]]:
    results = {
        "lane": {"project": "RC", "lane": "blocking", "digest": "sha256:" + "0" * 64},
        "implementation": {"name": "agent", "version": "3", "commit": "c", "digest": "sha256:" + "1" * 64},
        "exit_code": 0,
        "results": [],
    }
    (tmp_path / "results.json").write_text(json.dumps(results))

    def run() -> tuple[int, str]:
        code, out, err = command("push-results", tmp_path / "results.json", "--server", liar.url)
        return code, out + err

    return run


# --- answers that are none ------------------------------------------------------------------------------------------

NO_LIST = [b"[]", b"{}", b'{"results": "abc"}', b'{"results": {"a": 1}}', b'{"results": [{}]}', b'{"results": [7]}']
NO_JSON = [b"", b"<html>", b"NaN", b"\xff", DEEP, DEEP + b"]" * len(DEEP)]


@pytest.mark.parametrize("body", NO_LIST)
def test_a_list_of_lanes_in_another_shape_is_no_lane_and_is_not_taken_for_none(
    pulled: Callable[[], tuple[int, str]], liar: Liar, body: bytes
) -> None:
    liar.raw = [answer(body)]
    code, said = pulled()
    assert code == 60
    assert "the answer is not understood" in said


@pytest.mark.parametrize("body", NO_JSON, ids=range(len(NO_JSON)))
@pytest.mark.parametrize("ask", ["pulled", "pushed"])
def test_what_is_no_json_is_no_answer(request: pytest.FixtureRequest, liar: Liar, body: bytes, ask: str) -> None:
    liar.raw = [answer(body)]
    code, said = request.getfixturevalue(ask)()
    assert code == 60
    assert "the answer is not JSON" in said


@pytest.mark.parametrize("body", [b"[]", b"{}", b"null", b'"kept"', b'{"id": null}'])
def test_results_are_not_called_kept_unless_the_server_names_what_it_kept(
    pushed: Callable[[], tuple[int, str]], liar: Liar, body: bytes
) -> None:
    liar.raw = [answer(body)]
    code, said = pushed()
    assert code == 60
    assert "kept as" not in said


@pytest.mark.parametrize("name", ["é", "a\r\nX-Other: y", "../../../tokens?a="])
def test_the_name_of_a_lane_is_one_part_of_an_address(
    pulled: Callable[[], tuple[int, str]], liar: Liar, good: dict[str, bytes], name: str
) -> None:
    liar.raw = [answer(json.dumps({"results": [{"id": name}]}).encode())]
    liar.zip = zipped(good)
    assert pulled()[0] == 0
    assert liar.asked[1].startswith("/api/v1/lanes/")
    assert liar.asked[1].endswith("/export/")
    assert liar.asked[1].count("/") == 6
    assert "X-Other" not in liar.sent[1]


def test_a_body_that_breaks_off_is_not_read_as_if_it_were_whole(
    pulled: Callable[[], tuple[int, str]], liar: Liar, good: dict[str, bytes]
) -> None:
    """The length says that more was to come, and what did come could be read."""
    for raw in ([answer(b"{}")], [answer(LIST), answer(zipped(good))]):
        liar.raw = [*raw[:-1], raw[-1].replace(b"Content-Length: ", b"Content-Length: 9")]
        code, said = pulled()
        assert code == 60
        assert "the answer broke off" in said


def test_a_body_that_never_ends_is_given_up(
    pulled: Callable[[], tuple[int, str]], liar: Liar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull, "LARGEST_LANE", 1000)
    liar.zip = b"x" * 1001
    code, said = pulled()
    assert code == 60
    assert "larger than 1000 bytes" in said


def test_a_body_that_comes_too_slowly_is_given_up(
    pulled: Callable[[], tuple[int, str]], liar: Liar, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much of it comes: each piece is in time, and all of them are not."""
    monkeypatch.setattr(server, "LONGEST", -1)
    code, said = pulled()
    assert code == 60
    assert "took more than -1 seconds" in said


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("301 Moved", 2),
        ("401 Unauthorized", 2),
        ("403 Forbidden", 2),
        ("404 Not Found", 2),
        ("409 Conflict", 2),
        ("408 Request Timeout", 60),
        ("429 Too Many Requests", 60),
        ("500 Internal Server Error", 60),
        ("503 Service Unavailable", 60),
    ],
)
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!doctype html><title>oh</title>", "text/html"),
        (b'{"detail": "why"}', "application/json"),
        (b'{"detail": "why", "findings": [3, {"message": 4}, {}]}', "application/json"),
        (b'{"detail": "why", "findings": 7}', "application/json"),
        (DEEP, "application/json"),
        (b"[]", "application/json"),
    ],
    ids=range(6),
)
def test_a_refusal_is_told_with_its_status_whatever_its_page_looks_like(
    pulled: Callable[[], tuple[int, str]], liar: Liar, status: str, code: int, body: bytes, kind: str
) -> None:
    liar.raw = [answer(body, status, f"Content-Type: {kind}")]
    given, said = pulled()
    assert given == code
    assert f"answered {status[:3]}" in said
    assert "oh" not in said
    assert ("why" in said) == (b"why" in body)


def test_a_refusal_is_not_longer_than_can_be_read(pulled: Callable[[], tuple[int, str]], liar: Liar) -> None:
    liar.raw = [answer(json.dumps({"detail": "x" * 1_000_000}).encode(), "403 Forbidden")]
    assert len(pulled()[1]) < 3000


# --- the token ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        answer(json.dumps({"detail": f"unknown: {SECRET}"}).encode(), "401 Unauthorized"),
        answer(b"", "302 Found", f"Location: https://evil.example/?{SECRET}"),
        f"{SECRET} is no status\r\n\r\n".encode(),
    ],
    ids=["sentence", "location", "status line"],
)
def test_a_token_that_the_server_sends_back_is_not_printed(
    pulled: Callable[[], tuple[int, str]], liar: Liar, raw: bytes
) -> None:
    liar.raw = [raw]
    code, said = pulled()
    assert code != 0
    assert SECRET not in said
    assert "[token]" in said


def test_a_token_in_what_is_kept_is_not_printed(pushed: Callable[[], tuple[int, str]], liar: Liar) -> None:
    liar.raw = [answer(json.dumps({"id": SECRET}).encode(), "201 Created")]
    code, said = pushed()
    assert (code, SECRET in said) == (0, False)


def test_what_goes_to_this_machine_without_tls_goes_through_no_proxy(
    pulled: Callable[[], tuple[int, str]],
    liar: Liar,
    liars: Callable[[], Liar],
    good: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proxy = liars()
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    liar.zip = zipped(good)
    assert pulled()[0] == 0
    assert proxy.asked == []
    assert len(liar.asked) == 2


def test_a_redirect_of_the_lane_itself_is_not_followed(
    pulled: Callable[[], tuple[int, str]], liar: Liar, liars: Callable[[], Liar], good: dict[str, bytes]
) -> None:
    other = liars()
    other.zip = zipped(good)
    for status in ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"):
        liar.raw = [answer(LIST), answer(b"", status, f"Location: {other.url}/export/")]
        assert pulled()[0] == 2
    assert other.asked == []


@pytest.mark.parametrize(
    "address",
    [
        "https://[::1",
        "https://replaycases.example:port",
        "https://replaycases.example:99999999",
        "https://user@replaycases.example",
        "https://:word@replaycases.example",
        "https://replaycases.example/a b",
        "https://replaycases.example/é",
        "https://replaycases.example\n.example",
        "https://replaycases.example?",
        "https://" + "a" * 70 + ".example",
        "http://[::1]@evil.example",
        "http://127.0.0.1\\@evil.example",
        "",
    ],
)
def test_an_address_that_two_could_read_differently_is_a_usage_error(
    command: Command, liar: Liar, tmp_path: Path, address: str
) -> None:
    code, _, err = command("pull", "--server", address, "--project", "RC", tmp_path / "lane")
    assert code == 2
    assert "--server: must be an address" in err


# --- zips -----------------------------------------------------------------------------------------------------------


def patched(data: bytes, *, central: dict[int, bytes], local: dict[int, bytes] | None = None) -> bytes:
    """The zip with bytes at an offset of every header replaced: those of the central directory, and of the members."""
    found = bytearray(data)
    for sign, changes in ((b"PK\1\2", central), (b"PK\3\4", local or {})):
        place = found.find(sign)
        while place >= 0:
            for offset, value in changes.items():
                found[place + offset : place + offset + len(value)] = value
            place = found.find(sign, place + 4)
    return bytes(found)


def directory_before_the_file(data: bytes) -> bytes:
    """Its end says that the directory is larger than all that came."""
    return data[:-10] + struct.pack("<LLH", 0x7FFFFFFF, 0, 0)


ZIPS: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "encrypted": lambda good: patched(zipped(good), central={8: b"\1\0"}, local={6: b"\1\0"}),
    "a name that is no text": lambda good: patched(zipped(good), central={8: b"\0\x08", 46: b"\xff"}),
    "another name that is no text": lambda good: patched(zipped(good), central={}, local={6: b"\0\x08", 30: b"\xff"}),
    "lzma": lambda good: zipped(good, zipfile.ZIP_LZMA),
    "bzip2": lambda good: zipped(good, zipfile.ZIP_BZIP2),
    "bzip2 that is none": lambda good: patched(zipped(good), central={10: b"\x0c\0"}, local={8: b"\x0c\0"}),
    "an unknown compression": lambda good: patched(zipped(good), central={10: b"\x63\0"}, local={8: b"\x63\0"}),
    "a member outside the file": lambda good: patched(zipped(good), central={42: b"\xf0\xff\xff\x7f"}),
    "a directory outside the file": lambda good: directory_before_the_file(zipped(good)),
    "another checksum": lambda good: patched(zipped(good), central={16: b"\0\0\0\0"}),
    "a shorter size": lambda good: patched(zipped(good), central={24: b"\1\0\0\0"}),
    "an absolute name": lambda good: zipped({**good, "/etc/passwd": b"{}"}),
    "a drive": lambda good: zipped({**good, "C:\\RC-1.json": b"{}"}),
    "another case": lambda good: zipped({**good, "rc-1.json": good["RC-1.json"]}),
    "another normal form": lambda good: zipped({**good, "RC-1\u0301.json": good["RC-1.json"]}),
    "a folder": lambda good: zipped({**good, "controls/": b""}),
    "a name that ends early": lambda good: zipped({**good, "RC-2.json": b"{}"}).replace(b"RC-2.json", b"RC-1.json"),
    "two indexes": lambda good: zipped({**good, "lane.jsoo": good["lane.json"]}).replace(b"lane.jsoo", b"lane.json"),
    "nothing": lambda good: b"",
    "an empty zip": lambda good: zipped({}),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("lie", ZIPS)
def test_a_zip_that_is_not_what_it_should_be_is_not_laid_down(
    pulled: Callable[[], tuple[int, str]], liar: Liar, good: dict[str, bytes], lie: str
) -> None:
    liar.zip = ZIPS[lie](good)
    code, said = pulled()
    assert code == 60
    assert "the lane was not pulled" in said
    assert "Nothing was written" in said


def test_a_link_in_the_zip_is_laid_down_as_the_bytes_that_were_listed(
    pulled: Callable[[], tuple[int, str]], liar: Liar, good: dict[str, bytes], tmp_path: Path
) -> None:
    liar.zip = patched(zipped(good), central={38: struct.pack("<L", 0o120777 << 16)})
    assert pulled()[0] == 0
    laid = [path for path in (tmp_path / "lane").rglob("*") if not path.is_dir()]
    assert len(laid) == len(good)
    assert not any(path.is_symlink() for path in laid)
    assert {path.read_bytes() for path in laid} == set(good.values())


def test_a_small_zip_of_very_large_files_is_not_laid_down_though_it_lists_them(
    pulled: Callable[[], tuple[int, str]], liar: Liar, good: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull, "LARGEST_LANE", 1_000_000)
    bomb = b" " * 600_000
    document = json.loads(good["lane.json"])
    names = [f"old/RC-1/{place}.manifest.json" for place in (2, 3)]
    document["entries"][0]["files"] += [vars(listed(name, bomb)) for name in names]
    liar.zip = zipped({**good, **dict.fromkeys(names, bomb), "lane.json": signed(document)})
    assert len(liar.zip) < 10_000
    code, said = pulled()
    assert code == 60
    assert "more than 1000000 bytes" in said


PATHS = [
    "/etc/RC-1.json",
    "../RC-1.json",
    "controls/../RC-1.json",
    "controls/RC-1/../../RC-2.json",
    "controls/RC-1/..json",
    "controls/RC-1/a.json\n",
    "controls/RC-1/A.json",
    "controls/RC-1/é.json",
    "controls//RC-1/a.json",
    "controls\\RC-1\\a.json",
    "controls/RC-1.json",
    "controls/RC-2/a.json",
    "RC-1/a.json",
    "suite.json",
    "lane.json",
    "RC-01.json",
    "",
]


@pytest.mark.parametrize("path", PATHS)
def test_an_index_does_not_list_a_path_outside_its_case(
    pulled: Callable[[], tuple[int, str]], liar: Liar, good: dict[str, bytes], path: str
) -> None:
    document: dict[str, Any] = json.loads(good["lane.json"])
    document["entries"][0]["files"].append(vars(listed(path, b"{}")))
    files = {**good, path: b"{}"} if path else good
    liar.zip = zipped({**files, "lane.json": signed(document)})
    code, said = pulled()
    assert code == 60
    assert "The index" in said
