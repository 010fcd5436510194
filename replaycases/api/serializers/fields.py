"""Fields that requests have in common: references that are scoped, digests, documents, instants."""

from __future__ import annotations

from typing import Any

import orjson
from django.db.models import TextChoices
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from replaycases.accounts.models import Project
from replaycases.api.scoping import visible
from replaycases.cases.texts import TEXT_CAP


class ScopedField(serializers.PrimaryKeyRelatedField[Any]):
    """A reference to a row that the user may see; any other one does not exist."""

    def get_queryset(self) -> Any:
        return visible(super().get_queryset(), self.context["request"].user)


class ScopedProjectField(serializers.SlugRelatedField[Project]):
    """A project by its key."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(slug_field="key", queryset=Project.objects.all(), **kwargs)

    def get_queryset(self) -> Any:
        return visible(Project.objects.all(), self.context["request"].user)

    def to_internal_value(self, data: Any) -> Project:
        if not isinstance(data, str) or "\x00" in data:  # which PostgreSQL cannot even look for
            self.fail("invalid")
        return super().to_internal_value(data)


@extend_schema_field({"type": "object", "additionalProperties": {}})
class DocumentField(serializers.Field[bytes, Any, Any, Any]):
    """A JSON document, in a JSON body or as an uploaded file, given on as bytes. A file's bytes are kept exactly; a
    document in a body is written anew, which keeps its canonical digests."""

    default_error_messages = {"not_a_document": "Send a JSON object or a file."}
    kind: type = dict

    def to_internal_value(self, data: Any) -> bytes:
        if hasattr(data, "read"):
            return bytes(data.read())
        if not isinstance(data, self.kind):
            self.fail("not_a_document")
        return orjson.dumps(data)


@extend_schema_field({"type": "array", "items": {"type": "object", "additionalProperties": {}}})
class PatchField(DocumentField):
    """A document that is a list of operations."""

    default_error_messages = {"not_a_document": "Send a JSON list of operations or a file."}
    kind = list


class DigestField(serializers.RegexField):
    """What the client saw, as "sha256:" and 64 hex digits."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(regex=r"^sha256:[0-9a-f]{64}$", max_length=71, **kwargs)


class EnumField(serializers.ChoiceField):
    """One of a closed list, given on as the member that it names."""

    def __init__(self, enum: type[TextChoices], **kwargs: Any) -> None:
        self.enum = enum
        super().__init__(choices=enum.choices, **kwargs)

    def to_internal_value(self, data: Any) -> TextChoices:
        return self.enum(super().to_internal_value(data))


class SwitchField(serializers.BooleanField):
    """Said, or a fault: a form without it does not say "off"."""

    default_empty_html = serializers.empty


class TextField(serializers.CharField):
    """Words of a person."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": TEXT_CAP, **kwargs})
