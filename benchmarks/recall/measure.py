"""How much the detectors of redaction find on public cases that nobody here wrote, and how often they are wrong.

Run as `make recall` or `python benchmarks/recall/measure.py [--from DIR]`; the last line is JSON. The cases are fetched
for the run and are no part of this project: the test cases of gitleaks' rules, of detect-secrets' plugins and of
Presidio's recognisers, and the synthetic set of presidio-research. DIR may hold checkouts of the four; without it they
are cloned with git.

A case of a text with spans counts as found if every letter and digit of the span is in hits that would be replaced; one
of a line that holds a secret if there is any such hit of a secret or of an opaque run.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from replaycases.redaction.detectors.base import Context, Hit
from replaycases.redaction.policy import BUILT_IN
from replaycases.redaction.scan import Detectors

SOURCES = {
    "gitleaks": "https://github.com/gitleaks/gitleaks",
    "detect-secrets": "https://github.com/Yelp/detect-secrets",
    "presidio": "https://github.com/microsoft/presidio",
    "presidio-research": "https://github.com/microsoft/presidio-research",
}
RECOGNIZERS = {"email": "email", "credit_card": "card", "iban": "iban", "ip": "ip", "phone": "phone", "us_ssn": "ssn"}
_GO_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`')
_SHORTEST = 16
_DETECTORS = Detectors(BUILT_IN)


@dataclass(kw_only=True)
class Tally:
    """Found of all, and hits where there should be none, in how many characters of text."""

    found: int = 0
    all: int = 0
    false_alarms: int = 0
    characters: int = 0

    def as_row(self) -> dict[str, float | int]:
        per_mb = 1e6 * self.false_alarms / self.characters if self.characters else 0.0
        return {"found": self.found, "of": self.all, "false_alarms": self.false_alarms, "per_mb": round(per_mb, 1)}


@dataclass(kw_only=True)
class Table:
    """Tallies by source and type."""

    rows: dict[tuple[str, str], Tally] = field(default_factory=lambda: defaultdict(Tally))

    def line(self, source: str, text: str, *, holds_secret: bool) -> None:
        """A line that holds a secret somewhere, or none at all."""
        tally = self.rows[source, "secret"]
        hit = any(one.kind in ("secret", "opaque_id") for one in _hits(text))
        tally.characters += len(text)
        if holds_secret:
            tally.all += 1
            tally.found += hit
        else:
            tally.false_alarms += hit

    def spans(self, source: str, text: str, spans: list[tuple[str, int, int]]) -> None:
        """A text of which is known where everything personal stands."""
        hits = _hits(text)
        covered = {at for one in hits for at in range(one.start, one.end)}
        for kind, start, end in spans:
            tally = self.rows[source, kind]
            tally.all += 1
            tally.found += all(at in covered for at in range(start, end) if text[at].isalnum())
        known = {at for _, start, end in spans for at in range(start, end)}
        whole = self.rows[source, "any"]
        whole.characters += len(text)
        whole.false_alarms += sum(known.isdisjoint(range(one.start, one.end)) for one in hits)


def _hits(text: str) -> list[Hit]:
    nowhere = Context(pointer="")
    found = [*_DETECTORS.of_field(text, nowhere), *_DETECTORS.of_text(text, nowhere)]
    return [hit for hit in found if not hit.kept and hit.certainty != "suggested"]


def gitleaks(folder: Path, table: Table) -> None:
    """Strings that a rule's own test must find (`tps`) or must not find (`fps`), as far as they are written out."""
    for path in sorted((folder / "cmd/generate/config/rules").glob("*.go")):
        for function in path.read_text("utf-8").split("\nfunc ")[1:]:
            _, _, tested = function.partition("// validate")
            wanted, _, unwanted = tested.partition("fps :=")
            for part, holds_secret in ((wanted, True), (unwanted, False)):
                for text in _go_strings(part):
                    table.line("gitleaks", text, holds_secret=holds_secret)


def _go_strings(source: str) -> Iterator[str]:
    for match in _GO_STRING.finditer(source):
        text = match[2] if match[1] is None else match[1].replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
        if len(text) >= _SHORTEST and "%" not in text:
            yield text


def detect_secrets(folder: Path, table: Table) -> None:
    """Pairs of a line and whether a plugin must flag it."""
    for path in sorted((folder / "tests/plugins").glob("*_test.py")):
        for row in _tuples(path):
            if len(row) >= 2 and isinstance(row[0], str) and isinstance(row[1], bool):
                table.line("detect-secrets", row[0], holds_secret=row[1])


def presidio(folder: Path, table: Table) -> None:
    """Texts with the spans that a recogniser must find."""
    for name, kind in RECOGNIZERS.items():
        for row in _tuples(folder / f"presidio-analyzer/tests/test_{name}_recognizer.py"):
            spans = [part for part in row[1:] if _is_spans(part)]
            if isinstance(row[0], str) and spans:
                table.spans("presidio", row[0], [(kind, start, end) for start, end in spans[-1]])


def _is_spans(part: Any) -> bool:
    return (
        isinstance(part, tuple)
        and bool(part)
        and all(isinstance(span, tuple) and len(span) == 2 and all(type(at) is int for at in span) for span in part)
    )


def _tuples(path: Path) -> Iterator[tuple[Any, ...]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Tuple) and node.elts:
            try:
                yield ast.literal_eval(node)
            except ValueError:
                continue


def presidio_research(folder: Path, table: Table) -> None:
    """Synthetic sentences with all their spans."""
    for row in json.loads((folder / "data/synth_dataset_v2.json").read_text("utf-8")):
        spans = [(span["entity_type"].lower(), span["start_position"], span["end_position"]) for span in row["spans"]]
        table.spans("presidio-research", row["full_text"], spans)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", type=Path, dest="folder", metavar="DIR", help="checkouts of the four projects")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or _cloned(Path(temporary))
        table = Table()
        gitleaks(folder / "gitleaks", table)
        detect_secrets(folder / "detect-secrets", table)
        presidio(folder / "presidio", table)
        presidio_research(folder / "presidio-research", table)
    rows = {f"{source}: {kind}": tally.as_row() for (source, kind), tally in sorted(table.rows.items())}
    for name, row in rows.items():
        print(
            f"{name:40} {row['found']:5} of {row['of']:5}   false alarms {row['false_alarms']:5} ({row['per_mb']} a MB)"
        )
    print(json.dumps(rows))


def _cloned(folder: Path) -> Path:
    for name, address in SOURCES.items():
        subprocess.run(["git", "clone", "-q", "--depth", "1", address, str(folder / name)], check=True)
    return folder


if __name__ == "__main__":
    main()
