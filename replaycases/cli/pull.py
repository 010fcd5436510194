"""`replaycases pull`: a lane's redacted fixtures, controls and old manifests, as the lane stands now.

Everything is held against the lane's digests before a byte is laid down; DIR appears whole or not at all. `replaycases
suite DIR --new SPEC` judges what was pulled. Exit codes: 0 well · 2 refused · 60 no answer, or one that is damaged.
"""

from __future__ import annotations

import argparse
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, urlencode

from replaycases.cli.output import say, say_json
from replaycases.cli.pulled_lane import digest_of
from replaycases.cli.reading import USAGE, Refused
from replaycases.cli.running import ENVIRONMENT
from replaycases.cli.server import Server, add_server_options
from replaycases.fixture import strict_json
from replaycases.fixture.lane_index import LANE_FILE, LaneIndex, LaneIndexInvalid, parse

LARGEST_LANE = 4 * 1024 * 1024 * 1024
LANES = ("nonblocking", "blocking", "compatibility")
# What zipfile raises for damaged bytes: RuntimeError for a member that says it is encrypted, NotImplementedError for a
# compression or version that it does not know, ValueError for a name that is no text, and it, OSError or OverflowError
# for a place outside the file.
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError,
    OverflowError,
)  # fmt: skip
# What a server of ours writes. Others have decoders with memory and errors of their own.
_COMPRESSIONS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "pull",
        help="fetch a lane from a server",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="a folder that is not there yet, or empty")
    parser.add_argument("--project", required=True, metavar="KEY", help="the project's key")
    parser.add_argument("--lane", default="blocking", choices=LANES, help="which lane (blocking)")
    parser.add_argument("--json", action="store_true", help="print what was pulled as JSON")
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    target: Path = options.directory
    _refuse_what_is_there(target)
    server = Server(options)
    address = f"/api/v1/lanes/{_lane_id(server, options)}/export/"
    try:
        with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=f".{target.name}-") as beside:
            index = _laid_out(server, address, options, Path(beside))
            Path(beside, "lane").rename(target)
    except OSError as error:
        raise Refused(USAGE, f"{target}: cannot be written: {error.strerror}. Name another folder.") from None
    said = {
        "project": index.project,
        "lane": index.lane,
        "digest": index.digest,
        "cases": len(index.entries),
        "left_out": index.left_out(),
    }
    if options.json:
        say_json(said)
    else:
        say(f"{index.project} {index.lane}: {len(index.entries)} cases, {index.digest}, in {target}")
        for line in index.left_out():
            say(line)
    return 0


def _refuse_what_is_there(target: Path) -> None:
    if target.is_symlink():
        raise Refused(USAGE, f"{target}: is a link. Name a folder that is not there yet.")
    try:
        if any(target.iterdir()):
            raise Refused(USAGE, f"{target}: is not empty. Name a folder that is not there yet.")
    except FileNotFoundError:
        return
    except OSError as error:
        raise Refused(USAGE, f"{target}: {error.strerror}. Name a folder that is not there yet.") from None


def _lane_id(server: Server, options: argparse.Namespace) -> str:
    query = urlencode({"project": options.project, "name": options.lane})
    answer = server.get_json(f"/api/v1/lanes/?{query}")
    lanes: Any = answer.get("results") if isinstance(answer, dict) else None
    if lanes == []:
        raise Refused(USAGE, f"{options.server}: there is no lane {options.lane} in project {options.project}.")
    try:
        return quote(lanes[0]["id"], safe="")
    except (LookupError, TypeError):
        raise server.misunderstood() from None


def _laid_out(server: Server, address: str, options: argparse.Namespace, beside: Path) -> LaneIndex:
    """Download, verify and write the lane to `beside`/lane."""
    folder = beside / "lane"
    folder.mkdir()
    with (beside / "lane.zip").open("w+b") as file:
        server.download(address, file, largest=LARGEST_LANE)
        file.flush()
        with _opened(file) as archive:
            index = _index(archive, options)
            for path, data in _verified(archive, index):
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
    return index


@contextmanager
def _whole() -> Iterator[None]:
    """Around what reads the zip, and nothing that writes."""
    try:
        yield
    except _DAMAGED as error:
        raise _refused(f"what came is no whole zip ({type(error).__name__})") from None


def _opened(file: IO[bytes]) -> zipfile.ZipFile:
    with _whole():
        return zipfile.ZipFile(file)


def _index(archive: zipfile.ZipFile, options: argparse.Namespace) -> LaneIndex:
    if any(member.compress_type not in _COMPRESSIONS for member in archive.infolist()):
        raise _refused("what came is compressed in a way that no lane is")
    names = archive.namelist()
    if names.count(LANE_FILE) != 1:
        raise _refused(f"what came has no {LANE_FILE}")
    try:
        index = parse(_read(archive, LANE_FILE, strict_json.LIMITS.max_bytes))
    except LaneIndexInvalid as error:
        raise _refused(str(error)) from None
    if sorted(names) != sorted([LANE_FILE, *(file.path for file in index.files())]):
        raise _refused("what came holds other files than its index lists")
    if sum(file.size for file in index.files()) > LARGEST_LANE:
        raise _refused(f"its files have more than {LARGEST_LANE} bytes")
    if (index.project, index.lane) != (options.project, options.lane):
        raise _refused(f"asked for {options.lane} of {options.project}, got {index.lane} of {index.project}")
    return index


def _verified(archive: zipfile.ZipFile, index: LaneIndex) -> Iterator[tuple[str, bytes]]:
    yield LANE_FILE, index.dump()
    for file in index.files():
        data = _read(archive, file.path, file.size)
        if len(data) != file.size or digest_of(data) != file.sha256:
            raise _refused(f"{file.path} does not have its digest")
        yield file.path, data


def _read(archive: zipfile.ZipFile, name: str, size: int) -> bytes:
    """One byte more than it may have at most: a small zip can hold very much."""
    with _whole(), archive.open(name) as member:
        return member.read(size + 1)


def _refused(why: str) -> Refused:
    return Refused(ENVIRONMENT, f"the lane was not pulled: {why}. Nothing was written.")
