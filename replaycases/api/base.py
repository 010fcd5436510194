"""What every view of the API shares: strict bodies, a cap, scoped objects, cursors, errors as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, cast

from django.conf import settings
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db.models import Field, Model
from django.http import HttpResponse
from django.utils.timezone import is_naive
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.fields import ListField
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import IsAuthenticated
from rest_framework.relations import ManyRelatedField
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from replaycases.accounts.models import Scope, User
from replaycases.api import errors
from replaycases.api.authentication import HasScope, TokenAuthentication
from replaycases.api.known import KnownFilters, require_known
from replaycases.api.schema import ApiSchema
from replaycases.api.scoping import visible
from replaycases.cases import evidence, reading
from replaycases.cases.incoming import announced
from replaycases.cases.models import Payload

if TYPE_CHECKING:
    from replaycases.api.acts import Act

# A multipart body is a little larger than the file in it.
MULTIPART_SLACK = 64 * 1024


class NewestFirst(CursorPagination):
    """Stable under inserts; the id breaks ties between rows of the same instant."""

    ordering = ("-created_at", "-pk")
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 500

    def get_page_size(self, request: Request) -> int | None:
        """A size that is none is a 400, as every other parameter that is not understood."""
        asked = request.query_params.get("page_size", "")
        if asked and not (asked.isascii() and asked.isdigit() and len(asked) < 10 and int(asked)):
            raise ValidationError({"page_size": [f"Say a whole number from 1 to {self.max_page_size}."]})
        return super().get_page_size(request)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        """A cursor that none of our pages gave out is a 400 too."""
        try:
            cursor = self.decode_cursor(request)
            if cursor is not None and cursor.position is not None:
                self._require_position(queryset.model, str(cursor.position))
        except (NotFound, DjangoValidationError, ValueError, OverflowError):
            unreadable = "This is no cursor of this list. Take `next` as it stands, or begin without one."
            raise ValidationError({"cursor": [unreadable]}) from None
        return super().paginate_queryset(queryset, request, view)

    def _require_position(self, model: type[Model], position: str) -> None:
        """Raise one of the above unless it is a value of the column that the list is ordered by."""
        column = self.ordering[0].removeprefix("-")
        field = model._meta.pk if column == "pk" else model._meta.get_field(column)
        assert isinstance(field, Field)
        value = field.to_python(position)
        if "\0" in position or (isinstance(value, datetime) and is_naive(value)):
            raise ValueError(column)
        if isinstance(value, datetime):
            value.astimezone(UTC)  # an instant that no calendar has is an OverflowError

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            if parameter["name"] == "page_size":
                parameter["schema"] = {"type": "integer", "minimum": 1}
        return parameters


def ordered(*fields: str) -> type[NewestFirst]:
    """Pages in another order, by columns of the row itself, since a cursor is read from it; the key breaks ties."""
    return type("Ordered", (NewestFirst,), {"ordering": (*fields, "pk")})


class ApiViewSet(GenericViewSet[Any]):
    """Subclasses give `queryset`; it is narrowed to what the user may see, so a foreign object is a 404. `read_scopes`
    and `write_scopes` are told in `authentication.HasScope`, `acts` in `acts.with_acts`."""

    authentication_classes = [TokenAuthentication, SessionAuthentication]
    permission_classes = [IsAuthenticated, HasScope]
    read_scopes: ClassVar[frozenset[Scope]] = frozenset({Scope.READ})
    write_scopes: Mapping[str, Scope] = {}
    acts: tuple[Act, ...] = ()
    schema = ApiSchema()
    filter_backends = [KnownFilters]
    pagination_class: type[NewestFirst] | None = NewestFirst
    lookup_value_converter = "uuid"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if (announced(request.META) or 0) > settings.MAX_UPLOAD_BYTES + MULTIPART_SLACK:
            raise errors.BodyTooLarge

    def get_queryset(self) -> Any:
        return visible(super().get_queryset(), self.request.user)

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response | None]:
        return errors.handle

    @property
    def user(self) -> User:
        return cast("User", self.request.user)

    def checked(self, serializer_class: type[Any]) -> dict[str, Any]:
        """The request's body, validated by the serializer; a field that it does not have is a fault."""
        serializer = serializer_class(data=self.request.data, context=self.get_serializer_context())
        if isinstance(self.request.data, Mapping):
            lists = [
                name for name, field in serializer.fields.items() if isinstance(field, ListField | ManyRelatedField)
            ]
            require_known(self.request.data, serializer.fields, "There is no such field.", lists=lists)
        serializer.is_valid(raise_exception=True)
        return cast("dict[str, Any]", serializer.validated_data)

    def download(self, subject: reading.Readable, payload: Payload, name: str) -> HttpResponse:
        """The exact bytes of the subject's payload as an attachment, for those to whom the subject is open."""
        reading.require_open(subject, self.user)
        return HttpResponse(
            evidence.read(payload),
            content_type="application/json",
            headers={"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"},
        )
