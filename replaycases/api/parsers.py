"""Bodies are read by the strict parser of fixtures, within a cap: what two readers could understand differently is
refused with its pointer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.parsers import BaseParser

from replaycases.api.errors import BadDocument, BodyTooLarge
from replaycases.cases import incoming
from replaycases.cases.evidence import EvidenceTooLarge
from replaycases.cases.incoming import Incoming
from replaycases.fixture import strict_json
from replaycases.fixture.findings import FixtureInvalid
from replaycases.importers.foreign_file import MAX_BYTES

LARGEST_CAPTURE = min(MAX_BYTES, settings.MAX_UPLOAD_BYTES)


class StrictJSONParser(BaseParser):
    """`application/json` only. Raises BadDocument (400, with findings) or BodyTooLarge (413)."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        data = stream.read(settings.MAX_UPLOAD_BYTES + 1)
        if len(data) > settings.MAX_UPLOAD_BYTES:
            raise BodyTooLarge
        try:
            return strict_json.parse(data)
        except FixtureInvalid as invalid:
            raise BadDocument(invalid.findings) from None


class RawParser(BaseParser):
    """Any body as it came, as `file`, written down within the cap of captures. Raises BodyTooLarge (413)."""

    media_type = "*/*"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Incoming]:
        try:
            return {"file": incoming.received(incoming.pieces(stream), most=LARGEST_CAPTURE)}
        except EvidenceTooLarge:
            raise BodyTooLarge from None
