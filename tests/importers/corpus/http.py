"""HTTP recordings: VCR cassettes and bare answers of providers."""

from __future__ import annotations

from tests.importers.corpus import Read, Refused

READ: tuple[Read, ...] = (
    # four parallel calls in one message, all answered in one user message
    Read(
        file="pydantic__pydantic-ai/test_anthropic__test_multiple_parallel_tool_calls.yaml",
        format="vcr",
        models=2,
        tools=4,
        answered=4,
    ),
    # one streamed call with two redacted thoughts
    Read(
        file="pydantic__pydantic-ai/test_anthropic__test_anthropic_model_thinking_part_redacted_stream.yaml",
        format="vcr",
        models=1,
    ),
    # first_tool, second_tool, the answer, and a question of the user's; both calls have the same id in their responses
    Read(
        file="pydantic__pydantic-ai/test_bedrock_mantle__test_reused_tool_call_ids(request).yaml",
        format="vcr",
        models=4,
        tools=2,
        answered=2,
        people=1,
    ),
    # five exchanges: two POSTs in the background, the first fetched once and the second twice
    Read(
        file="pydantic__pydantic-ai/test_openai_responses__test_background_mode_with_tool_vcr.yaml",
        format="vcr",
        models=2,
        tools=1,
        answered=1,
    ),
    # the second request holds what the user asked next and the id of the first response
    Read(
        file="pydantic__pydantic-ai/test_openai_responses__test_openai_previous_response_id.yaml",
        format="vcr",
        models=2,
        people=1,
    ),
    # the tool raised, and its error text is an ordinary output
    Read(
        file="pydantic__logfire/test_openai_agents__test_function_tool_exception.yaml",
        format="vcr",
        models=2,
        tools=1,
        answered=1,
    ),
    # the provider searched files (no tool call of the workflow's); then the user asked something else
    Read(file="pydantic__logfire/test_openai_agents__test_file_search.yaml", format="vcr", models=2, people=1),
    # two parallel calls, both answered in the second request
    Read(
        file="open-telemetry__opentelemetry-python-contrib/cassettes__test_chat_completion_tool_calls_with_content.yaml",
        format="vcr",
        models=2,
        tools=2,
        answered=2,
    ),
    # one streamed answer with two calls; the file ends there
    Read(
        file="open-telemetry__opentelemetry-python-contrib/"
        "cassettes__test_chat_completion_multiple_tools_streaming_with_content.yaml",
        format="vcr",
        models=1,
        tools=2,
        mode="prefix",
    ),
    # one call that is answered with 404
    Read(
        file="open-telemetry__opentelemetry-python-contrib/cassettes__test_chat_completion_404.yaml",
        format="vcr",
        models=1,
        failed=1,
    ),
    # the same question recorded twice, each time answered with two calls; nothing follows
    Read(
        file="traceloop__openllmetry/test_functions__test_open_ai_function_calls_tools_streaming_parallel.yaml",
        format="vcr",
        models=2,
        tools=4,
        mode="prefix",
    ),
    # one retrieval from a knowledge base, no model
    Read(file="Arize-ai__openinference/cassettes__test_retrieve.yaml", format="vcr", retrievals=1, mode="forensic"),
    # two calls in one response; the second request holds their outputs and the id of the first response
    Read(
        file="Arize-ai__openinference/test_processor__test_multiple_tools.yaml",
        format="vcr",
        models=2,
        tools=2,
        answered=2,
    ),
    # one streamed answer with one call; the file ends there
    Read(
        file="langchain-ai__langsmith-sdk/cassettes__test_openai_test_tool_call_chunking.yaml",
        format="vcr",
        models=1,
        tools=1,
        mode="prefix",
    ),
    # two parallel calls in a gzipped stream, both answered in the second request
    Read(
        file="simonw__llm-anthropic/test_anthropic__test_tools.yaml",
        format="vcr",
        models=2,
        tools=2,
        answered=2,
    ),
    # one answer after a person denied an approval; what the provider ran itself is listed and was not run
    Read(
        file="vercel__ai/__fixtures____openai-mcp-tool-approval.2.json",
        format="provider-response",
        models=1,
        mode="forensic",
    ),
    # one streamed answer that ends with an error event
    Read(
        file="vercel__ai/__fixtures____openai-error.1.chunks.txt",
        format="provider-response",
        models=1,
        failed=1,
        mode="forensic",
    ),
    # 15 streamed answers; code that the provider ran calls rollDie of the workflow's in each of the first 14
    Read(
        file="vercel__ai/__fixtures____anthropic-programmatic-tool-calling.1.chunks.txt",
        format="provider-response",
        models=15,
        tools=14,
        mode="forensic",
    ),
)
REFUSED: tuple[Refused, ...] = (
    Refused(
        file="open-telemetry__opentelemetry-python-contrib/cassettes__test_converse_stream_with_content_tool_call.yaml",
        id="import.not-supported",
        why="both exchanges are Bedrock ConverseStream calls, answered in the binary AWS event stream",
    ),
)
