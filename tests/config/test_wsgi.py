"""What a server has done before its first request."""

from __future__ import annotations

import json
import os
import subprocess
import sys

LOADED = """
import gc, json, sys
import replaycases.config.wsgi
print(json.dumps({
    "views": "replaycases.web.views.cases" in sys.modules,
    "frozen": gc.get_freeze_count(),
    "seen": len(gc.get_objects()),
}))
"""


def test_pages_are_loaded_and_no_collection_looks_through_them_again() -> None:
    out = subprocess.run(
        [sys.executable, "-c", LOADED], env={**os.environ}, capture_output=True, text=True, check=True, timeout=60
    )
    found = json.loads(out.stdout.splitlines()[-1])
    assert found["views"]
    assert found["frozen"] > 50 * found["seen"]
