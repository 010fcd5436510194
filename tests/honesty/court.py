"""How a lie is judged: the real supervisor in the real sandbox, every manifest recomputed, then the comparison. These
are the functions that the command line and the workers use; nothing here decides anything by itself."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from replaycases.cli.compare import judge
from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.replay.implementation import Implementation, load_implementation
from replaycases.replay.runs import replay_set
from replaycases.replay.sandbox.base import Limits, Tier
from replaycases.verdict.comparison import Comparison, invalid_fixture
from replaycases.verdict.labels import Label
from replaycases.verdict.manifest import Manifest
from tests.replay.implementations import GREETING

LIMITS = Limits(wall_seconds=5.0, grace_seconds=2.0, message_bytes=4 * 1024 * 1024)
IMPATIENT = Limits(wall_seconds=0.7, grace_seconds=0.5)
"""For lies that never end by themselves."""


@dataclass(frozen=True, kw_only=True)
class Lie:
    """One way to want a green label. `body` is the body of replay(session), or what a program by hand sends.

    `because` must stand in the comparison's reason: the right label for the wrong reason is luck. `spec` are further
    keys of the implementation file.
    """

    name: str
    body: str
    label: Label
    because: str
    limits: Limits = LIMITS
    spec: Mapping[str, Any] = field(default_factory=dict)


def lies(found: Sequence[Lie]) -> pytest.MarkDecorator:
    """Parametrise over `lie`, each under its name."""
    return pytest.mark.parametrize("lie", found, ids=lambda lie: lie.name)


class Court:
    """Runs implementations in one folder and judges pairs. Old sides are kept: they are the same for every lie."""

    def __init__(self, folder: Path, tier: Tier) -> None:
        self.folder, self.tier = folder, tier
        self._kept: dict[tuple[str, str, Any], list[Manifest]] = {}

    def workflow(self, name: str, body: str, *, shared: str = "", **spec: Any) -> Implementation:
        """A python adapter: `body` is the body of replay(session), `shared` the text of a module `work` beside it."""
        indented = textwrap.indent(textwrap.dedent(body).strip(), "    ")
        source = f"import os, sys\nfrom work import *\n\ndef replay(session):\n{indented}\n"
        return self._written(name, {"agent.py": source, "work.py": shared}, spec)

    def by_hand(self, name: str, body: str, **spec: Any) -> Implementation:
        """A program that writes to the socket itself, with `send`, `ask` and `wire`."""
        adapter = {"kind": "command", "argv": ["python3", "agent.py"]}
        return self._written(name, {"agent.py": GREETING + textwrap.dedent(body)}, {"adapter": adapter, **spec})

    def runs(
        self, fixture: Fixture, implementation: Implementation, *, runs: int = 2, limits: Limits = LIMITS, **more: Any
    ) -> list[Manifest]:
        return replay_set(fixture, implementation, runs=runs, tier=self.tier, limits=limits, **more)

    def kept(self, fixture: Fixture, implementation: Implementation) -> list[Manifest]:
        """The runs of an honest implementation, made once."""
        key = (fixture.fixture_hash, fixture.checks_hash, implementation.digest)
        if key not in self._kept:
            self._kept[key] = self.runs(fixture, implementation)
        return self._kept[key]

    def _written(self, name: str, files: Mapping[str, str], spec: Mapping[str, Any]) -> Implementation:
        folder = self.folder / name.replace(" ", "-")
        (folder / "code").mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            (folder / "code" / path).write_text(text, encoding="utf-8")
        document = {
            "name": name,
            "version": "1",
            "commit": "0" * 40,
            "path": "code",
            "adapter": {"kind": "python", "target": "agent:replay"},
        }
        (folder / "implementation.json").write_text(
            json.dumps(document | {key: value for key, value in spec.items() if value is not None})
        )
        return load_implementation(folder / "implementation.json")


def verdict_on(document: Mapping[str, Any] | bytes, runs: Callable[[Fixture], tuple[Any, Any]]) -> Comparison:
    """The comparison of a fixture's text: row 1 if it does not load, else that of the two sides that `runs` gives."""
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    try:
        fixture = load_fixture(data)
    except FixtureInvalid as error:
        return invalid_fixture("case", error)
    return judge(fixture, *runs(fixture))


def assert_right(comparison: Comparison, label: Label, because: str) -> None:
    """The exact label, never green, never exit code 0, and a reason that names the cause."""
    assert comparison.label is label, f"{comparison.label}: {comparison.reason}"
    assert because in comparison.reason, comparison.reason
    assert not comparison.green
