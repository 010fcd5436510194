"""Digests in the frame of a fixture that follow a text of it: a template whose content changes is another one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from replaycases.redaction.leaves import JSON, Address
from replaycases.redaction.structure import Frame

_TEXTS = ("templates", "policies")


def digests(document: JSON, frame: Frame, texts: Mapping[Address, str]) -> Iterator[tuple[Address, str, str]]:
    """Address, old and new digest of each named text whose content is among the new `texts`. One that was wrong before
    stays wrong."""
    if frame.version != "2.0":
        return
    for name in _TEXTS:
        entries = document.get(name)
        for at, entry in enumerate(entries if isinstance(entries, list) else ()):
            new = texts.get((f"/{name}/{at}/content", False))
            if new is None or not isinstance(entry, dict) or entry.get("sha256") != _digest(entry["content"]):
                continue
            yield (f"/{name}/{at}/sha256", False), entry["sha256"], _digest(new)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
