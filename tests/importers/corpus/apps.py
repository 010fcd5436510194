"""Traces of tracing tools, sessions of coding agents, transcripts, and formats that are refused by their name."""

from __future__ import annotations

from tests.importers.corpus import Read, Refused

_AIRLINE = "sierra-research__tau-bench"


def _airline(file: str, models: int, tools: int, people: int, *, run: int = 0, runs: int = 1) -> Read:
    """A run that ends with a person's words; every call in it is answered, and all but the first of their words answer
    the agent's."""
    counts = {"models": models, "tools": tools, "answered": tools, "people": people}
    return Read(file=f"{_AIRLINE}/{file}", format="chat-transcript", run=run, runs=runs, **counts)


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
    # eight lines: the main conversation is one answer, whose line before and whose call's answer are missing
    Read(
        file="handgemacht-ai__claude-code-log/test_data__sidechain.jsonl",
        format="claude-code",
        runs=2,
        models=1,
        tools=1,
        mode="forensic",
    ),
    # the subagent: three messages, two of two lines each; one call answered, one not; a line is missing
    Read(
        file="handgemacht-ai__claude-code-log/test_data__sidechain.jsonl",
        format="claude-code",
        run=1,
        runs=2,
        models=3,
        tools=2,
        answered=1,
        mode="prefix",
    ),
    # twelve lines of ten messages, nine calls, six of the nine answers marked as errors
    Read(
        file="handgemacht-ai__claude-code-log/experiments-claude_p.jsonl",
        format="claude-code",
        models=10,
        tools=9,
        answered=9,
        failed=6,
    ),
    # four messages and three answers; what was asked at the start is not in the file
    Read(
        file="anthropics__claude-code-action/fixtures__sample-turns.json",
        format="claude-code",
        models=4,
        tools=3,
        answered=3,
        mode="forensic",
    ),
    _airline("airline_60_runs.json", 15, 8, 7, run=0, runs=60),
    _airline("airline_60_runs.json", 8, 0, 8, run=7, runs=60),
    _airline("airline_60_runs.json", 6, 1, 5, run=31, runs=60),
    _airline("airline_60_runs.json", 15, 9, 6, run=59, runs=60),
    _airline("incidents/airline_idx014_task14_trial0.json", 14, 8, 6),
    _airline("incidents/airline_idx017_task17_trial0.json", 18, 11, 7),
    _airline("incidents/airline_idx025_task25_trial0.json", 15, 7, 8),
    _airline("incidents/airline_idx076_task26_trial1.json", 20, 10, 10),
    _airline("incidents/airline_idx139_task39_trial2.json", 6, 2, 4),
    _airline("incidents/airline_idx150_task00_trial3.json", 22, 13, 9),
    _airline("incidents/control_pass_idx026_task26_trial0.json", 15, 8, 7),
    _airline("incidents/control_pass_idx039_task39_trial0.json", 11, 1, 10),
)
_NOT_READ = "the format is known and not read yet"


def _refused(file: str) -> Refused:
    return Refused(file=file, id="import.not-supported", why=_NOT_READ)


REFUSED: tuple[Refused, ...] = (
    _refused("Arize-ai__openinference/collector-integration-agent-a_3453170410.har"),
    _refused("mitmproxy__mitmproxy/flows__event_stream.har"),
    _refused("mitmproxy__mitmproxy/har_files__with-bom.har"),
    _refused("UKGovernmentBEIS__inspect_ai/test_eval_log__log_tool_call_error.json"),
    _refused("UKGovernmentBEIS__inspect_ai/test_logs__2025-05-12T20-28-26-04-00_security-guide.json"),
    _refused("UKGovernmentBEIS__inspect_ai/test_eval_log__log_with_nan.txt"),
    _refused("UKGovernmentBEIS__inspect_ai/logs__2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval"),
    _refused("SWE-agent__SWE-agent/demonstrations__function_calling_simple.traj"),
    _refused("OpenHands__OpenHands/trajs__basic_gui_mode.json"),
    _refused("temporalio__sdk-python/histories__customer-service-workflow-history.json"),
)
