from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
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
def made_by_the_first(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """The file of that name, which whichever of pytest's workers comes first makes for all."""
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def made(name: str, make: Callable[[Path], None]) -> Path:
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / name).exists():
                make(folder / f"{name}.new")
                (folder / f"{name}.new").rename(folder / name)
        return folder / name

    return made


@pytest.fixture(scope="session")
def sqlite_template(
    made_by_the_first: Callable[[str, Callable[[Path], None]], Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A migrated, empty database file."""

    def make(path: Path) -> None:
        folder = tmp_path_factory.mktemp("sqlite")
        deployments.migrated({"REPLAYCASES_VAR": str(folder)})
        with closing(sqlite3.connect(folder / "replaycases.sqlite3")) as database:
            # Fold the write-ahead log in, so that the file alone is the database.
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (folder / "replaycases.sqlite3").rename(path)

    return made_by_the_first("migrated.sqlite3", make)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    services.require("PostgreSQL", services.postgresql_missing())
    with services.postgresql_cluster() as url:
        yield url


@pytest.fixture(scope="session")
def postgresql_template(
    postgresql: str,
    made_by_the_first: Callable[[str, Callable[[Path], None]], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """A migrated, empty database `template` in the cluster."""
    cluster = postgresql.removesuffix("postgres")

    def make(path: Path) -> None:
        _create(postgresql, "migrated")
        folder = tmp_path_factory.mktemp("postgresql")
        deployments.migrated({"REPLAYCASES_VAR": str(folder), "DATABASE_URL": f"{cluster}migrated", **SECRET})
        dump = [services.postgresql_tool("pg_dump"), "--file", path, postgresql_dsn(f"{cluster}migrated")]
        subprocess.run(dump, check=True)

    dumped = made_by_the_first("migrated.sql", make)
    _create(postgresql, "template")
    load = [services.postgresql_tool("psql"), "-qX", "-v", "ON_ERROR_STOP=1", "-f", dumped]
    subprocess.run([*load, postgresql_dsn(f"{cluster}template")], check=True, stdout=subprocess.DEVNULL)
    return postgresql


def _create(cluster: str, name: str, *, of: str = "template1") -> None:
    with psycopg.connect(postgresql_dsn(cluster), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {of}")


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
            _create(cluster, name, of="template")
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
