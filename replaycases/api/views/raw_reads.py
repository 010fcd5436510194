"""Saying why raw evidence is to be read."""

from __future__ import annotations

from rest_framework.mixins import ListModelMixin, RetrieveModelMixin

from replaycases.accounts.models import Scope
from replaycases.api.acts import Act, with_acts
from replaycases.api.base import ApiViewSet, ordered
from replaycases.api.serializers.raw_reads import NewRawRead, RawReadSerializer
from replaycases.cases import raw_reads
from replaycases.cases.models import RawRead

NOBODY: frozenset[Scope] = frozenset()


@with_acts(
    Act(
        does=raw_reads.begin,
        takes=NewRawRead,
        gives=RawReadSerializer,
        status=201,
        says="Say why you need to read raw evidence of one case or one capture: it is open to you until `until`. 403 "
        "for a program, which reads none, and for who may not read it.",
    ),
)
class RawReadViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """Your own, each of them an event of the audit chain too. They are kept for ever."""

    queryset = RawRead.objects.select_related("project")
    serializer_class = RawReadSerializer
    read_scopes = NOBODY
    pagination_class = ordered("-made_at")
