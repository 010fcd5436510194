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
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True)
class Page:
    """Asked for at each of `urls` in turn, as the person of that name. `goal`: the goal is for this page; the others
    are measured to be known. `anew`: what a process remembers for a minute is forgotten before, `uncounted`: so is what
    the beat counted."""

    name: str
    urls: list[str]
    person: str = "all roles"
    goal: bool = True
    anew: bool = False
    uncounted: bool = False


def _measure() -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from benchmarks.population import many_cases

    call_command("migrate", verbosity=0)
    started = time.perf_counter()
    examples = {"implementation.json": SPEC, "src/agent.py": b"def replay(session):\n    session.finish()\n"}
    many_cases.build(examples, cases=CASES)
    print(f"{CASES:,} cases built in {time.perf_counter() - started:.0f} s")
    measure_pages()


def measure_pages() -> None:
    """On the database that is there: every page once for its queries, then in turn, so that all of them, the admin's
    too, are asked under the same load. The application is loaded as gunicorn loads it."""
    from django.core.cache import cache
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    import replaycases.config.wsgi  # noqa: F401 - for what it does to the process
    from replaycases.cases import counting
    from replaycases.cases.models import ProjectFigures

    pages = [page for page in _pages() if page.urls]  # of a few hundred cases none is of some kinds
    clients = {person: _signed_in(name) for person, name in (("all roles", "bench"), ("responder", "p0"))}
    times: dict[str, list[float]] = {page.name: [] for page in pages}
    queries: dict[str, int] = dict.fromkeys(times, 0)
    for page in pages:
        for url in page.urls[:4]:
            cache.clear()
            with CaptureQueriesContext(connection) as captured:
                _get(clients[page.person], url)
            queries[page.name] = max(queries[page.name], len(captured))
    for number in range(ROUNDS):
        counting.look()  # as the beat does
        for page in pages:
            if not page.goal and number % 8:
                continue
            if page.anew or page.uncounted:
                cache.clear()
            if page.uncounted:
                ProjectFigures.objects.all().delete()
            began = time.perf_counter()
            _get(clients[page.person], page.urls[number % len(page.urls)])
            times[page.name].append(time.perf_counter() - began)
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    _report(pages, times, queries)
    few = -(-ROUNDS // 8)
    print(f"{ROUNDS} times each, beyond the goal {few}; load at the end: {load}, {os.cpu_count()} processors")


def _signed_in(name: str) -> Any:
    from django.test import Client

    from replaycases.accounts.models import User

    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.get(username=name), backend="django.contrib.auth.backends.ModelBackend")
    return client


def _pages() -> Iterator[Page]:
    yield Page(name=ADMIN, urls=["/admin/cases/case/"])
    yield from _lists()
    yield from _case_pages()
    for person in ("all roles", "responder"):
        yield Page(name=f"needs you, {person}", urls=["/"], person=person)
        yield Page(name=f"needs you, {person}, counted anew", urls=["/"], person=person, anew=True)
    beyond = {
        "lanes": "/lanes/",
        "lane": "/lanes/B0/blocking/",
        "reviews": "/reviews/",
        "proposals": "/proposals/",
        "notifications": "/notifications/",
        "audit": "/audit/",
        "audit, one action": "/audit/?action=case.submitted",
        "runs": "/runs/",
    }
    for name, url in beyond.items():
        yield Page(name=name, urls=[url], goal=False)
    yield Page(name="needs you, without the beat", urls=["/"], goal=False, uncounted=True)


