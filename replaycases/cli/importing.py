"""`replaycases import`: a recorded run in a foreign format becomes a 2.0 fixture, with a list of what the file lacks.

Nothing is guessed. What the file does not hold (model, tool catalogue, time) is asked for: give it in --supplied FILE,
a JSON object, and it is marked as declared in the fixture. Exit code 0, or 10 when the file cannot become a fixture.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from replaycases.cli.output import complain, say, say_findings, say_json, short, write_file
from replaycases.cli.reading import INVALID, USAGE, Refused, read_bytes, read_json
from replaycases.fixture.findings import FixtureInvalid
from replaycases.importers.findings import Gap, ImportRefused
from replaycases.importers.otlp.envelope import together
from replaycases.importers.registry import Imported, formats, import_run
from replaycases.importers.supplied import Supplied, supplied_from

_FLAGS = ("case_id", "incident_id", "frozen_at", "run", "horizon_after", "horizon_at_call")


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "import",
        help="make a fixture of a recorded run",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "--with",
        type=Path,
        action="append",
        dest="more",
        metavar="FILE",
        help="another part of the same OpenTelemetry export, such as the log records of its spans",
    )
    parser.add_argument("--format", choices=formats(), help="found by content when left out")
    parser.add_argument("--supplied", type=Path, metavar="FILE", help="JSON object with what the file lacks")
    parser.add_argument(
        "--effects", type=Path, metavar="FILE", help="which tools have side effects (docs/importing.md)"
    )
    parser.add_argument("--expected", type=Path, metavar="FILE", help="the fixture's expectation")
    parser.add_argument("--case-id")
    parser.add_argument("--incident-id")
    parser.add_argument("--frozen-at", metavar="TIME", help="ISO 8601 with an offset")
    parser.add_argument("--run", type=int, dest="run_index", metavar="N", help="which run of a file that holds several")
    parser.add_argument("--horizon-after", type=int, metavar="SEQ", help="keep events up to this one")
    parser.add_argument("--horizon-at-call", type=int, metavar="N", help="end just before the n-th tool call")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the fixture here (else standard output)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        data = read_bytes(options.file)
        if options.more:
            data = together([data, *map(read_bytes, options.more)])
        imported = import_run(data, format=options.format, supplied=_supplied(options))
    except ImportRefused as refusal:
        raise Refused(INVALID, f"{options.file}: {refusal}") from None
    except FixtureInvalid as error:
        raise Refused(INVALID, f"{options.file}: what came of it is no fixture", error.findings) from None
    if options.output:
        _write(options.output, imported)
    else:
        say_json(imported.document)
    _report(options.file, imported)
    return 0


def _supplied(options: argparse.Namespace) -> Supplied:
    document = read_json(options.supplied) if options.supplied else {}
    if not isinstance(document, dict):
        raise Refused(USAGE, f"{options.supplied}: must be a JSON object")
    supplied = supplied_from(document)
    given: dict[str, Any] = {name: getattr(options, "run_index" if name == "run" else name) for name in _FLAGS}
    given |= {name: read_json(getattr(options, name)) for name in ("effects", "expected") if getattr(options, name)}
    return replace(supplied, **{name: value for name, value in given.items() if value is not None})


def _write(path: Path, imported: Imported) -> None:
    write_file(path, imported.as_bytes())
    fixture = imported.fixture
    say(f"{path}: case {fixture.case_id} {short(fixture.fixture_hash)}" if fixture else f"{path}: a draft")


def _report(file: Path, imported: Imported) -> None:
    """The completeness report goes to standard error, so that the fixture can be piped."""
    for gap in imported.gaps:
        complain(f"{file}: {_gap_word(gap)}: {gap.name}: {gap.cost}")
    if imported.fixture is None:
        complain(f"{file}: a draft: it has no expectation yet. Write one and give it with --expected FILE.")
    elif imported.fixture.warnings:
        say_findings(str(file), imported.fixture.warnings, to=complain)


def _gap_word(gap: Gap) -> str:
    if gap.declared:
        return "declared"
    return "missing" if gap.caps else "note"
