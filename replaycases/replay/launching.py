"""What is started inside the sandbox for an implementation, and how its clock is frozen."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from replaycases.fixture.instants import parse_instant
from replaycases.fixture.model import Fixture
from replaycases.replay.implementation import Implementation, PythonAdapter
from replaycases.replay.sandbox.base import Launch, Mount, Tier
from replaycases.replay.sandbox.interpreter import usable_interpreter
from replaycases.replay.staging import HARNESS_PACKAGE, Staged
from replaycases.replay.toolchain import Toolchain, describe

WORKFLOW, HARNESS = "/workflow", "/harness"

_BOOTSTRAP = f"import sys; sys.path[0] = sys.argv.pop(1); from {HARNESS_PACKAGE}.child import main; sys.exit(main())"


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """An implementation that `tier` can start. `toolchain` is None for a command without an interpreter of its own."""

    tier: Tier
    implementation: Implementation
    copies: Staged
    interpreter: Path | None
    toolchain: Toolchain | None

    @property
    def frozen_by(self) -> Literal["time-machine", "stdlib"] | None:
        """What stops the workflow's clock: our choice, from what its interpreter has; None if it is not frozen."""
        if self.implementation.clock != "frozen" or self.toolchain is None:
            return None
        return "time-machine" if self.toolchain.time_machine else "stdlib"


def prepare(tier: Tier, implementation: Implementation, copies: Staged) -> Prepared:
    """Raises EnvironmentUnavailable if there is no interpreter to run it with."""
    named = implementation.python
    needed = named is not None or isinstance(implementation.adapter, PythonAdapter)
    interpreter = usable_interpreter(named) if needed else None
    toolchain = describe(tier, interpreter) if interpreter else None
    return Prepared(
        tier=tier, implementation=implementation, copies=copies, interpreter=interpreter, toolchain=toolchain
    )


def launch_of(prepared: Prepared, fixture: Fixture) -> Launch:
    """The working directory is the mounted folder; the local time zone is the case's, or UTC."""
    workflow = Mount(source=prepared.copies.workflow, target=WORKFLOW)
    harness = Mount(source=prepared.copies.harness, target=HARNESS)
    inside = prepared.tier.path_inside
    adapter = prepared.implementation.adapter
    if isinstance(adapter, PythonAdapter):
        argv = _python_argv(prepared, fixture, adapter.target, inside(workflow), inside(harness))
    else:
        argv = adapter.argv
    # Without a frozen clock and randomness nothing is said about determinism, so the order of sets stays random too.
    seed = "0" if prepared.frozen_by else "random"
    return Launch(
        argv=argv,
        mounts=(workflow, harness) if isinstance(adapter, PythonAdapter) else (workflow,),
        workdir=inside(workflow),
        env={"TZ": fixture.time_zone or "UTC", "PYTHONHASHSEED": seed},
        interpreter=prepared.interpreter,
    )


def _python_argv(prepared: Prepared, fixture: Fixture, target: str, workflow: str, harness: str) -> tuple[str, ...]:
    by = prepared.frozen_by
    freeze = {"at": _nanoseconds(fixture.frozen_at), "by": by} if by else None
    options = json.dumps({"target": target, "workdir": workflow, "freeze": freeze})
    return (str(prepared.interpreter), "-s", "-c", _BOOTSTRAP, harness, options)


def _nanoseconds(instant: str) -> int:
    """Since 1970. Asked here, so that the sandbox need not import what reads instants."""
    moment = parse_instant(instant)
    if moment is None:
        raise ValueError(f"not an ISO 8601 instant with an offset: {instant!r}")
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000
