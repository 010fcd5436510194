"""The audit chain, for those who belong to the project."""

from __future__ import annotations

from rest_framework.mixins import ListModelMixin, RetrieveModelMixin

from replaycases.api.base import ApiViewSet, ordered
from replaycases.api.filters import AuditFilter
from replaycases.api.serializers.audit import AuditEventSerializer
from replaycases.cases.models import AuditEvent


class AuditEventViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Append-only; each event is hashed over the one before it. `manage.py verify_audit` checks the whole chain."""

    queryset = AuditEvent.objects.select_related("project")
    serializer_class = AuditEventSerializer
    filterset_class = AuditFilter
    pagination_class = ordered("-sequence")
    lookup_value_converter = "int"
