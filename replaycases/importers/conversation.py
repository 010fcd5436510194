"""Model calls with whole requests, and tool runs recorded by themselves -> the steps of one run.

Every format that records model calls tells the same story twice: a response asks for tools, and a later request holds
what they answered. Here the two are put together once, for all formats. Calls and answers are paired by adjacency:
the answers right after the assistant turn with these calls, in the first later request that holds it. Inside that
block ids decide only if they name each call exactly once; else order decides, and a note says so where there is more
than one way. Ids elsewhere are never looked at, because they repeat within real runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from replaycases.importers.exchanges import (
    AGENT_AS_TOOL,
    AgentTool,
    AskedCall,
    Ending,
    GivenAnswer,
    ModelExchange,
    Recorded,
    Turn,
    since,
)
from replaycases.importers.neutral import HumanStep, Note, Step, ToolStep
from replaycases.importers.pairing import Names, RanTools, ToldAnswers, uncalled

JSON = Any


@dataclass(frozen=True, kw_only=True)
class Assembled:
    """`input` is what the first request with a conversation held besides the system text, `system` that text."""

    steps: tuple[Step, ...]
    notes: tuple[Note, ...]
    input: JSON
    system: str | None
    ends_on_answer: bool


def assemble(recorded: Sequence[Recorded], *, ending: Sequence[Turn] = ()) -> Assembled:
    """Put the steps of one run together, in the order in which they are given. A tool step that a model asked for
    moves to the place of its call; the others stay where they are. `ending` is the conversation as it stood at the
    end, where the file holds more of it than the last request."""
    assembly = _Assembly(recorded=[*recorded, Ending(sent=ending)])
    assembly.run()
    first = next((item for item in recorded if isinstance(item, ModelExchange) and item.sent), None)
    turns = first.sent if first else ending
    texts = [turn.content for turn in turns if turn.role == "system" and isinstance(turn.content, str)]
    return Assembled(
        steps=tuple(assembly.steps),
        notes=tuple(assembly.notes),
        input={"messages": [turn.raw for turn in turns if turn.role != "system"]},
        system="\n\n".join(texts) if texts else None,
        ends_on_answer=_ends_on_answer(assembly.steps),
    )


@dataclass
class _Assembly:
    recorded: Sequence[Recorded | Ending]
    steps: list[Step] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    claimed: set[int] = field(default_factory=set)
    heard: set[str] = field(default_factory=set)
    names: Names = field(default_factory=Names)

    def run(self) -> None:
        self.ran = RanTools(self.recorded)
        self.told = ToldAnswers(self.recorded)
        for at, item in enumerate(self.recorded):
            if isinstance(item, ModelExchange):
                self._people(item.sent, item.step.source)
                self.steps.append(item.step)
                self._tools(at, item)
            elif isinstance(item, Ending):
                self._people(item.sent, "")
            elif isinstance(item, AgentTool):
                self.notes.append(_note("left_out", item.source, AGENT_AS_TOOL))
            elif at not in self.claimed:
                self._step(item)
        self._strays()

    def _step(self, step: Step) -> None:
        """A tool call that nobody answered is said to be one, whoever asked for it. One without its arguments cannot be
        compared with anything: it counts as not recorded."""
        if isinstance(step, ToolStep) and not step.answered:
            text, cost = "a tool call has no answer in the file", "it cannot be replayed past this call"
            self.notes.append(_note("call_without_result", step.source, text, cost))
        if isinstance(step, ToolStep) and step.arguments is None:
            text, cost = "a tool was called and the file does not say with which arguments", "it cannot be compared"
            self.notes.append(_note("content_lost", step.source, text, cost))
            step = replace(step, answered=False)
        self.steps.append(step)

    def _people(self, sent: Sequence[Turn], source: str) -> None:
        """What people said since the agent spoke last, once: a request that is sent again repeats it."""
        said = next((n for n in range(len(sent) - 1, -1, -1) if sent[n].role == "assistant"), None)
        if said is None:
            return
        people = [at for at in range(said + 1, len(sent)) if sent[at].role == "user" and not sent[at].answers]
        known = self.names.of(sent) if people else []
        for at in people:
            if known[at] not in self.heard:
                self.heard.add(known[at])
                self._person(sent[said], sent[at], sent[at].source or source)

    def _person(self, spoken: Turn, turn: Turn, source: str) -> None:
        if spoken.calls:
            text = "a person spoke up while the agent was calling tools: it stands in the request and answers nothing"
            self.notes.append(Note(kind="left_out", source=source, text=text, boundary="human"))
        else:
            self.steps.append(HumanStep(source=source, question=spoken.content, decision=turn.content))

    def _tools(self, at: int, exchange: ModelExchange) -> None:
        calls = exchange.asked
        if not calls:
            return
        answers = self._answers(at, calls)
        for index, call in enumerate(calls):
            found = self._ran(at, call)
            if isinstance(found, AgentTool):
                continue
            self._step(_tool(call, found, answers[index], group=at if len(calls) > 1 else None))

    def _ran(self, at: int, call: AskedCall) -> ToolStep | AgentTool | None:
        """The tool run that is this call's, which nobody else claims from here on."""
        found, guessed = self.ran.of(at, call)
        if found is None:
            return None
        item = self.recorded[found]
        assert isinstance(item, ToolStep | AgentTool)
        if guessed:
            text = "a call and its answer were paired by their order"
            self.notes.append(_note("guessed_pairing", item.source, text))
        self.claimed.add(found)
        return item

    def _answers(self, at: int, calls: tuple[AskedCall, ...]) -> list[GivenAnswer | None]:
        """What the first later request that holds these calls says of them, one for each. Some clients write calls
        that were asked for together one by one, each before its answer; their ids then say so."""
        block = self.told.after(at, calls)
        if block is not None:
            return self._paired(calls, block)
        return [next(iter(self.told.after(at, (call,), by_id=True) or ()), None) for call in calls]

    def _paired(self, calls: tuple[AskedCall, ...], block: list[GivenAnswer]) -> list[GivenAnswer | None]:
        wanted = [call.call_id for call in calls]
        given = {answer.call_id: answer for answer in block}
        clear = None not in wanted and len(set(wanted)) == len(wanted) and len(given) == len(block)
        if clear and set(given) <= set(wanted):
            return [given.get(name) for name in wanted]
        if len(block) != len(calls) or len(calls) > 1:
            text = "calls and answers of one assistant turn were paired by their order"
            self.notes.append(_note("guessed_pairing", calls[0].source, text))
        return self._in_order(calls, list(block))

    def _in_order(self, calls: tuple[AskedCall, ...], left: list[GivenAnswer]) -> list[GivenAnswer | None]:
        """The next answer for each call; one that names another tool than a call is not its answer."""
        found: list[GivenAnswer | None] = []
        for call in calls:
            place = next((n for n, answer in enumerate(left) if answer.tool in (None, call.tool)), None)
            found.append(None if place is None else left.pop(place))
        for extra in left:
            self.notes.append(_note("result_without_call", extra.source, "an answer has no call beside it"))
        return found

    def _strays(self) -> None:
        """Answers in the requests that belong to no assistant turn with calls, and calls that cannot be read."""
        seen: set[str] = set()
        for item in self.recorded:
            sent = item.sent if isinstance(item, ModelExchange | Ending) else ()
            for answer in uncalled(sent):
                if answer.source not in seen:
                    seen.add(answer.source)
                    self.notes.append(_note("result_without_call", answer.source, "an answer has no call before it"))
            fresh = (sent[at] for at in range(since(sent), len(sent)))
            for source in (source for turn in fresh for source in turn.unread if source not in seen):
                seen.add(source)
                self.notes.append(unread_call(source))


