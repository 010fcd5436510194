"""What the guard is told, as one JSON document on its standard input."""

from __future__ import annotations

from typing import NamedTuple


class Spec(NamedTuple):
    """See `base.Launch` and `base.Limits` for the parts that are theirs.

    `supervisor`: the process that started the guard. `uid`: whom to become, or None to stay oneself. `private`: the
    folder to make, to own by the program and to remove at the end; None where the tier has a tmpfs instead. `system`
    and `trees` are (source free of links, target), `links` (link, text): see `layout`.
    """

    tier: str
    supervisor: int
    uid: int | None
    argv: list[str]
    env: dict[str, str]
    workdir: str
    protocol_fd: int
    status_fd: int
    private: str | None
    system: list[tuple[str, str]]
    links: list[tuple[str, str]]
    trees: list[tuple[str, str]]
    cpu_seconds: int
    memory_bytes: int
    processes: int
    file_bytes: int
