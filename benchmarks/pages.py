"""Server time and queries of the pages that people live on, against Django's own admin change list on the same rows.

Starts a throw-away PostgreSQL with 100,000 cases, 300,000 revisions and 1,000,000 runs (REPLAYCASES_BENCH_CASES changes
the number of cases), signs one person in and asks for each page in turn. The goals: at most 12 queries a page, and at
the 95th percentile at most half the time of the admin's change list in the same run.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from tests import services  # noqa: E402 - found through the line above

CASES = int(os.environ.get("REPLAYCASES_BENCH_CASES", "100000"))
ROUNDS = 40
ADMIN = "admin change list"
SPEC = (
    b'{"name": "agent", "version": "1", "commit": "c", "path": "src", '
    b'"adapter": {"kind": "python", "target": "agent:replay"}}'
)


def main() -> int:
    missing = services.postgresql_missing()
    if missing is not None:
        print(f"PostgreSQL is missing: {missing}")
        return 0
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="rc-bench-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        os.environ |= {
            "REPLAYCASES_VAR": str(folder),
            "DATABASE_URL": stack.enter_context(services.postgresql_cluster()),
            "REPLAYCASES_SECRET_KEY": "only-for-benchmarks-" * 4,
            "REPLAYCASES_HTTPS": "0",
            "DJANGO_SETTINGS_MODULE": "replaycases.config.settings",
        }
        _measure()
    return 0


def _measure() -> None:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from benchmarks.population import many_cases

    call_command("migrate", verbosity=0)
    started = time.perf_counter()
    examples = {"implementation.json": SPEC, "src/agent.py": b"def replay(session):\n    session.finish()\n"}
    person = many_cases.build(examples, cases=CASES)
    print(f"{CASES:,} cases built in {time.perf_counter() - started:.0f} s")
    client = Client(SERVER_NAME="localhost")
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    pages = dict(_pages())
    times: dict[str, list[float]] = {name: [] for name in pages}
    queries: dict[str, int] = {}
    for name, urls in pages.items():
        with CaptureQueriesContext(connection) as captured:
            _get(client, urls[0])
        queries[name] = len(captured)
    for number in range(ROUNDS):
        for name, urls in pages.items():
            began = time.perf_counter()
            _get(client, urls[number % len(urls)])
            times[name].append(time.perf_counter() - began)
    _report(times, queries)


def _pages() -> Iterator[tuple[str, list[str]]]:
    """Name and addresses, asked for in turn: the first case numbers are the newest ones."""
    step = max(1, CASES // 37)
    keys = [f"B{max(0, i % 10 - 5)}-{i}" for i in range(1, CASES + 1, step)]
    # Every seventh number from the third one on is a reproduced case: see the generator's stages.
    reproduced = [f"B{max(0, i % 10 - 5)}-{i}" for i in range(3, CASES + 1, 7 * step)]
    yield ADMIN, ["/admin/cases/case/"]
    yield "case list", ["/cases/"]
    yield "case list, last page", [f"/cases/?page={max(1, CASES // 500)}"]
    for query in ("stage=reproduced", "lane=blocking", "verdict=still_failing", "verdict=none", "owner=me"):
        yield f"case list, {query}", [f"/cases/?{query}"]
    for words in ("refund", "INC-77", "B0-21", "no-such-word", "sha256:abcd"):
        yield f"case list, q={words}", [f"/cases/?q={words}"]
    yield "case list, three filters", ["/cases/?stage=reproduced&lane=blocking&verdict=diverged&q=refund"]
    yield "case page", [f"/cases/{key}/" for key in keys]
    yield "needs you", ["/"]
    yield "promotion page", [f"/cases/{key}/promotion/" for key in reproduced]


def _get(client: Any, url: str) -> None:
    response = client.get(url)
    if response.status_code != 200:
        raise SystemExit(f"{url} answered {response.status_code}")
    b"".join(response) if response.streaming else response.content


def _report(times: dict[str, list[float]], queries: dict[str, int]) -> None:
    limit = _p95(times[ADMIN]) / 2
    print(f"{'page':34} {'queries':>7} {'median':>9} {'p95':>9} {'of admin':>9}")
    for name, measured in times.items():
        ratio = _p95(measured) / _p95(times[ADMIN])
        over = "" if name == ADMIN else " OVER" if ratio > 0.5 or queries[name] > 12 else ""
        print(
            f"{name:34} {queries[name]:7} {statistics.median(measured) * 1000:6.1f} ms {_p95(measured) * 1000:6.1f} ms "
            f"{ratio:8.2f}x{over}"
        )
    print(f"goal: at most 12 queries and {limit * 1000:.0f} ms at the 95th percentile")


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


if __name__ == "__main__":
    sys.exit(main())
