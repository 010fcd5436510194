from __future__ import annotations

from tests.importers.corpus import Read, Refused

_BY = "generated-by-released-tools"
_SPANS, _LOGS = f"{_BY}/otel_v2_default.otlp.json", f"{_BY}/otel_v2_default.logs.otlp.json"

# One conversation in each: the model asks for two tools at once, is told what they answered, and ends. A span for each
# of the two model calls and two tool runs, and one for the agent around them.
READ: tuple[Read, ...] = (
    Read(file=f"{_BY}/genai_openai.otlp.json", format="otlp", models=2, tools=2, answered=2),
    Read(file=f"{_BY}/openinference.otlp.json", format="otlp", models=2, tools=2, answered=2),
    Read(file=f"{_BY}/traceloop.otlp.json", format="otlp", models=2, tools=2, answered=2),
    Read(file=f"{_BY}/pydantic_ai_v5.otlp.json", format="otlp", models=2, tools=2, answered=2),
    Read(file=f"{_SPANS} + {_LOGS}", format="otlp", models=2, tools=2, answered=2),
    # Model calls with ids and counts only: what was said is in the records.
    Read(file=_SPANS, format="otlp", models=2, tools=2, answered=2, mode="forensic"),
)
REFUSED: tuple[Refused, ...] = (
    Refused(file=_LOGS, id="import.no-spans", why="nine records of two model calls, and not the spans they belong to"),
)
