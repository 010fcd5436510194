from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from replaycases.config import environment


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda: environment.flag("X", default=False), "maybe"),
        (lambda: environment.number("X", default=1), "-1"),
        (lambda: environment.number("X", default=1), "1.5"),
        (lambda: environment.number("X", default=1), "٣"),
        (lambda: environment.number("X", default=5, minimum=2), "1"),
        (lambda: environment.choice("X", default="a", options=("a", "b")), "c"),
        (lambda: environment.directories("X"), "relative"),
        (lambda: environment.directories("X"), "/no/such/directory"),
        (lambda: environment.database("X", sqlite_path=Path("x")), "mysql://host/name"),
        (lambda: environment.database("X", sqlite_path=Path("x")), "postgres://host/"),
        (lambda: environment.broker("X"), "amqp://host"),
        (lambda: environment.mail("X", embedded_folder=None), "http://mail.example"),
        (lambda: environment.origin("X", default=""), "replaycases.example"),
        (lambda: environment.origin("X", default=""), "https://replaycases.example/path"),
        (lambda: environment.secret("X", embedded_file=None), "short"),
        (lambda: environment.secret("X", embedded_file=None), ""),
    ],
)
def test_a_bad_variable_stops_the_start_and_is_named(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[], object], value: str
) -> None:
    monkeypatch.setenv("X", value)
    with pytest.raises(ImproperlyConfigured, match="X"):
        read()


@pytest.mark.parametrize(("value", "meant"), [("1", True), ("off", False), ("YES", True), ("", False), (" no ", False)])
def test_a_switch_takes_the_usual_words(monkeypatch: pytest.MonkeyPatch, value: str, meant: bool) -> None:
    monkeypatch.setenv("X", value)
    assert environment.flag("X", default=False) is meant


def test_the_sqlite_options_are_where_django_reads_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("X", raising=False)
    config = environment.database("X", sqlite_path=tmp_path / "db")
    assert config["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in config["OPTIONS"]["init_command"]


def test_a_socket_url_names_host_and_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "postgres://someone@//run/postgresql/replaycases")
    config = environment.database("X", sqlite_path=Path("x"))
    assert (config["HOST"], config["NAME"], config["USER"]) == ("/run/postgresql", "replaycases", "someone")


def test_postgresql_is_sent_values_apart_from_statements_and_what_the_url_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "postgres://someone@host/name?sslmode=require")
    options = environment.database("X", sqlite_path=Path("x"))["OPTIONS"]
    assert options == {"server_side_binding": True, "prepare_threshold": 5, "sslmode": "require"}


def test_a_unix_redis_is_written_as_celery_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "unix:///run/redis.sock")
    assert environment.broker("X") == "redis+socket:///run/redis.sock"


def test_mails_go_into_the_folder_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "filemail:///var/mail")
    assert environment.mail("X", embedded_folder=None)["EMAIL_FILE_PATH"] == "/var/mail"


def test_the_embedded_secret_is_made_once_and_only_for_its_owner(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("X", raising=False)
    path = tmp_path / "secret-key"
    first = environment.secret("X", embedded_file=path)
    assert len(first) >= 50
    assert environment.secret("X", embedded_file=path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
