"""What a recorded run said in the end."""

from __future__ import annotations

from replaycases.importers.model_answers import answer_of
from replaycases.importers.neutral import ModelStep, NeutralRun


def final_message(run: NeutralRun) -> str | None:
    """The text of the last step, where that is the model's answer and asks for no more calls. None where the recording
    breaks off, ends otherwise, or holds no text there."""
    last = run.steps[-1] if run.steps else None
    if run.cut or not isinstance(last, ModelStep) or not last.answered:
        return None
    answer = answer_of(last.response, last.source)
    if answer.failed or any(answer.choices):
        return None
    return answer.said if isinstance(answer.said, str) and answer.said.strip() else None
