"""The readable ids that stand in URLs."""

from __future__ import annotations

from replaycases.cases.searching import READABLE_ID


class CaseIdConverter:
    """`RC-17` <-> ("RC", 17)."""

    regex = READABLE_ID

    def to_python(self, value: str) -> tuple[str, int]:
        key, _, number = value.rpartition("-")
        return key, int(number)

    def to_url(self, value: tuple[str, int] | str) -> str:
        return value if isinstance(value, str) else f"{value[0]}-{value[1]}"


class CaptureIdConverter:
    """`RC-T4` <-> ("RC", 4)."""

    regex = r"[A-Z][A-Z0-9]{0,11}-T[1-9][0-9]{0,8}"

    def to_python(self, value: str) -> tuple[str, int]:
        key, _, number = value.rpartition("-T")
        return key, int(number)

    def to_url(self, value: tuple[str, int] | str) -> str:
        return value if isinstance(value, str) else f"{value[0]}-T{value[1]}"


class ProjectKeyConverter:
    regex = r"[A-Z][A-Z0-9]{0,11}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value
