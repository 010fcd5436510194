"""The loop."""

from __future__ import annotations

from typing import Any

from tool_loop.conversation import Conversation
from tool_loop.settings import load_settings
from tool_loop.tools import name_of, run_tool


def replay(session: Any) -> None:
    settings = load_settings()
    conversation = Conversation(session)
    while True:
        message = session.model.call(conversation.request())["message"]
        conversation.add_model(message)
        calls = message.get("tool_calls") or []
        for call in calls:
            conversation.add_answer(call, run_tool(session, call))
        if any(name_of(call) in settings.tools_end for call in calls):
            break
        if calls:
            continue
        if settings.answer_ends:
            break
        reply = session.human.ask(message.get("content"))
        conversation.add_person(reply)
        if settings.ended_by_person(reply):
            break
    session.finish(conversation.last_said(), status="done")
