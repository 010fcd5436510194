"""What an implementation may ask: the shape of every request of protocol 1, checked before anything is matched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from replaycases.fixture.canonical import NotCanonical, canonical_bytes

CallBoundary = Literal["tool", "model", "retrieval", "human"]
QUOTED = 80
"""How many characters of a name sent by the implementation a message repeats."""


class ProtocolBreach(ValueError):
    """The line is no valid request; the text says what is wrong and holds no value of it."""


@dataclass(frozen=True, slots=True)
class BoundaryCall:
    """One request for a recorded answer.

    `subject` is what is compared with the recording: the arguments (tool), the request (model), the question (human),
    {query, parameters} (retrieval); `key` its canonical bytes; `name` the tool, else "".
    """

    boundary: CallBoundary
    params: Mapping[str, Any]
    name: str
    subject: Any
    key: bytes


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a parameter must be, in words, and the test for it. To the test an absent parameter is null."""

    words: str
    holds: Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_policy(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() <= {"name", "version", "sha256", "content"}
        and {"name", "sha256"} <= value.keys()
        and all(map(_is_text, value.values()))
    )


_TEXT = _Kind("a string", _is_text)
_TEXT_OR_NULL = _Kind("a string or null", lambda value: value is None or _is_text(value))
_OBJECT_OR_NULL = _Kind("an object or null", lambda value: value is None or isinstance(value, dict))
_TEXTS_OR_NULL = _Kind("a list of strings or null", lambda value: value is None or _is_texts(value))
_POLICIES_OR_NULL = _Kind(
    "a list of {name, version?, sha256, content?} or null",
    lambda value: value is None or (isinstance(value, list) and all(map(_is_policy, value))),
)
_ONE = _Kind("1, the only protocol there is", lambda value: type(value) in (int, float) and value == 1)
_ANY = _Kind("any JSON value", lambda value: True)
_REQUIRED = {"tool.call": "arguments", "model.call": "request", "retrieval.search": "query", "human.ask": "question"}
"""The parameter of each call that may be any JSON value, null too, but must be there."""

_SHAPES: Mapping[str, Mapping[str, _Kind]] = {
    "session.start": {"protocol": _ONE},
    "tool.call": {"tool": _TEXT, "arguments": _ANY, "call_id": _TEXT_OR_NULL},
    "model.call": {"request": _ANY, "serving": _OBJECT_OR_NULL},
    "retrieval.search": {"query": _ANY, "parameters": _ANY},
    "clock.now": {},
    "random.draw": {"name": _TEXT},
    "human.ask": {"question": _ANY},
    "finish": {
        "message": _TEXT_OR_NULL,
        "status": _TEXT_OR_NULL,
        "action": _TEXT_OR_NULL,
        "claims": _TEXTS_OR_NULL,
        "authorization": _TEXT_OR_NULL,
        "structured": _ANY,
        "policies_used": _POLICIES_OR_NULL,
    },
}


def quoted(name: object) -> str:
    """A name that the implementation sent, safe and short enough for a message."""
    return ascii(name)[:QUOTED] if isinstance(name, str) else f"<{type(name).__name__}>"


def checked_params(method: object, params: object) -> dict[str, Any]:
    """The params of a known method in the shape the protocol gives them; absent params are an empty object.

    Raises ProtocolBreach for an unknown method, a missing, unknown or mistyped parameter, and for values that have no
    canonical form (and so could be neither compared nor kept).
    """
    if not isinstance(method, str) or method not in _SHAPES:
        raise ProtocolBreach(f"unknown method {quoted(method)}; protocol 1 knows {', '.join(_SHAPES)}")
    shape = _SHAPES[method]
    given = {} if params is None else params
    if type(given) is not dict:
        raise ProtocolBreach(f"{method}: params must be an object")
    for name in given:
        if name not in shape:
            raise ProtocolBreach(f"{method}: unknown parameter {quoted(name)}")
    subject = _REQUIRED.get(method)
    if subject is not None and subject not in given:
        raise ProtocolBreach(f"{method}: `{subject}` is missing")
    for name, kind in shape.items():
        if not kind.holds(given.get(name)):
            raise ProtocolBreach(f"{method}: `{name}` must be {kind.words}")
    _refuse_what_is_not_json(method, given)
    return given


def boundary_call(method: str, params: Mapping[str, Any]) -> BoundaryCall:
    """The call to match, from params that `checked_params` let through."""
    if method == "tool.call":
        arguments = params["arguments"]
        return BoundaryCall("tool", params, params["tool"], arguments, canonical_bytes(arguments))
    if method == "model.call":
        return BoundaryCall("model", params, "", params["request"], canonical_bytes(params["request"]))
    if method == "human.ask":
        return BoundaryCall("human", params, "", params["question"], canonical_bytes(params["question"]))
    subject = {"query": params["query"], "parameters": params.get("parameters")}
    return BoundaryCall("retrieval", params, "", subject, canonical_bytes(subject))


def _refuse_what_is_not_json(method: str, params: Mapping[str, Any]) -> None:
    try:
        canonical_bytes(params)
    except NotCanonical as error:
        raise ProtocolBreach(f"{method}: params are not exact JSON ({error})") from None
