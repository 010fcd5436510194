"""How serializers are said in one line: a row's fields, or a body's."""

from __future__ import annotations

from typing import Any

from django.db.models import Model
from rest_framework import serializers

from replaycases.accounts.models import Project


def row(name: str, model: type[Model], fields: str, says: str = "", /, **declared: Any) -> type[Any]:
    """A serializer that shows these fields of a row, and takes none. `declared` are fields that are not plain columns;
    a `project` is shown by its key."""
    shown = fields.split()
    if "project" in shown:
        declared.setdefault("project", serializers.SlugRelatedField[Project](slug_field="key", read_only=True))
    meta = type("Meta", (), {"model": model, "fields": shown, "read_only_fields": shown})
    return type(name, (serializers.ModelSerializer,), {**declared, "Meta": meta, "__doc__": says or None})


def shape(name: str, says: str = "", /, **fields: Any) -> type[Any]:
    """A serializer of these fields, for a body or for a value that is no row."""
    assert len(set(map(id, fields.values()))) == len(fields), "one field would be shown under one name only"
    return type(name, (serializers.Serializer,), {**fields, "__doc__": says or None})
