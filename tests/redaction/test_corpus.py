"""Recorded files of other projects, where they are at hand, go through import and redaction, and nothing is left."""

from __future__ import annotations

import pytest

from replaycases.fixture.canonical import canonical_bytes
from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.importers.registry import to_case
from replaycases.redaction.leaves import leaves
from replaycases.redaction.policy import read_policy
from replaycases.redaction.record import rescan
from replaycases.redaction.redact import redact
from replaycases.redaction.views.tree import read
from tests.importers.corpus import CORPUS
from tests.importers.test_corpus import READ, recording
from tests.importers.transcripts import supplied

KEY = bytes(range(32))
POLICY = read_policy({"name": "test", "version": "1", "aliases": "replace"})
EXPECTED = {"boundary": ["ends"], "run_status": {"id": "ends", "forbid": ["crashed"]}}
LARGEST = 240_000
"""Octets of a fixture that is still tried: four of the longest conversations are left out, for the time they take."""

SHORTEST = 6
"""Characters from which a value may stand in no word either."""


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the recorded files are not here (REPLAYCASES_CORPUS)")
def test_every_recorded_file_is_redacted_with_nothing_left_and_no_relation_lost() -> None:
    """The first run of each file; where it can be replayed the redacted fixture can be too."""
    for row in {row.file: row for row in reversed(READ)}.values():
        expected = None if row.mode == "forensic" else EXPECTED
        document = to_case(recording(row.file).read(row.run), supplied(expected=expected)).document
        if len(canonical_bytes(document)) > LARGEST:
            continue
        redaction = redact(document, policy=POLICY, key=KEY)
        assert redaction.lost == (), row.file
        assert {finding.kind for finding in redaction.open} <= {"blind"}, row.file
        again = rescan(redaction.document, policy=POLICY, key=KEY, known=redaction.mapping)
        assert {one.kind for one in again.open} <= {"blind"}, row.file
        texts = "\0".join(view.text for leaf in leaves(redaction.document) for view in read(leaf.text).root.walk())
        left = [
            kind
            for kind, original, _ in redaction.mapping
            if len(original) >= SHORTEST and original.casefold() in texts.casefold()
        ]
        assert left == [], row.file
        assert _is_fixture(redaction.document) is _is_fixture(document), row.file


def _is_fixture(document: object) -> bool:
    try:
        load_fixture(canonical_bytes(document))
    except FixtureInvalid:
        return False
    return True
