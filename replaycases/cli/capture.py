"""`replaycases capture`: send a file with recorded runs to a server, where it is kept as raw evidence and ends.

The file goes as it is; nothing is read of it here. The server finds its format, refuses what no importer reads, and
takes the same bytes once: sent again they are the capture that is there. Exit codes: 0 kept · 2 refused · 60 no answer.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any
from urllib.parse import quote

from replaycases.cli.output import say, say_json
from replaycases.cli.reading import opened
from replaycases.cli.server import Server, add_server_options

_SAID = ("project", "format", "name", "symptom", "trace_id", "evidence_days")
_SHOWN = ("id", "readable_id", "format", "runs", "expires_at")


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "capture",
        help="send a recorded run to a server",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--project", required=True, metavar="KEY", help="the project's key")
    parser.add_argument("--format", help="found by content when left out")
    parser.add_argument("--name", help="what the file is called there (its name)")
    parser.add_argument("--symptom", metavar="TEXT", help="what was reported; sent in the body, never in the address")
    parser.add_argument("--trace-id", metavar="ID")
    parser.add_argument("--evidence-days", type=int, metavar="N", help="how long it lives; at most the project's time")
    parser.add_argument("--json", action="store_true", help="print what was kept, and its completeness report, as JSON")
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    server = Server(options)
    said = {name: str(value) for name in _SAID if (value := getattr(options, name)) is not None}
    with opened(options.file) as data:
        is_new, kept = server.post_file("/api/v1/captures/", data, {"name": options.file.name, **said})
    if not isinstance(kept, dict) or not all(name in kept for name in _SHOWN):
        raise server.misunderstood()
    shown = server.get_json(f"/api/v1/captures/{quote(str(kept['id']), safe='')}/")
    if not isinstance(shown, dict):
        raise server.misunderstood()
    if options.json:
        say_json(shown)
    else:
        _say(options, server, shown, is_new=is_new)
    return 0


def _say(options: argparse.Namespace, server: Server, shown: dict[str, Any], *, is_new: bool) -> None:
    """What was kept or was there, and how far its first run can be replayed."""
    try:
        runs = f"{shown['runs']} run" + ("s" if shown["runs"] != 1 else "")
        kept = f"kept as {shown['readable_id']}"
        if not is_new:
            kept = f"these bytes are {shown['readable_id']} already, which stays as it was captured"
        say(f"{options.file}: {kept}: {shown['format']}, {runs}, until {shown['expires_at']}")
        for row in shown["report"]["coverage"] if shown.get("report") else ():
            say(f"  {row['boundary']}: {row['state']}" + (f": {row['cost']}" if row["cost"] else ""))
        if shown.get("report"):
            first = "of run 0: " if shown["runs"] > 1 else ""
            say(f"  {first}{shown['report']['why']}")
        elif shown.get("refused"):
            say(f"  {shown['refused']['message']}. {shown['refused']['hint']}")
    except (KeyError, TypeError):
        raise server.misunderstood() from None
