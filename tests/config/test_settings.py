"""The settings as a process reads them, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings

from replaycases.cases.key_ring import RingFile
from replaycases.config import celery_settings

REPOSITORY = Path(__file__).resolve().parents[2]
PRODUCTION = {
    "DATABASE_URL": "postgres://replaycases@db.example/replaycases",
    "REDIS_URL": "redis://redis.example/0",
    "REPLAYCASES_SECRET_KEY": "z8Lq0v-Only-For-This-Test-3fW9kPdT7yRbN2mXcJ5hGsAeUo1i4",
    "REPLAYCASES_ALLOWED_HOSTS": "replaycases.example",
}


def manage(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    base = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "REPLAYCASES_VAR": str(folder)}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=REPOSITORY,
        env={**base, **env},
        capture_output=True,
        text=True,
        check=False,
    )


def deploy_check(folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return manage(folder, "check", "--deploy", "--fail-level", "WARNING", **{**PRODUCTION, **env})


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    path = tmp_path / "ring.json"
    RingFile(path).create(datetime.now(UTC))
    return path


def test_the_production_configuration_passes_the_deployment_check(tmp_path: Path, ring: Path) -> None:
    checked = deploy_check(tmp_path, REPLAYCASES_EVIDENCE_KEYS_FILE=str(ring))
    assert checked.returncode == 0, checked.stderr


def test_the_deployment_check_warns_of_a_key_ring_for_each_host(tmp_path: Path) -> None:
    checked = deploy_check(tmp_path)
    assert checked.returncode == 1
    assert "Each host would make a key ring of its own" in checked.stderr


def test_the_deployment_check_warns_of_a_key_ring_that_cannot_forget(tmp_path: Path, ring: Path) -> None:
    checked = deploy_check(tmp_path, REPLAYCASES_EVIDENCE_KEYS=ring.read_text())
    assert checked.returncode == 1
    assert "cannot forget" in checked.stderr
    assert "each host" not in checked.stderr.lower()


def test_the_deployment_check_refuses_a_key_ring_that_others_read(tmp_path: Path, ring: Path) -> None:
    ring.chmod(0o640)
    checked = deploy_check(tmp_path, REPLAYCASES_EVIDENCE_KEYS_FILE=str(ring))
    assert (checked.returncode, "Others than its owner" in checked.stderr) == (1, True)


@pytest.mark.parametrize("text", [None, "{}"])
def test_the_deployment_check_refuses_a_key_ring_that_is_none(tmp_path: Path, ring: Path, text: str | None) -> None:
    ring.unlink()
    if text is not None:
        ring.write_text(text)
        ring.chmod(0o600)
    checked = deploy_check(tmp_path, REPLAYCASES_EVIDENCE_KEYS_FILE=str(ring))
    assert checked.returncode == 1
    assert ("There is no key ring" if text is None else "the key ring is not {keys") in checked.stderr
    assert ring.exists() == (text is not None)


def test_a_production_database_without_a_secret_does_not_start(tmp_path: Path) -> None:
    checked = manage(tmp_path, "check", DATABASE_URL=PRODUCTION["DATABASE_URL"])
    assert checked.returncode == 1
    assert "REPLAYCASES_SECRET_KEY is required" in checked.stderr


def test_a_misspelt_switch_does_not_start(tmp_path: Path) -> None:
    checked = manage(tmp_path, "check", REPLAYCASES_DEBUG="flase")
    assert checked.returncode == 1
    assert "REPLAYCASES_DEBUG" in checked.stderr


def test_cookies_have_names_that_a_browser_takes_over_tls_alone_where_there_is_tls(tmp_path: Path) -> None:
    names = "s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.REPLAYCASES_BASE_URL"
    code = f"from django.conf import settings as s; print({names})"
    shown = manage(tmp_path, "shell", "--no-imports", "-c", code, **PRODUCTION)
    assert shown.stdout.split() == ["__Host-sessionid", "__Host-csrftoken", "https://replaycases.example"]
    embedded = manage(tmp_path, "shell", "--no-imports", "-c", code)
    assert embedded.stdout.split() == ["sessionid", "csrftoken", "http://localhost:8000"]


def test_mails_are_files_of_the_embedded_default_and_printed_elsewhere_unless_a_server_is_named(tmp_path: Path) -> None:
    send = "from django.core.mail import send_mail as s; s('Hello', 'One thing to know.', None, ['a@example.org'])"
    assert manage(tmp_path, "shell", "--no-imports", "-c", send).stdout == ""
    (kept,) = (tmp_path / "mail").iterdir()
    assert "One thing to know." in kept.read_text()
    assert "One thing to know." in manage(tmp_path, "shell", "--no-imports", "-c", send, **PRODUCTION).stdout
    code = "from django.conf import settings as s; print(s.EMAIL_BACKEND, s.EMAIL_HOST, s.EMAIL_PORT, s.EMAIL_USE_TLS)"
    named = manage(tmp_path, "shell", "--no-imports", "-c", code, EMAIL_URL="smtp+tls://u:p@mail.example:587")
    assert named.stdout.split() == ["django.core.mail.backends.smtp.EmailBackend", "mail.example", "587", "True"]


def test_no_migration_is_missing(tmp_path: Path) -> None:
    assert manage(tmp_path, "makemigrations", "--check", "--dry-run").returncode == 0


def test_debug_is_off_unless_asked_for() -> None:
    assert settings.DEBUG is False or "REPLAYCASES_DEBUG" in os.environ


def test_the_content_policy_allows_no_inline_script_or_style() -> None:
    directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    assert directives["default-src"] == ["'self'"]
    assert not any("unsafe" in source for sources in directives.values() for source in sources)


def test_celery_waits_longer_than_the_sandbox_and_redis_longer_than_celery() -> None:
    wall = settings.REPLAYCASES_WALL_SECONDS
    assert wall < celery_settings.task_soft_time_limit < celery_settings.task_time_limit


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accept_content", ["json"]),
        ("task_acks_late", True),
        ("task_reject_on_worker_lost", False),
        ("task_ignore_result", True),
        ("task_publish_retry", False),
        ("worker_prefetch_multiplier", 1),
        ("task_create_missing_queues", False),
    ],
)
def test_celery_delivers_hints_and_nothing_more(name: str, value: object) -> None:
    assert getattr(celery_settings, name) == value


def test_redis_does_not_deliver_again_what_is_still_running(tmp_path: Path) -> None:
    code = (
        "from replaycases.config import celery_settings as c; "
        "print(c.broker_transport_options['visibility_timeout'] > c.task_time_limit)"
    )
    shown = manage(tmp_path, "shell", "--no-imports", "-c", code, **PRODUCTION)
    assert shown.stdout.strip() == "True"
