from __future__ import annotations

import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from pytest_django.plugin import DjangoDbBlocker

from replaycases.accounts.models import Project
from tests import factories, services
from tests.cases import deployment as deployments

SECRET = {"REPLAYCASES_SECRET_KEY": "only-for-tests-" * 5, "REPLAYCASES_HTTPS": "0"}


@pytest.fixture
def project() -> Project:
    """In whichever database the test is connected to: its own, or a deployment's."""
    return factories.project()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty database file."""
    folder = tmp_path_factory.mktemp("sqlite")
    deployments.migrated({"REPLAYCASES_VAR": str(folder)})
    path = folder / "replaycases.sqlite3"
    # Fold the write-ahead log in, so that the file alone is the database.
    subprocess.run(
        ["python3", "-c", f"import sqlite3; sqlite3.connect({str(path)!r}).execute('PRAGMA wal_checkpoint(TRUNCATE)')"],
        check=True,
    )
    return path


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    services.require("PostgreSQL", services.postgresql_missing())
    with services.postgresql_cluster() as url:
        yield url


@pytest.fixture(scope="session")
def postgresql_template(postgresql: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A migrated, empty database `template` in the cluster."""
    with psycopg.connect(postgresql_dsn(postgresql), autocommit=True) as connection:
        connection.execute("CREATE DATABASE template")
    folder = tmp_path_factory.mktemp("postgresql")
    url = postgresql.removesuffix("postgres") + "template"
    deployments.migrated({"REPLAYCASES_VAR": str(folder), "DATABASE_URL": url, **SECRET})
    return postgresql


_databases = itertools.count(1)


def postgresql_dsn(url: str) -> str:
    """psycopg's own form of the cluster's URL (postgres://postgres@//FOLDER/NAME)."""
    folder, _, name = url.partition("@/")[2].rpartition("/")
    return f"host={folder} dbname={name} user=postgres"


@pytest.fixture(params=["embedded", "services"])
def deployment(request: pytest.FixtureRequest, django_db_blocker: DjangoDbBlocker) -> Iterator[deployments.Deployment]:
    """Both pairs: SQLite with the file-system broker, PostgreSQL with Redis. This process is connected to it."""
    folder = Path(tempfile.mkdtemp(prefix="rc-var-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if request.param == "embedded":
            template = request.getfixturevalue("sqlite_template")
            made = stack.enter_context(deployments.embedded(folder, template))
        else:
            services.require("redis-server", services.redis_missing())
            cluster = request.getfixturevalue("postgresql_template")
            name = f"deployment{next(_databases)}"
            with psycopg.connect(postgresql_dsn(cluster), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name} TEMPLATE template")
            redis = stack.enter_context(services.redis_server())
            url = cluster.removesuffix("postgres") + name
            env = {**deployments.QUICK, **SECRET, "REPLAYCASES_VAR": str(folder), "DATABASE_URL": url}
            made = deployments.Deployment(
                name="services", folder=folder, env={**env, "REDIS_URL": redis.url}, redis=redis
            )
        with django_db_blocker.unblock(), deployments.connected(made):
            stack.callback(made.stop)
            yield made
            made.stop()
