"""Model calls with whole requests, and tool runs recorded by themselves -> the steps of one run.

Every format that records model calls tells the same story twice: a response asks for tools, and a later request holds
what they answered. Here the two are put together once, for all formats. Calls and answers are paired by adjacency:
the answers right after the assistant turn with these calls, in the first later request that holds it. Inside that
block ids decide only if they name each call exactly once; else order decides, and a note says so where there is more
than one way. Ids elsewhere are never looked at, because they repeat within real runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from replaycases.fixture.canonical import digest
from replaycases.importers.neutral import HumanStep, ModelStep, Note, RetrievalStep, Step, ToolStep

JSON = Any
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, kw_only=True)
class AskedCall:
    """A tool call as a model asked for it. `arguments` is the object; text that holds one is parsed by the importer."""

    source: str
    tool: str
    arguments: JSON
    call_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class GivenAnswer:
    """What a request says that a tool answered. `error` is {kind, message} where the format marks a failure."""

    source: str
    value: JSON = None
    error: dict[str, str] | None = None
    call_id: str | None = None
    tool: str | None = None


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message of a request. `raw` is it as recorded, `content` what was said; an assistant turn has `calls`, a turn
    that brings back what tools answered has `answers`, whatever role the provider gives it."""

    role: Role
    raw: JSON
    content: JSON = None
    calls: tuple[AskedCall, ...] = ()
    answers: tuple[GivenAnswer, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ModelExchange:
    """One model call: `step` for the fixture, `sent` the turns of its request, and of its response the calls it `asked`
    for, in order, and what it `said`."""

    step: ModelStep
    sent: tuple[Turn, ...]
    asked: tuple[AskedCall, ...] = ()
    said: JSON = None


Recorded = ModelExchange | ToolStep | RetrievalStep | HumanStep


@dataclass(frozen=True, kw_only=True)
class Assembled:
    """`input` is what the first request held besides the system text, `system` that text."""

    steps: tuple[Step, ...]
    notes: tuple[Note, ...]
    input: JSON
    system: str | None
    ends_on_answer: bool


def assemble(recorded: Sequence[Recorded]) -> Assembled:
    """Put the steps of one run together, in the order in which they are given. A tool step that a model asked for
    moves to the place of its call; the others stay where they are."""
    assembly = _Assembly(recorded=recorded)
    assembly.run()
    first = next((item for item in recorded if isinstance(item, ModelExchange)), None)
    turns = first.sent if first else ()
    texts = [turn.content for turn in turns if turn.role == "system" and isinstance(turn.content, str)]
    return Assembled(
        steps=tuple(assembly.steps),
        notes=tuple(assembly.notes),
        input={"messages": [turn.raw for turn in turns if turn.role != "system"]},
        system="\n\n".join(texts) if texts else None,
        ends_on_answer=bool(assembly.steps) and isinstance(assembly.steps[-1], ToolStep),
    )


@dataclass
class _Assembly:
    recorded: Sequence[Recorded]
    steps: list[Step] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    claimed: set[int] = field(default_factory=set)
    heard: set[str] = field(default_factory=set)

    def run(self) -> None:
        for at, item in enumerate(self.recorded):
            if isinstance(item, ModelExchange):
                self._people(item)
                self.steps.append(item.step)
                self._tools(at, item)
            elif at not in self.claimed:
                self.steps.append(item)
        self._strays()

    def _people(self, exchange: ModelExchange) -> None:
        """What people said since the agent spoke last, once: a request that is sent again repeats it."""
        said = max((n for n, turn in enumerate(exchange.sent) if turn.role == "assistant"), default=None)
        if said is None:
            return
        for at in range(said + 1, len(exchange.sent)):
            turn, spoken = exchange.sent[at], exchange.sent[said]
            known = digest([_comparable(item.raw) for item in exchange.sent[: at + 1]])
            if turn.role == "user" and not turn.answers and known not in self.heard and not spoken.calls:
                self.heard.add(known)
                self.steps.append(
                    HumanStep(source=exchange.step.source, question=spoken.content, decision=turn.content)
                )

    def _tools(self, at: int, exchange: ModelExchange) -> None:
        calls = exchange.asked
        if not calls:
            return
        answers = self._answers(at, calls)
        for index, call in enumerate(calls):
            ran = self._ran(at, call)
            answer = answers[index]
            if ran is None and answer is None:
                text = "a tool call has no answer in the file"
                self.notes.append(
                    _note("call_without_result", call.source, text, "it cannot be replayed past this call")
                )
            self.steps.append(_tool(call, ran, answer, group=at if len(calls) > 1 else None))

    def _ran(self, at: int, call: AskedCall) -> ToolStep | None:
        """The tool step that is this call's: by id, else the next of this tool with these arguments, else of this
        tool. A step that has another id is another call's."""
        later = [
            (n, item)
            for n, item in enumerate(self.recorded[at + 1 :], at + 1)
            if isinstance(item, ToolStep) and n not in self.claimed and item.tool == call.tool
        ]
        named = [pair for pair in later if call.call_id is not None and pair[1].call_id == call.call_id]
        nameless = [pair for pair in later if call.call_id is None or pair[1].call_id is None]
        same = [pair for pair in nameless if pair[1].arguments == call.arguments]
        found = next(iter(named or same or nameless), None)
        if found is None:
            return None
        if not named and len(nameless) > 1:
            text = "a call and its answer were paired by their order"
            self.notes.append(_note("guessed_pairing", found[1].source, text))
        self.claimed.add(found[0])
        return found[1]

    def _answers(self, at: int, calls: tuple[AskedCall, ...]) -> list[GivenAnswer | None]:
        """What the first later request that holds these calls says of them, one for each."""
        for item in self.recorded[at + 1 :]:
            if isinstance(item, ModelExchange):
                block = _block(item.sent, calls)
                if block is not None:
                    return self._paired(calls, block)
        return [None] * len(calls)

    def _paired(self, calls: tuple[AskedCall, ...], block: list[GivenAnswer]) -> list[GivenAnswer | None]:
        wanted = [call.call_id for call in calls]
        given = {answer.call_id: answer for answer in block}
        clear = None not in wanted and len(set(wanted)) == len(wanted) and len(given) == len(block)
        if clear and set(given) <= set(wanted):
            return [given.get(name) for name in wanted]
        if len(block) != len(calls) or len(calls) > 1:
            text = "calls and answers of one assistant turn were paired by their order"
            self.notes.append(_note("guessed_pairing", calls[0].source, text))
        for extra in block[len(calls) :]:
            self.notes.append(_note("result_without_call", extra.source, "an answer has no call beside it"))
        return [block[n] if n < len(block) else None for n in range(len(calls))]

    def _strays(self) -> None:
        """Answers in the requests that belong to no assistant turn with calls."""
        seen: set[str] = set()
        for item in self.recorded:
            if not isinstance(item, ModelExchange):
                continue
            for answer in _uncalled(item.sent):
                if answer.source not in seen:
                    seen.add(answer.source)
                    self.notes.append(_note("result_without_call", answer.source, "an answer has no call before it"))


def _tool(call: AskedCall, ran: ToolStep | None, answer: GivenAnswer | None, *, group: int | None) -> ToolStep:
    """The call as asked for, with what the tool's own record says of its answer, else what the next request says."""
    told = ran if ran is not None and ran.answered else answer
    return ToolStep(
        source=call.source,
        started_at=ran.started_at if ran else None,
        ended_at=ran.ended_at if ran else None,
        tool=call.tool,
        arguments=call.arguments,
        value=told.value if told else None,
        error=(told.error if told else None) or (ran.error if ran else None),
        answered=told is not None,
        group=group,
        call_id=call.call_id,
        timing=ran.timing if ran else None,
    )


def _block(sent: Sequence[Turn], calls: tuple[AskedCall, ...]) -> list[GivenAnswer] | None:
    """The answers right after the last assistant turn with exactly these calls; None if no turn has them."""
    for at in reversed(range(len(sent))):
        if sent[at].calls and _same_calls(sent[at].calls, calls):
            return list(_following(sent, at))
    return None


def _following(sent: Sequence[Turn], at: int) -> Iterator[GivenAnswer]:
    for turn in sent[at + 1 :]:
        if not turn.answers:
            return
        yield from turn.answers


def _uncalled(sent: Sequence[Turn]) -> Iterator[GivenAnswer]:
    called = False
    for turn in sent:
        if turn.answers and not called:
            yield from turn.answers
        called = bool(turn.calls) or (called and bool(turn.answers))


def _same_calls(some: tuple[AskedCall, ...], others: tuple[AskedCall, ...]) -> bool:
    return [(call.tool, call.arguments) for call in some] == [(call.tool, call.arguments) for call in others]


def _comparable(raw: JSON) -> JSON:
    return raw if isinstance(raw, dict | list | str) else str(raw)


def _note(kind: Any, source: str, text: str, cost: str = "") -> Note:
    return Note(kind=kind, source=source, text=text, cost=cost, boundary="tool")
