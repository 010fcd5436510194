"""What a test needs from the machine: skip by name where it is missing, fail where CI=true."""

from __future__ import annotations

import os

import pytest


def require(name: str, reason: str | None) -> None:
    """Go on if `reason` is None; else skip the test, naming the service and what to do. Under CI=true it fails."""
    if reason is None:
        return
    message = f"{name} is missing: {reason}"
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
