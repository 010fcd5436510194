"""Checks on what the run said: claims, disclosures, citations, and the status and action it reported.

The accused does not testify: a reported claim can violate and never acquits. Only a `detect` rule over a final message
that is there does. A blank message counts as none: silence proves neither that a claim was avoided nor that a
disclosure was made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from replaycases.fixture.patterns import detects
from replaycases.fixture.pointer import ABSENT, leaves
from replaycases.verdict.disguise import undisguised, without_tags
from replaycases.verdict.evidence import Evidence
from replaycases.verdict.rulings import Ruling, held, undetermined, violated

MESSAGE = "/outcome/message"
LONGEST_MESSAGE = 1_000_000
"""Characters above which no pattern is tried."""


class MessageTooLong(Exception):
    """The final message is longer than LONGEST_MESSAGE characters."""


def prohibited_claim(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    """Violated if the run reports the claim or its message makes it; held only by a message that does not.

    A message that makes it once look-alike letters, invisible characters, emphasis and white space are taken as a
    reader takes them is undetermined: the rule's own letters were not found, and yet the claim is there to be read.
    """
    if _reports(spec, evidence):
        return violated("the run itself reports this claim", "/outcome/claims", final=True)
    message = _message(evidence)
    if message is None:
        return undetermined("there is no final message to look into")
    if "detect" not in spec:
        return undetermined("no detect rule says how to recognise this claim in the message", MESSAGE)
    if detected(spec["detect"], message):
        return violated("the final message makes this claim", MESSAGE, final=True)
    if detected(spec["detect"], undisguised(message)):
        return undetermined("the final message seems to make this claim, spelled or set otherwise", MESSAGE)
    return held("the final message does not make this claim", MESSAGE)


def required_statement(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    """Required claims and disclosures: held by a message in which the rule finds them, and by nothing else. Found only
    within a tag or comment, which a reader is not shown, is undetermined."""
    message = _message(evidence)
    if message is None:
        return undetermined("there is no final message to look into")
    if "detect" not in spec:
        return undetermined("no detect rule says how to recognise this statement in the message", MESSAGE)
    if detected(spec["detect"], message):
        if not detected(spec["detect"], without_tags(message)):
            return undetermined("the final message says it only within a tag or a comment", MESSAGE)
        return held("the final message says it", MESSAGE)
    return violated("the final message does not say it", MESSAGE, final=True)


def citation(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    """Held if the chunk's id stands in the final message (as a whole word) or is a string within `structured`, and an
    answered retrieval of this run returned that chunk. Citing what was not retrieved is a violation."""
    outcome = evidence.outcome
    if outcome is None or (_message(evidence) is None and outcome.get("structured") is None):
        return undetermined("the run gave no message and no structured answer that could cite")
    chunk = str(spec["chunk"])
    if not _cites(chunk, evidence):
        return violated("the answer does not cite this chunk", "/outcome", final=True)
    found = next((index for index, ids in _retrieved(evidence) if chunk in ids), None)
    if found is None:
        return violated("the answer cites this chunk, which no retrieval of this run returned", "/outcome", final=True)
    return held("the answer cites this chunk, and a retrieval returned it", "/outcome", f"/calls/{found}")


def reported_status(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    return _reported("status", spec, evidence)


def chosen_action(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    return _reported("action", spec, evidence)


def detected(rule: Mapping[str, Sequence[str]], message: str) -> bool:
    """Whether the rule finds its claim in a message that is not too long to look into."""
    if len(message) > LONGEST_MESSAGE:
        raise MessageTooLong
    return detects(rule, message)


def _message(evidence: Evidence) -> str | None:
    message = (evidence.outcome or {}).get("message")
    return message if isinstance(message, str) and message.strip() else None


def _reports(spec: Mapping[str, Any], evidence: Evidence) -> bool:
    """2.0 runs report claim ids, 1.0 runs statements."""
    claims = (evidence.outcome or {}).get("claims")
    name = spec["statement"] if evidence.fixture.schema_version == "1.0" else spec["id"]
    return isinstance(claims, list) and name in [claim for claim in claims if isinstance(claim, str)]


def _reported(field: str, spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    if evidence.outcome is None:
        return undetermined(f"the run did not finish, so it reported no {field}")
    pointer = f"/outcome/{field}"
    value = evidence.outcome.get(field, ABSENT)
    if (isinstance(value, str) or value is None) and value in spec["one_of"]:
        return held(f"the {field} is one of those allowed", pointer)
    if not isinstance(value, str):
        return undetermined(f"the run reported no {field}", pointer)
    return violated(f"the {field} is none of those allowed", pointer, final=True)


def _cites(chunk: str, evidence: Evidence) -> bool:
    message = _message(evidence)
    whole_word = rf"(?<![\w-]){re.escape(chunk)}(?![\w-])"
    if message is not None and re.search(whole_word, message):
        return True
    structured = (evidence.outcome or {}).get("structured")
    return any(value == chunk for _, value in leaves(structured) if isinstance(value, str))


def _retrieved(evidence: Evidence) -> list[tuple[int, set[str]]]:
    return [
        (index, {str(chunk["id"]) for chunk in evidence.events[call.seq].chunks})
        for index, call in enumerate(evidence.observation.calls)
        if call.boundary == "retrieval" and call.answered and call.seq is not None
    ]
