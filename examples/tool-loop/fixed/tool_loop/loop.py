"""The loop, with guards before every tool call."""

from __future__ import annotations

import json
from typing import Any

from tool_loop.conversation import Conversation
from tool_loop.guards import Guards, load_guards
from tool_loop.ledger import Ledger
from tool_loop.settings import load_settings
from tool_loop.tools import arguments_of, name_of, run_tool

REFUSALS_BEFORE_HANDOFF = 3


def replay(session: Any) -> None:
    settings, guards = load_settings(), load_guards()
    conversation, ledger = Conversation(session), Ledger()
    refusals = 0
    while True:
        message = session.model.call(conversation.request())["message"]
        conversation.add_model(message)
        calls = message.get("tool_calls") or []
        refusals += sum(not _answered(session, conversation, ledger, guards, call) for call in calls)
        if refusals >= REFUSALS_BEFORE_HANDOFF:
            session.finish(
                "I may not do this on my own; a colleague takes over. My last attempts changed nothing.",
                status="blocked",
                action="handoff",
            )
            return
        if any(name_of(call) in settings.tools_end for call in calls):
            break
        if calls:
            continue
        if settings.answer_ends:
            break
        reply = session.human.ask(message.get("content"))
        ledger.spoke(message.get("content"), reply)
        conversation.add_person(reply)
        if settings.ended_by_person(reply):
            break
    session.finish(conversation.last_said(), status="done")


def _answered(session: Any, conversation: Conversation, ledger: Ledger, guards: Guards, call: dict[str, Any]) -> bool:
    """Run the call unless a rule refuses it. A refusal goes to the model as the tool's answer, so that it can do what
    the rule asks for instead; the tool itself is not called. False if it was refused."""
    tool, arguments = name_of(call), arguments_of(call)
    refusal = guards.refusal(tool, arguments, ledger)
    if refusal is not None:
        conversation.add_answer(call, json.dumps({"refused_by": refusal.rule, "reason": refusal.reason}))
        return False
    answer = run_tool(session, call)
    ledger.called(tool, arguments, answer)
    conversation.add_answer(call, answer)
    return True
