from __future__ import annotations

from tests.importers.corpus import Read, Refused

READ: tuple[Read, ...] = ()
REFUSED: tuple[Refused, ...] = ()
