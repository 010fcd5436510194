"""`replaycases import`: a recorded run in a foreign format becomes a 2.0 fixture, with a list of what the file lacks.

Nothing is guessed. What the file does not hold (model, tool catalogue, time) is asked for: give it in --supplied FILE,
a JSON object, and it is marked as declared in the fixture. `--report` says what the file holds and lacks and makes no
fixture: it needs nothing but the file. Exit code 0, or 10 when the file cannot become a fixture.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from replaycases.cli import run_list
from replaycases.cli.completeness import as_json, lines
from replaycases.cli.output import complain, say, say_findings, say_json, short, write_file
from replaycases.cli.reading import INVALID, USAGE, Refused, read_bytes, read_json
from replaycases.fixture.findings import FixtureInvalid
from replaycases.importers.completeness import Report
from replaycases.importers.findings import ImportRefused
from replaycases.importers.otlp.envelope import together
from replaycases.importers.registry import Imported, Recording, formats, open_recording, report_on, to_case
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
    parser.add_argument("--report", action="store_true", help="only say what the run holds and lacks")
    parser.add_argument(
        "--json", action="store_true", help="print the report as JSON, and with it a fixture that -o does not write"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    supplied = _supplied(options)
    try:
        data = read_bytes(options.file)
        if options.more:
            data = together([data, *map(read_bytes, options.more)])
        recording = open_recording(data, format=options.format)
        _require_choice(options, recording, supplied.run)
        recorded = recording.read(supplied.run)
        if options.report:
            _say_report(options, report_on(recorded, supplied))
            return 0
        imported = to_case(recorded, supplied)
    except ImportRefused as refusal:
        raise Refused(INVALID, f"{options.file}: {refusal}{_how_to_supply(refusal)}") from None
    except FixtureInvalid as error:
        raise Refused(INVALID, f"{options.file}: what came of it is no fixture", error.findings) from None
    if options.output:
        _write(options, imported)
    if options.json:
        shown = {} if options.output else {"fixture": imported.document}
        say_json({**as_json(imported.report), "left_out": imported.left_out, **shown})
    elif not options.output:
        say_json(imported.document)
    _report(options, imported)
    return 0


def _require_choice(options: argparse.Namespace, recording: Recording, run: int | None) -> None:
    """A file of several runs is answered with the list of them, until one is chosen."""
    if run is None and len(recording.runs) > 1:
        says = f"{options.file}: holds {len(recording.runs)} runs: choose one with --run N"
        raise Refused(INVALID, "\n".join([says, *run_list.lines(recording)]))


def _supplied(options: argparse.Namespace) -> Supplied:
    document = read_json(options.supplied) if options.supplied else {}
    if not isinstance(document, dict):
        raise Refused(USAGE, f"{options.supplied}: must be a JSON object")
    given: dict[str, Any] = {name: getattr(options, "run_index" if name == "run" else name) for name in _FLAGS}
    given |= {name: read_json(getattr(options, name)) for name in ("effects", "expected") if getattr(options, name)}
    given = {name: value for name, value in given.items() if value is not None}
    try:
        return supplied_from({**document, **given})
    except ImportRefused as refusal:
        found = refusal.finding
        option = found.pointer[1:] if found.pointer[1:] in given else "supplied"
        place = "" if option != "supplied" else f"{options.supplied}: {found.pointer}: "
        raise Refused(USAGE, f"--{option.replace('_', '-')}: {place}{found.message}. {found.hint}") from None


def _how_to_supply(refusal: ImportRefused) -> str:
    if refusal.finding.id != "import.supply":
        return ""
    return " The options are --case-id, --incident-id and --frozen-at; --supplied FILE takes them as JSON."


def _write(options: argparse.Namespace, imported: Imported) -> None:
    write_file(options.output, imported.as_bytes())
    fixture = imported.fixture
    made = f"case {fixture.case_id} {short(fixture.fixture_hash)}" if fixture else "a draft"
    (complain if options.json else say)(f"{options.output}: {made}")


def _say_report(options: argparse.Namespace, report: Report) -> None:
    if options.json:
        say_json(as_json(report))
    else:
        _say_lines(options, report, to=say)


def _say_lines(options: argparse.Namespace, report: Report, *, to: Callable[[str], None]) -> None:
    """The file is named once, above what is said of it."""
    first, *further = lines(report)
    to(f"{options.file}: {first}")
    for line in further:
        to(f"  {line}")


def _report(options: argparse.Namespace, imported: Imported) -> None:
    """The completeness report goes to standard error, so that the fixture can be piped."""
    if not options.json:
        _say_lines(options, imported.report, to=complain)
    if imported.fixture is None:
        complain(f"{options.file}: a draft: it has no expectation yet. Write one and give it with --expected FILE.")
    elif imported.fixture.warnings:
        say_findings(str(options.file), imported.fixture.warnings, to=complain)
