"""`manage.py check --deploy`: where the key ring of raw evidence stands, and whether it keeps what it promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from replaycases.cases import key_ring
from replaycases.cases.key_ring import RingFile, RingInvalid

OTHERS = 0o077


@register(deploy=True)
def key_ring_of_evidence(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    return list(_of_environment() if settings.EVIDENCE_KEYS else _of_file(Path(settings.EVIDENCE_KEYS_FILE)))


def _of_environment() -> Iterator[CheckMessage]:
    try:
        key_ring.parse(settings.EVIDENCE_KEYS)
    except RingInvalid as fault:
        yield Error(f"REPLAYCASES_EVIDENCE_KEYS: {fault}.", id="replaycases.E001")
        return
    yield Warning(
        "The key ring of raw evidence stands in the environment and cannot forget: what is destroyed here can still be "
        "opened in an old backup by whoever has the ring.",
        hint="Name a file that all hosts share: REPLAYCASES_EVIDENCE_KEYS_FILE.",
        id="replaycases.W001",
    )


def _of_file(path: Path) -> Iterator[CheckMessage]:
    if settings.EVIDENCE_KEYS_MADE and not settings.EMBEDDED:
        yield Warning(
            "Each host would make a key ring of its own, and none would open what another one sealed.",
            hint="Name a file that all hosts share: REPLAYCASES_EVIDENCE_KEYS_FILE.",
            id="replaycases.W002",
        )
    if not path.exists():
        if not settings.EVIDENCE_KEYS_MADE:
            yield Error(
                f"There is no key ring at {path}.",
                hint="Make it once, on one host: manage.py rotate_evidence_key.",
                id="replaycases.E002",
            )
        return
    if path.stat().st_mode & OTHERS:
        yield Error(
            f"Others than its owner may read or write the key ring {path}.", hint="chmod 600", id="replaycases.E003"
        )
    try:
        RingFile(path).ring()
    except RingInvalid as fault:
        yield Error(f"{fault}.", id="replaycases.E001")
