"""Run pytest with a throw-away PostgreSQL as its database: `python -m tests.on_postgresql PATH… [OPTIONS]`."""

from __future__ import annotations

import os
import subprocess
import sys

from tests import services


def main(arguments: list[str]) -> int:
    missing = services.postgresql_missing()
    if missing is not None:
        print(f"PostgreSQL is missing: {missing}. These tests were skipped: {' '.join(arguments)}", file=sys.stderr)
        return int(services.required())
    with services.postgresql_cluster() as url:
        settings = {"DATABASE_URL": url, "REPLAYCASES_HTTPS": "0", "REPLAYCASES_SECRET_KEY": "only-for-tests-" * 5}
        command = [sys.executable, "-m", "pytest", *arguments]
        return subprocess.run(command, check=False, env={**os.environ, **settings}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
