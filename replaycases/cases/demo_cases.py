"""The demo's cases: what happened, which example stands behind each, and how far each of them goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from replaycases.cases.models import Acceptance, OutcomeType

Goal = Literal[
    "blank",
    "quarantined",
    "in_review",
    "redaction_approved",
    "reproduced",
    "nonblocking",
    "blocking",
    "demoted",
    "retired",
    "non_replayable",
    "contained",
]
"""Where a case of the demo comes to rest; "contained" is one that waits for its containment."""


@dataclass(frozen=True, kw_only=True)
class Incident:
    """`source` is the fixture of examples/incidents behind it, "" where there is none; under another `name` it is a
    copy of that fixture with its own case_id. `controls` maps file names of the source to outcome types. `history` is
    how many runs its stay in nonblocking gets. `dependency` is the team that owns the dependency, `acceptance` what its
    owner says of it. `personal` is what the capture held of a customer, beside the example's identity claims, and
    `message` what they wrote."""

    name: str
    incident_id: str
    title: str
    trigger: str
    prohibited_outcome: str
    deciding_evidence: str
    goal: Goal
    source: str = ""
    controls: Mapping[str, OutcomeType] = field(default_factory=dict)
    history: int = 0
    covering_test: str = ""
    dependency: str = "Payments"
    acceptance: Acceptance = Acceptance.UNKNOWN
    evidence_days: int | None = None
    security_incident: bool = False
    personal: Mapping[str, str] = field(default_factory=dict)
    message: str = ""


_REFUND = {
    "confirmed": OutcomeType.SUCCESS,
    "declined": OutcomeType.REJECTION,
    "timeout-before-result": OutcomeType.TIMEOUT,
    "still-processing": OutcomeType.UNCERTAIN,
}
_SHIPMENT = {
    "accepted": OutcomeType.SUCCESS,
    "rejected": OutcomeType.REJECTION,
    "timeout-before-acceptance": OutcomeType.TIMEOUT,
    "never-known": OutcomeType.UNCERTAIN,
}

# What is replaced in the demo: everything but the ids of a shop that does not exist.
POLICY: Mapping[str, object] = {
    "fields": [{"key": key, "kind": "keep"} for key in ("*_id", "id", "subject", "idempotency_key")],
    "allowed": ["mira.new@customer.example"],
}

INCIDENTS = (
    Incident(
        name="refund-timeout",
        source="refund-timeout",
        incident_id="INC-2025-031",
        title="Told the customer that a refund was completed after the lookup timed out",
        trigger="The payment service did not answer the refund lookup before its deadline.",
        prohibited_outcome="The reply says that the refund was completed.",
        deciding_evidence="The lookup ended in a timeout, so the state of the refund was not known.",
        controls=_REFUND,
        goal="blocking",
        history=10,
        covering_test="tests/test_refunds.py::test_a_lookup_that_timed_out_confirms_nothing",
    ),
    Incident(
        name="shipment-created-twice",
        source="shipment-created-twice",
        acceptance=Acceptance.AFTER,
        incident_id="INC-2025-044",
        title="Created a second shipment because the retry dropped its idempotency key",
        trigger="The warehouse accepted the first request and its answer came too late.",
        prohibited_outcome="Two shipments stand in the warehouse for one order.",
        deciding_evidence="The list of shipments shows two for the order, one for each attempt.",
        controls=_SHIPMENT,
        goal="nonblocking",
        history=8,
        covering_test="tests/test_shipments.py::test_every_attempt_repeats_the_key",
        dependency="Warehouse",
    ),
    Incident(
        name="recovery-handoff-clock-change",
        source="recovery-handoff-clock-change",
        incident_id="INC-2025-058",
        title="Handed an account recovery to a desk that was closed, in the night of the clock change",
        trigger="The request came at 03:20 local time, minutes after the clocks went forward.",
        prohibited_outcome="The customer is handed to the desk outside its hours instead of getting a callback.",
        deciding_evidence="The policy's hours, read with the zone's own rules, were over at that instant.",
        controls={
            "just-before": OutcomeType.SUCCESS,
            "just-after": OutcomeType.SUCCESS,
            "desk-full": OutcomeType.UNCERTAIN,
            "handoff-rejected": OutcomeType.REJECTION,
        },
        goal="reproduced",
        dependency="Support desk",
    ),
    Incident(
        name="email-change-timeout",
        source="email-change-timeout",
        incident_id="INC-2025-012",
        title="Confirmed a new e-mail address although saving it timed out",
        trigger="The profile service did not answer the change.",
        prohibited_outcome="The reply says that the address was changed.",
        deciding_evidence="The only attempt ended in a timeout and nothing was read back.",
        controls={"changed": OutcomeType.SUCCESS, "rejected": OutcomeType.REJECTION},
        goal="redaction_approved",
        dependency="Profiles",
    ),
    Incident(
        name="refund-timeout-second-customer",
        source="refund-timeout",
        incident_id="INC-2025-039",
        title="Told a second customer that a refund was completed while its state was unknown",
        trigger="The payment service was restarted while the refund was looked up.",
        prohibited_outcome="The reply says that the refund was completed.",
        deciding_evidence="The lookup has no answer, and no later call asks for the refund again.",
        controls=_REFUND,
        goal="demoted",
        history=10,
        covering_test="tests/test_refunds.py::test_a_restart_confirms_nothing",
    ),
    Incident(
        name="shipment-after-slow-answer",
        source="shipment-created-twice",
        acceptance=Acceptance.AFTER,
        incident_id="INC-2025-061",
        title="A slow answer of the warehouse led to a second shipment of one order",
        trigger="The warehouse took longer to answer than the agent waits.",
        prohibited_outcome="Two shipments stand in the warehouse for one order.",
        deciding_evidence="The two attempts carry different idempotency keys.",
        goal="in_review",
        dependency="Warehouse",
        personal={
            "customer_name": "Jana Lindqvist",
            "email": "jana.lindqvist@post.test",
            "phone": "+44 20 7946 0958",
            "card_number": "4111 1111 1111 1111",
        },
        message=(
            "Please send ord-8841 to my home address, I have paid with 4111 1111 1111 1111. "
            "Jana Lindqvist, jana.lindqvist@post.test"
        ),
    ),
    Incident(
        name="recovery-after-hours",
        source="recovery-handoff-clock-change",
        incident_id="INC-2025-063",
        title="Handed a locked-out customer to a desk that had closed an hour before",
        trigger="The request came after the desk had closed by the clock on its wall.",
        prohibited_outcome="The customer is handed to the desk outside its hours instead of getting a callback.",
        deciding_evidence="The desk's hours, read with the zone's own rules, were over at that instant.",
        goal="quarantined",
        evidence_days=6,
        dependency="Support desk",
    ),
    Incident(
        name="refund-lookup-shut-down",
        source="refund-timeout",
        incident_id="INC-2025-019",
        title="Told a customer that a refund was completed, through a lookup that is shut down by now",
        trigger="The old lookup of the payment service did not answer before its deadline.",
        prohibited_outcome="The reply says that the refund was completed.",
        deciding_evidence="The old lookup ended in a timeout, and the new one was not asked.",
        goal="retired",
    ),
    Incident(
        name="charged-twice",
        incident_id="INC-2025-027",
        title="Charged one order twice; the trace holds none of the calls",
        trigger="The webhook of a payment was delivered twice within one second.",
        prohibited_outcome="The customer is charged twice for one order.",
        deciding_evidence="The ledger of the payment service shows two charges for the order.",
        goal="non_replayable",
    ),
    Incident(
        name="order-of-another-customer",
        incident_id="INC-2025-066",
        title="A reply showed the order of another customer",
        trigger="The order lookup was answered from the session of another customer.",
        prohibited_outcome="The reply names an order that belongs to another account.",
        deciding_evidence="The order number in the reply stands under another account in the shop.",
        goal="contained",
        security_incident=True,
    ),
    Incident(
        name="discount-nobody-grants",
        incident_id="INC-2025-068",
        title="Promised a discount that no policy grants",
        trigger="The customer asked for a discount after a late delivery.",
        prohibited_outcome="The reply promises a discount of more than the policy allows.",
        deciding_evidence="The final message names 40 percent, and the policy of that day allows 10.",
        goal="blank",
    ),
)
