"""Traces of tracing tools, sessions of coding agents, transcripts, and formats that are refused by their name."""

from __future__ import annotations

from tests.importers.corpus import Read, Refused

READ: tuple[Read, ...] = (
    # two starts and two ends of the same run: one model call
    Read(file="langchain-ai__langsmith-sdk/test_data__langsmith_py_wrap_openai_.json", format="langsmith", models=1),
    # nine runs, of which two are llm and two tool
    Read(
        file="generated-by-released-tools/langsmith_langchain_ingest.json",
        format="langsmith",
        models=2,
        tools=2,
        answered=2,
    ),
    # two generations and a tool; the second generation's input holds the call and its output
    Read(
        file="langfuse__langfuse/framework-traces__openai-agents-2025-09-30.trace.json",
        format="langfuse",
        models=2,
        tools=1,
        answered=1,
    ),
    # two generations; the tool is a span
    Read(
        file="langfuse__langfuse/framework-traces__langgraph-python-2025-08-22.trace.json",
        format="langfuse",
        models=2,
        tools=1,
        answered=1,
    ),
    # four generations, the first three of which are one message: a text and two calls. What the last was asked is lost
    Read(
        file="langfuse__langfuse/framework-traces__claude-agent-2025-12-22.trace.json",
        format="langfuse",
        models=2,
        tools=2,
        answered=2,
        mode="prefix",
    ),
    # four generations, three tools, and a call of the last generation without an answer; a second question
    Read(
        file="langfuse__langfuse/framework-traces__pydantic-ai-tools-2025-12-04.trace.json",
        format="langfuse",
        models=4,
        tools=4,
        answered=3,
        people=1,
        mode="prefix",
    ),
)
REFUSED: tuple[Refused, ...] = ()
