"""What goes wrong, as JSON: {detail, findings?, gates?} with a status that says whose fault it is.

400 the request cannot be read or breaks its shape · 401 nobody known asks · 403 somebody who may not · 404 not there,
or not yours · 409 not now (with the gates, where those block) · 410 raw evidence that is destroyed · 413 too large ·
422 readable, but no fixture, no implementation, or a report of what this server did not give out. Nothing that a client
sends gives a 5xx; stored bytes that no longer have their digest are a 500 that says which to restore, a key ring that
cannot be read is a 503.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError as DjangoValidationError
from django.http import UnreadablePostError
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from replaycases.api.serializers.cases import GateSerializer
from replaycases.cases.ci_results import ReportRefused
from replaycases.cases.evidence import EvidenceDamaged, EvidenceDestroyed, EvidenceTooLarge
from replaycases.cases.gates import GatesClosed
from replaycases.cases.key_ring import RingInvalid
from replaycases.cases.policies import InvalidTransition
from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.importers.findings import ImportRefused
from replaycases.replay.implementation import ImplementationInvalid

logger = logging.getLogger(__name__)


class WithFindings(APIException):
    """An error that names places in a document."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        super().__init__()
        self.findings = [finding.as_dict() for finding in findings]


class BadDocument(WithFindings):
    status_code = status.HTTP_400_BAD_REQUEST
    default_detail = "The body is not JSON that every reader understands the same."
    default_code = "bad_document"


class Unprocessable(WithFindings):
    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_detail = "The document has findings. Nothing was stored."
    default_code = "findings"


class BodyTooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The body is larger than this server accepts."
    default_code = "too_large"


class StoredDamage(APIException):
    status_code = status.HTTP_500_INTERNAL_SERVER_ERROR
    default_code = "damaged"


class Destroyed(APIException):
    status_code = status.HTTP_410_GONE
    default_detail = "This raw evidence was destroyed when its time was over."
    default_code = "destroyed"


class KeyRingAway(APIException):
    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = (
        "Raw evidence can be neither sealed nor opened now: the key ring of this server cannot be read. Nothing was "
        "kept. Tell an administrator: manage.py check --deploy says what is wrong."
    )
    default_code = "key_ring"


class WrongState(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_detail = "This is not possible in the present state."
    default_code = "wrong_state"


class GatesBlock(WrongState):
    """Every gate on the way, the open ones too."""

    def __init__(self, closed: GatesClosed) -> None:
        super().__init__(str(closed))
        self.gates = GateSerializer(closed.gates, many=True).data


def translated(error: Exception) -> Exception:
    """A domain error as the API error that stands for it; any other one as it is."""
    if isinstance(error, FixtureInvalid):
        return Unprocessable(error.findings)
    if isinstance(error, ImplementationInvalid):
        finding = Finding(
            id="implementation.invalid", level="error", pointer=error.pointer, message=error.message, hint=error.hint
        )
        return Unprocessable([finding])
    if isinstance(error, ReportRefused):
        message = "Pull the lane again, run the suite on it, and push what that gave."
        return Unprocessable(
            [Finding(id="report.refused", level="error", pointer=error.pointer, message=str(error), hint=message)]
        )
    if isinstance(error, GatesClosed):
        return GatesBlock(error)
    if isinstance(error, ImportRefused):
        return Unprocessable([error.finding])
    if isinstance(error, InvalidTransition):
        return WrongState(str(error))
    if isinstance(error, EvidenceDestroyed):
        return Destroyed(str(error))
    if isinstance(error, EvidenceTooLarge):
        return BodyTooLarge()
    if isinstance(error, EvidenceDamaged):
        logger.error("%s", error)
        return StoredDamage(f"Stored evidence is damaged: {error}.")
    if isinstance(error, UnreadablePostError):
        return ParseError("The body broke off before the length that was announced. Nothing was kept: send it again.")
    if isinstance(error, RingInvalid):
        logger.error("%s", error)
        return KeyRingAway()
    if isinstance(error, DjangoValidationError):
        return ValidationError({"detail": " ".join(error.messages)})
    return error


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's handler, over translated errors, with findings or gates put beside `detail`."""
    translated_error = translated(error)
    response = exception_handler(translated_error, context)
    if response is not None and isinstance(response.data.get("detail"), list):  # a field of that name
        response.data["detail"] = " ".join(response.data["detail"])
    if response is not None and isinstance(translated_error, WithFindings):
        response.data["findings"] = translated_error.findings
    if response is not None and isinstance(translated_error, GatesBlock):
        response.data["gates"] = translated_error.gates
    return response
