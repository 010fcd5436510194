"""`replaycases push-results`: tell the server what `suite` gave on a pulled lane.

FILE is what `replaycases suite DIR -o FILE` wrote. The server keeps it as a CI run, which no gate takes for a run of
its own workers; the same report is kept once. Exit codes: 0 kept · 2 refused · 60 no answer.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from replaycases.cli.output import say
from replaycases.cli.reading import USAGE, Refused, read_json
from replaycases.cli.server import Server, add_server_options


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "push-results",
        help="report the result of a pulled lane",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="written by `suite DIR -o FILE`")
    parser.add_argument("--build-url", default="", metavar="URL", help="where the build can be looked at")
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    report, server = _report(options), Server(options)
    answer = server.post_json("/api/v1/ci-reports/", report)
    kept = answer.get("id") if isinstance(answer, dict) else None
    if not isinstance(kept, str):
        raise server.misunderstood()
    lane, side = f"{report['project']} {report['lane']}", report["implementation"]
    say(f"{lane}: {len(report['results'])} results of {side['name']} {side['version']} kept as {kept}")
    return 0


def _report(options: argparse.Namespace) -> dict[str, Any]:
    document = read_json(options.file)
    try:
        lane, side = document["lane"], document["implementation"]
        return {
            "project": lane["project"],
            "lane": lane["lane"],
            "lane_digest": lane["digest"],
            "implementation": {name: side[name] for name in ("name", "version", "commit", "digest")},
            "exit_code": document["exit_code"],
            "build_url": options.build_url,
            "results": list(document["results"]),
        }
    except (KeyError, TypeError):
        text = f"{options.file}: is no result of a pulled lane. `replaycases suite DIR -o FILE` writes one."
        raise Refused(USAGE, text) from None