def unread_call(source: str) -> Note:
    """For a place where a call should be and none can be read."""
    return _note("content_lost", source, "this is no call that can be read", "what was asked for here is unknown")


def _tool(call: AskedCall, ran: ToolStep | None, answer: GivenAnswer | None, *, group: int | None) -> ToolStep:
    """The call as asked for, with what the tool's own record says of its answer, else what the next request says. Where
    the call was recorded without its arguments, the record's stand in for them."""
    told = ran if ran is not None and ran.answered else answer
    return ToolStep(
        source=call.source,
        started_at=ran.started_at if ran else None,
        ended_at=ran.ended_at if ran else None,
        tool=call.tool,
        arguments=ran.arguments if ran and call.arguments is None else call.arguments,
        value=told.value if told else None,
        error=(told.error if told else None) or (ran.error if ran else None),
        answered=told is not None and told.answered,
        group=group,
        call_id=call.call_id,
        timing=ran.timing if ran else None,
    )


def _ends_on_answer(steps: Sequence[Step]) -> bool:
    return bool(steps) and isinstance(steps[-1], ToolStep) and steps[-1].answered


def _note(kind: Any, source: str, text: str, cost: str = "") -> Note:
    return Note(kind=kind, source=source, text=text, cost=cost, boundary="tool")
