"""From the button to the verdict: a comparison with its controls on the demo, with an idle worker on Redis.

Starts a throw-away Redis and worker and an empty database of its own (PostgreSQL where it is installed, else SQLite);
prints one line a round. The goal of the project is under 5 s.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from tests import services  # noqa: E402 - found through the line above

ROUNDS = 5


def main() -> int:
    missing = services.redis_missing()
    if missing is not None:
        print(f"redis-server is missing: {missing}")
        return 0
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="rc-bench-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        os.environ |= {
            "REPLAYCASES_VAR": str(folder),
            "REDIS_URL": stack.enter_context(services.redis_server()).url,
            "REPLAYCASES_SECRET_KEY": "only-for-benchmarks-" * 4,
            "REPLAYCASES_HTTPS": "0",
            "DJANGO_SETTINGS_MODULE": "replaycases.config.settings",
            "C_FORCE_ROOT": "1",
        }
        if services.postgresql_missing() is None:
            os.environ["DATABASE_URL"] = stack.enter_context(services.postgresql_cluster())
        stack.callback(_stop, _worker(folder))
        _measure()
    return 0


def _worker(folder: Path) -> subprocess.Popen[bytes]:
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], check=True, cwd=REPOSITORY)
    command = [sys.executable, "-m", "celery", "--app", "replaycases.config.celery", "worker", "--beat"]
    options = ["--without-gossip", "--without-mingle", "--queues", "replays,sweeps", "--loglevel", "WARNING"]
    with (folder / "worker.log").open("wb") as log:
        return subprocess.Popen([*command, *options], cwd=REPOSITORY, stdout=log, stderr=log)


def _stop(worker: subprocess.Popen[bytes]) -> None:
    worker.terminate()
    worker.wait()


def _measure() -> None:
    import django

    django.setup()
    from replaycases.accounts.models import User
    from replaycases.cases import demo, jobs
    from replaycases.cases.models import Comparison

    demo.load(REPOSITORY / "examples")
    while Comparison.objects.filter(label="").exists():
        time.sleep(0.1)
    shown = Comparison.objects.select_related("revision", "old", "new").earliest("number")
    engineer = User.objects.get(username="engineer")
    seconds = {
        with_controls: [_round(jobs, Comparison, engineer, shown, with_controls) for _ in range(ROUNDS)]
        for with_controls in (False, True)
    }
    for with_controls, measured in seconds.items():
        what = "with 4 controls, each also mutated (20 runs)" if with_controls else "without controls (4 runs)"
        print(f"button to verdict, {what}: median {statistics.median(measured):.2f} s, worst {max(measured):.2f} s")


def _round(jobs: object, comparisons: object, engineer: object, shown: object, with_controls: bool) -> float:
    begun = time.monotonic()
    asked = jobs.request_comparison(
        engineer, revision=shown.revision, old=shown.old, new=shown.new, with_controls=with_controls
    )
    while not comparisons.objects.filter(pk=asked.pk).exclude(label="").exists():
        time.sleep(0.02)
    return time.monotonic() - begun


if __name__ == "__main__":
    sys.exit(main())
