"""What a workflow gets: `replay(session)`. Every method asks the supervisor and returns the recorded answer.

At a divergence the supervisor answers nothing more and ends the process, so no method ever reports one.

`acall`, `asearch` and `aask` are for a workflow that awaits. The answer is there at once; others that wait at the same
time have their turn first, so that calls are sent in the order in which they were started, as in a live run.
"""

from __future__ import annotations

from .wire import ToolError, Wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any, Generator, Optional

PROTOCOL = 1


class Session:
    """The recorded world. `input`, `identity` (claims), `locale`, `time_zone`, `workflow_version`, `policies` and
    `templates` are what the case recorded; `locale` and `time_zone` are None where it did not.

    `session.ToolError` is what `tools.call` raises for a recorded error: kind and message.
    """

    ToolError = ToolError

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        start = wire.request("session.start", {"protocol": PROTOCOL})
        self.input: Any = start["input"]
        self.identity: Any = start["identity"]
        self.locale: Optional[str] = start["locale"]
        self.time_zone: Optional[str] = start["time_zone"]
        self.workflow_version: str = start["workflow_version"]
        self.policies: list[dict[str, Any]] = start["policies"]
        self.templates: list[dict[str, Any]] = start["templates"]
        self.tools = Tools(wire)
        self.model = Model(wire)
        self.retrieval = Retrieval(wire)
        self.clock = Clock(wire)
        self.random = Random(wire)
        self.human = Human(wire)
        self.finished = False

    def finish(
        self,
        message: Optional[str] = None,
        *,
        status: Optional[str] = None,
        action: Optional[str] = None,
        claims: Optional[list[str]] = None,
        authorization: Optional[str] = None,
        structured: Any = None,
        policies_used: Optional[list[dict[str, str]]] = None,
    ) -> None:
        """Report the outcome, once, as the last thing. `message` is the final message to the user.

        `claims` are the ids (or statements) of the claims made; left out means not reported.
        """
        params = {
            "message": message,
            "status": status,
            "action": action,
            "authorization": authorization,
            "structured": structured,
            **_given(claims=claims, policies_used=policies_used),
        }
        self._wire.request("finish", params)
        self.finished = True


class Tools:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def call(self, name: str, arguments: Any, call_id: Optional[str] = None) -> Any:
        """The recorded result. Raises ToolError where the recorded call failed."""
        params = {"tool": name, "arguments": arguments, **_given(call_id=call_id)}
        return self._wire.request("tool.call", params)["value"]

    async def acall(self, name: str, arguments: Any, call_id: Optional[str] = None) -> Any:
        """As `call`."""
        try:
            return self.call(name, arguments, call_id)
        finally:
            await _Turn()


class Model:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def call(self, request: Any, serving: Optional[dict[str, Any]] = None) -> Any:
        """The recorded response. `serving` is {provider, requested_model, api_version, settings, …}."""
        params = {"request": request, **_given(serving=serving)}
        return self._wire.request("model.call", params)["response"]

    async def acall(self, request: Any, serving: Optional[dict[str, Any]] = None) -> Any:
        """As `call`."""
        response = self.call(request, serving)
        await _Turn()
        return response


class Retrieval:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def search(self, query: Any, parameters: Any = None) -> list[dict[str, Any]]:
        """The recorded chunks: [{id, text, score?}]."""
        params = {"query": query, **_given(parameters=parameters)}
        chunks: list[dict[str, Any]] = self._wire.request("retrieval.search", params)["chunks"]
        return chunks

    async def asearch(self, query: Any, parameters: Any = None) -> list[dict[str, Any]]:
        """As `search`."""
        chunks = self.search(query, parameters)
        await _Turn()
        return chunks


class Clock:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def now(self) -> datetime:
        """The next recorded instant, with its offset."""
        from .instants import parse_instant

        return parse_instant(self._wire.request("clock.now", {})["now"])


class Random:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def draw(self, name: str) -> Any:
        """The next recorded value drawn under this name."""
        return self._wire.request("random.draw", {"name": name})["value"]


class Human:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def ask(self, question: Any) -> Any:
        """The recorded decision."""
        return self._wire.request("human.ask", {"question": question})["decision"]

    async def aask(self, question: Any) -> Any:
        """As `ask`."""
        decision = self.ask(question)
        await _Turn()
        return decision


class _Turn:
    """Awaited, it lets every task that is ready run once."""

    def __await__(self) -> Generator[None, None, None]:
        yield


def _given(**params: Any) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}
