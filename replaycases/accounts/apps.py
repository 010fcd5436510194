from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "replaycases.accounts"
    label = "accounts"

    def ready(self) -> None:
        from replaycases.accounts import sessions  # noqa: F401  its receiver starts sessions
