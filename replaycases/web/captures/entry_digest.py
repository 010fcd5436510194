"""By what an entry of a list is known that has no id: its place is another one's once somebody changed the list."""

from __future__ import annotations

import hashlib
import json
from typing import Any

GONE = "Somebody changed this or took it out since you looked. Look again."


def digest_of(entry: Any) -> str:
    """Of a JSON value, whatever the order of its names."""
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()
