"""`replaycases init`: write an adapter and an implementation file beside a workflow, and check that it speaks.

With --check SPEC nothing is written: the implementation is started once in the sandbox and it is said what it did.
"""

from __future__ import annotations

import argparse
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from replaycases.cli.output import complain, say, write_file
from replaycases.cli.reading import USAGE, Refused, is_folder
from replaycases.cli.running import ENVIRONMENT, add_run_options, isolation_tier, read_implementation
from replaycases.fixture.load import load_fixture
from replaycases.replay.supervisor import replay_once
from replaycases.verdict.manifest import Manifest

ADAPTER = "replay_adapter.py"
SPEC = "implementation.json"

PROBE = {
    "schema_version": "2.0",
    "case_id": "speaks",
    "incident_id": "none",
    "workflow_version": "none",
    "prompt_version": "none",
    "frozen_at": "2026-01-01T00:00:00+00:00",
    "input": {},
    "identity": {},
    "events": [],
    "expected": {"run_status": {"id": "speaks", "forbid": ["crashed", "timed_out"]}, "boundary": ["speaks"]},
}
"""A case without any recorded answer: enough to see that a session starts, and what the workflow asks for first."""


SERVING = {
    "provider": "openai",
    "requested_model": "name-of-your-model",
    "api_version": "version-of-its-api",
    "settings": {"temperature": 0},
}
"""What the implementation file starts with, to be filled in."""


def add_to(commands: Any) -> None:
    parser = commands.add_parser("init", help="write an adapter for your agent", description=__doc__)
    parser.add_argument(
        "directory", nargs="?", type=Path, default=Path(), metavar="DIR", help="the folder of the workflow"
    )
    parser.add_argument("--name", help="the implementation's name (the folder's)")
    parser.add_argument("--version", default="1", help="the implementation's version (1)")
    parser.add_argument("--commit", default="uncommitted", help="the commit it was built from")
    parser.add_argument("--check", type=Path, metavar="SPEC", help="only check that this implementation speaks")
    add_run_options(parser, fewest=1)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    spec = options.check or _write(options)
    manifest = replay_once(
        load_fixture(json.dumps(PROBE).encode()), read_implementation(spec), tier=isolation_tier(options)
    )
    return _verdict(spec, manifest)


def _write(options: argparse.Namespace) -> Path:
    directory: Path = options.directory
    if not is_folder(directory):
        raise Refused(USAGE, f"{options.directory}: there is no such folder. Name the folder of your workflow.")
    directory = directory.resolve()
    adapter, spec = directory / ADAPTER, directory / SPEC
    for path in (adapter, spec):
        if path.exists():
            raise Refused(USAGE, f"{path}: is there already. Check it with `replaycases init --check {spec}`.")
    template = files("replaycases.cli").joinpath("templates", f"{ADAPTER}.txt").read_text(encoding="utf-8")
    write_file(adapter, template.encode())
    document = {
        "name": options.name or directory.name,
        "version": options.version,
        "commit": options.commit,
        "path": ".",
        "adapter": {"kind": "python", "target": "replay_adapter:replay"},
        "serving": SERVING,
        "clock": "frozen",
    }
    write_file(spec, (json.dumps(document, indent=2) + "\n").encode())
    say(f"wrote {adapter} and {spec}")
    return spec


def _verdict(spec: Path, manifest: Manifest) -> int:
    """What the workflow did without any recorded answer. Asking for one is speaking; dying before a session is not."""
    if manifest.status in {"completed", "diverged", "exhausted", "stale"}:
        first = manifest["calls"][0]["boundary"] if manifest["calls"] else None
        asked = f"and asked for a {first} answer first" if first else "and finished"
        say(f"{spec}: it speaks: the session started {asked}. Next: replaycases replay FIXTURE --implementation {spec}")
        return 0
    complain(f"{spec}: it does not speak: run {manifest.status}: {manifest['reason']}")
    if manifest["stderr"]:
        complain(manifest["stderr"].rstrip())
    if manifest.status == "crashed":
        complain(
            "The check starts it with the input {} and no recorded answer. If the traceback ends in your own code, "
            "the session reached it: go on with a fixture."
        )
    return ENVIRONMENT