def _lists() -> Iterator[Page]:
    from replaycases.accounts.models import Team, User

    person, team = User.objects.get(username="p3"), Team.objects.filter(project__key="B0", name="Team 1").get()
    queries = [
        *("project=B0", "project=B3", "stage=reproduced", "stage=in_review", "stage=non_replayable"),
        *("lane=blocking", "lane=nonblocking", "lane=compatibility"),
        *("verdict=still_failing", "verdict=verified_red_to_green", "verdict=none"),
        *("owner=me", f"owner=user:{person.pk}", f"owner=team:{team.pk}"),
        *("flagged=on", "security=on", "expires=1", "expires=30", "expires=90"),
        *("q=refund", "q=INC-77", "q=B0-21", "q=no-such-word", "q=timed out", "q=sha256:abcd", "q=abcdef01"),
        "stage=reproduced&lane=blocking&verdict=diverged&q=refund",
        "project=B0&owner=me&flagged=on",
        f"project=B2&owner=team:{team.pk}",
        "stage=retired&lane=blocking",
        "security=on&verdict=diverged&q=tariff",
        "expires=90&owner=me&q=refund",
    ]
    yield Page(name="case list", urls=["/cases/"])
    yield Page(name="case list, responder", urls=["/cases/"], person="responder")
    yield Page(name="case list, last page", urls=["/cases/?page=10"])
    yield Page(name="case list, owner=me, last page", urls=["/cases/?owner=me&page=10"])
    for query in queries:
        said = query.replace(str(person.pk), "…").replace(str(team.pk), "…")
        yield Page(name=f"case list, {said}", urls=[f"/cases/?{query}"])


def _case_pages() -> Iterator[Page]:
    """By what the generator gives each number: see its table `n`."""
    numbers = range(1, CASES + 1)
    stages = {
        "quarantined": [i for i in numbers if i % 7 == 0],
        "in review": [i for i in numbers if i % 7 == 1],
        "redaction approved": [i for i in numbers if i % 7 == 2],
        "reproduced": [i for i in numbers if i % 7 in (3, 4, 5)],
        "with controls and history": [i for i in numbers if i % 7 in (3, 4, 5) and i % 50 == 3],
        "retired": [i for i in numbers if i % 7 == 6 and i % 21 != 6],
        "non-replayable": [i for i in numbers if i % 21 == 6],
    }
    for name, found in stages.items():
        yield Page(name=f"case page, {name}", urls=_spread(found, ""))
    yield Page(name="case page, responder", urls=_spread(stages["reproduced"], ""), person="responder")
    reproduced = stages["reproduced"]
    kinds = {
        "no lane": [i for i in reproduced if i % 3 == 2],
        "a lane": [i for i in reproduced if i % 3 < 2],
        "history": [i for i in reproduced if i % 3 < 2 and i % 50 == 3],
        "history and proposals": [i for i in reproduced if i % 3 < 2 and i % 50 == 3 and i % 19 == 0],
        "in review": stages["in review"],
    }
    for name, found in kinds.items():
        yield Page(name=f"promotion page, {name}", urls=_spread(found, "promotion/"))
    both = _spread(kinds["history and proposals"], "promotion/")
    yield Page(name="promotion page, responder", urls=both, person="responder")
    yield Page(name="promotion page, compatibility", urls=[f"{url}?to=compatibility" for url in both])


def _spread(numbers: list[int], below: str) -> list[str]:
    """Addresses of some of the cases, from the newest to the oldest."""
    chosen = numbers[:: max(1, len(numbers) // 37)]
    return [f"/cases/B{max(0, i % 10 - 5)}-{i}/{below}" for i in chosen]


def _get(client: Any, url: str) -> None:
    response = client.get(url)
    if response.status_code != 200:
        raise SystemExit(f"{url} answered {response.status_code}")
    b"".join(response) if response.streaming else response.content


def _report(pages: list[Page], times: dict[str, list[float]], queries: dict[str, int]) -> None:
    limit = _p95(times[ADMIN]) / 2
    width = max(len(page.name) for page in pages)
    print(f"{'page':{width}} {'queries':>7} {'median':>9} {'p95':>9} {'of admin':>9}")
    for page in pages:
        measured = times[page.name]
        ratio = _p95(measured) / _p95(times[ADMIN])
        over = "  OVER" if ratio > 0.5 or queries[page.name] > 12 else ""
        told = "" if page.name == ADMIN else over if page.goal else "  beyond the goal"
        print(
            f"{page.name:{width}} {queries[page.name]:7} {statistics.median(measured) * 1000:6.1f} ms "
            f"{_p95(measured) * 1000:6.1f} ms {ratio:8.2f}x{told}"
        )
    print(f"goal: at most 12 queries and {limit * 1000:.0f} ms at the 95th percentile")


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


if __name__ == "__main__":
    sys.exit(main())
