"""`replaycases replay`: one implementation on one fixture, in a declared set of runs.

Exit code 0 when every run completed or was decided, whatever the boundary; 50 or 60 otherwise.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from replaycases.cli.output import Row, complain, drop_earlier, run_line, say, say_json, write_json, write_junit
from replaycases.cli.reading import read_fixture
from replaycases.cli.running import ENVIRONMENT, add_run_options, isolation_tier, read_implementation, run_set
from replaycases.verdict.labels import worst_exit_code
from replaycases.verdict.manifest import Manifest
from replaycases.verdict.observation import GOT_THROUGH

UNDECIDED = 50
_NOT_RUN = {"environment_unavailable", "adapter_error", "cancelled"}


def add_to(commands: Any) -> None:
    parser = commands.add_parser("replay", help="run an implementation on a fixture", description=__doc__)
    parser.add_argument("fixture", type=Path, metavar="FIXTURE")
    parser.add_argument(
        "--implementation", type=Path, required=True, metavar="SPEC", help="the implementation's JSON file"
    )
    parser.add_argument("--detect", type=Path, metavar="FILE", help="detect rules for a 1.0 fixture")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the list of manifests, for `compare`")
    parser.add_argument("--json", action="store_true", help="print the list of manifests")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML, a test case a run")
    add_run_options(parser, fewest=1)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    drop_earlier(options)
    fixture = read_fixture(options.fixture, options.detect)
    implementation = read_implementation(options.implementation)
    manifests = run_set(fixture, implementation, options.runs, isolation_tier(options))
    documents = [manifest.document for manifest in manifests]
    if options.output:
        write_json(options.output, documents)
    if options.json:
        say_json(documents)
    else:
        for manifest in manifests:
            say(run_line(manifest.document))
    if options.junit:
        write_junit(options.junit, [_row(manifest) for manifest in manifests])
    _show_stderr(manifests)
    return worst_exit_code(code_of(manifest) for manifest in manifests)


def code_of(manifest: Manifest) -> int:
    if manifest.status in GOT_THROUGH:
        return 0
    return ENVIRONMENT if manifest.status in _NOT_RUN else UNDECIDED


def _row(manifest: Manifest) -> Row:
    name = f"{manifest.case_id} run {manifest['run']['set']['index']}"
    text = run_line(manifest.document)
    return Row(suite="replay", name=name, label=manifest.status, text=text, code=code_of(manifest))


def _show_stderr(manifests: Sequence[Manifest]) -> None:
    """What the workflow printed in the first run that failed: the author of an adapter needs the traceback. A CI log is
    kept and shared, and the text may hold values of the case, so there it stays in the manifest."""
    failed = next((m for m in manifests if code_of(m) and m["stderr"]), None)
    if failed is None:
        return
    name = f"standard error of run {failed['run']['set']['index']}"
    if os.environ.get("CI"):
        complain(f"{name} is not printed where CI is set: it stands in the manifest (-o FILE)")
    else:
        complain(f"--- {name} ---\n{failed['stderr'].rstrip()}")
