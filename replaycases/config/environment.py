"""Reading the process environment: every variable is checked, and a bad one stops the start with its name."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ  # type: ignore[import-untyped]
from django.core.exceptions import ImproperlyConfigured

ENV = environ.Env()

# Both options belong inside OPTIONS: elsewhere Django ignores them without a word.
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA busy_timeout=20000;",
}
# A statement that a connection sends for the fifth time is planned once and kept: a page's queries take longer to plan
# than to answer. The server must be sent the values apart from the statement, or no two would be the same.
POSTGRESQL_OPTIONS = {"server_side_binding": True, "prepare_threshold": 5}


def flag(name: str, *, default: bool) -> bool:
    """A switch: 1/0, true/false, yes/no, on/off. Anything else is refused (a typo must not mean "off")."""
    raw = os.environ.get(name, "").strip().lower()
    if raw == "":
        return default
    if raw in {"1", "true", "yes", "on"}:
        return True
    if raw in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be one of 1, 0, true, false, yes, no, on, off")


def number(name: str, *, default: int, minimum: int = 1) -> int:
    """A whole number of at least `minimum`."""
    raw = os.environ.get(name, "").strip()
    if raw == "":
        return default
    if not raw.isascii() or not raw.isdigit() or int(raw) < minimum:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least {minimum}")
    return int(raw)


def words(name: str, *, default: list[str]) -> list[str]:
    """A list separated by commas."""
    raw = os.environ.get(name, "")
    return [word.strip() for word in raw.split(",") if word.strip()] or default


def choice(name: str, *, default: str, options: tuple[str, ...]) -> str:
    value = os.environ.get(name, "").strip() or default
    if value not in options:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(options)}")
    return value


def directories(name: str) -> list[Path]:
    """Absolute, existing directories separated by colons."""
    paths = [Path(part) for part in os.environ.get(name, "").split(":") if part]
    for path in paths:
        if not path.is_absolute() or not path.is_dir():
            raise ImproperlyConfigured(f"{name}: {path} is not an absolute path of an existing directory")
    return [path.resolve() for path in paths]


def database(name: str, *, sqlite_path: Path) -> dict[str, Any]:
    """The DATABASES entry: PostgreSQL or SQLite by URL, else SQLite at `sqlite_path`."""
    url = os.environ.get(name, "").strip()
    if url == "":
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": sqlite_path, "OPTIONS": SQLITE_OPTIONS}
    scheme = url.partition(":")[0]
    if scheme not in {"postgres", "postgresql", "sqlite"}:
        raise ImproperlyConfigured(f"{name} must start with postgres://, postgresql:// or sqlite:///")
    config: dict[str, Any] = dict(ENV.db_url_config(url))
    if not config["NAME"]:
        raise ImproperlyConfigured(f"{name} names no database")
    if scheme == "sqlite":
        config["OPTIONS"] = SQLITE_OPTIONS
    else:
        config["CONN_HEALTH_CHECKS"] = True
        config["CONN_MAX_AGE"] = 60
        config["OPTIONS"] = POSTGRESQL_OPTIONS | config.get("OPTIONS", {})
    return config


def broker(name: str) -> str:
    """The Celery broker's URL: Redis over TCP, TLS or a unix socket; "" where none is configured."""
    url = os.environ.get(name, "").strip()
    if url == "":
        return ""
    if url.startswith("unix://"):
        return "redis+socket://" + url.removeprefix("unix://")
    if not url.startswith(("redis://", "rediss://", "redis+socket://")):
        raise ImproperlyConfigured(f"{name} must start with redis://, rediss:// or unix://")
    return url


def mail(name: str, *, embedded_folder: Path | None) -> dict[str, Any]:
    """The EMAIL_… settings by URL: smtp://, smtp+tls:// or smtp+ssl:// with user, password, host and port, or
    filemail:///folder. Without one mails are written to files in a folder (embedded default only), or printed to
    standard output."""
    url = os.environ.get(name, "").strip()
    if url == "" and embedded_folder is not None:
        return {"EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend", "EMAIL_FILE_PATH": embedded_folder}
    url = url or "consolemail://"
    scheme = url.partition(":")[0]
    if scheme not in {"smtp", "smtp+tls", "smtp+ssl", "filemail", "consolemail"}:
        raise ImproperlyConfigured(f"{name} must start with smtp://, smtp+tls://, smtp+ssl:// or filemail:///")
    config: dict[str, Any] = dict(ENV.email_url_config(url))
    if scheme == "filemail":  # django-environ takes the folder for a relative one
        config["EMAIL_FILE_PATH"] = "/" + config["EMAIL_FILE_PATH"].lstrip("/")
    return config


def origin(name: str, *, default: str) -> str:
    """Scheme, host and port of the server as people reach it."""
    value = os.environ.get(name, "").strip().rstrip("/") or default
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.netloc or value != f"{parts.scheme}://{parts.netloc}":
        raise ImproperlyConfigured(f"{name} must be like https://replaycases.example, without a path")
    return value


def secret(name: str, *, embedded_file: Path | None) -> str:
    """The secret key: from the environment, or (embedded default only) from a file that is made at the first start."""
    value = os.environ.get(name, "").strip()
    if value:
        if len(value) < 50:
            raise ImproperlyConfigured(f"{name} must have at least 50 characters")
        return value
    if embedded_file is None:
        raise ImproperlyConfigured(f"{name} is required where DATABASE_URL is set; at least 50 random characters")
    try:
        descriptor = os.open(embedded_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read_secret(embedded_file)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(64))
    return _read_secret(embedded_file)


def _read_secret(path: Path) -> str:
    value = path.read_text().strip()
    if len(value) < 50:
        raise ImproperlyConfigured(f"{path} holds no secret key; delete it to have a new one made")
    return value
