"""Run the agent live, and record it: `python record.py FILE`. The shop and its model are made up and stand in here."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path
from typing import Any

from replaycases.harness.recording import RecordingSession

sys.path.insert(0, str(Path(__file__).parent / "agent"))

from recorded_agent import agent

SERVING = {"provider": "example", "requested_model": "m-1", "api_version": "2026-01", "settings": {"temperature": 0}}


def refund(arguments: Any) -> Any:
    raise TimeoutError("the payment service did not answer in 5 s")


def ask_model(request: Any, serving: Any) -> Any:
    calls = [{"tool": "refund", "arguments": {"order": "o-17"}}]
    return {"text": "Your refund is done.", "calls": calls, "tokens": [41, 12]}


def search(query: Any, parameters: Any) -> Any:
    return [{"id": "refunds#1", "text": "What arrived broken is refunded."}]


def main(path: str) -> None:
    with RecordingSession(
        path,
        input={"message": "The lamp of order o-17 arrived broken."},
        identity={"subject": "customer-4", "roles": ["customer"]},
        tools={"refund": refund},
        model=ask_model,
        retrieval=search,
        random={"attempt": lambda: str(uuid.uuid4())},
        usage=lambda response: dict(zip(("input_tokens", "output_tokens"), response["tokens"], strict=True)),
        workflow_version="1.0.0",
        prompt_version="3",
        commit="example-recorded-agent",
        serving=SERVING,
        time_zone="Europe/Berlin",
        templates=[{"name": "system", "version": "3", "content": agent.SYSTEM}],
        budget_seconds=30,
    ) as session:
        agent.replay(session)


if __name__ == "__main__":
    main(sys.argv[1])
