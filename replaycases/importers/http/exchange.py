"""One HTTP exchange, whoever recorded it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult, parse_qs, urlsplit

from replaycases.importers.http.bodies import Body

_NOWHERE = SplitResult("", "", "", "", "")


@dataclass(frozen=True, kw_only=True)
class HttpExchange:
    """A request and what answered it.

    `source` points to the exchange in the file, `request_source` and `response_source` to its bodies; a pointer into a
    body goes on from there. `status` is 0 where nothing answered. Header names are lower case. `recorded_at` is what
    the recorder says, ISO 8601 with an offset.
    """

    source: str
    request_source: str
    response_source: str
    method: str
    url: str
    status: int
    request: Body = field(default_factory=Body)
    response: Body = field(default_factory=Body)
    request_headers: Mapping[str, str] = field(default_factory=dict)
    response_headers: Mapping[str, str] = field(default_factory=dict)
    recorded_at: str | None = None

    @property
    def path(self) -> str:
        return _split(self.url).path.rstrip("/")

    @property
    def host(self) -> str:
        return (_split(self.url).netloc.rpartition("@")[2].partition(":")[0]).lower()

    def query(self, name: str) -> str | None:
        try:
            return parse_qs(_split(self.url).query, max_num_fields=100).get(name, [None])[0]
        except ValueError:
            return None

    @property
    def content_type(self) -> str:
        return self.response_headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def answered(self) -> bool:
        return self.status != 0

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300

    @property
    def answered_at(self) -> str | None:
        """When it was answered, by the recorder, else by the server's Date header."""
        return self.recorded_at or http_date(self.response_headers.get("date", ""))


def http_date(text: str) -> str | None:
    """An HTTP date as ISO 8601; None if it is none or names no zone."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment.isoformat() if moment.tzinfo is not None else None


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return _NOWHERE
