"""What a module for a foreign format gives to the registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.neutral import NeutralRun, RunHead


@dataclass(frozen=True, kw_only=True)
class Format:
    """One foreign format. `sniff` says whether the file is one, and never raises; `heads` lists its runs, at least one;
    `read` reads the one with this index. `heads` and `read` may raise ImportRefused and nothing else. `witnessed`: what
    made the calls wrote the file, so that a call which is not in it was not made there. `reads_bytes`: it parses the
    file itself, and notes what it met there."""

    name: str
    title: str
    sniff: Callable[[ForeignFile], bool]
    heads: Callable[[ForeignFile], Sequence[RunHead]]
    read: Callable[[ForeignFile, int], NeutralRun]
    witnessed: bool = False
    reads_bytes: bool = False


@dataclass(frozen=True, kw_only=True)
class UnsupportedFormat:
    """A format that is recognised to be refused by its name. `instead` says what to export in its place."""

    name: str
    title: str
    sniff: Callable[[ForeignFile], bool]
    instead: str
