"""The debug page without what it would quote: an exception's text, the variables of its frames, the heads and the form
that were sent may all hold raw evidence, and whoever develops here need not be somebody who may read it."""

from __future__ import annotations

from collections.abc import ItemsView
from typing import Any

from django.views.debug import ExceptionReporter, SafeExceptionReporterFilter


class NothingQuoted(SafeExceptionReporterFilter):
    def get_post_parameters(self, request: Any) -> dict[str, str]:
        return {}

    def get_safe_request_meta(self, request: Any) -> dict[str, Any]:
        return {}

    def get_traceback_frame_variables(self, request: Any, tb_frame: Any) -> ItemsView[str, Any]:
        none: dict[str, Any] = {}
        return none.items()


class WithoutText(ExceptionReporter):
    def get_traceback_data(self) -> dict[str, Any]:
        data: dict[str, Any] = super().get_traceback_data()
        for frame in data.get("frames", ()):
            frame["exc_cause"] = frame["exc_cause"] and type(frame["exc_cause"]).__name__
        return {**data, "exception_value": "Its text is not shown: it may hold evidence.", "exception_notes": ""}
