"""What a run did, without a value of the evidence: what must be the same once those values are replaced.

Arguments, texts, ids and how much of them was compared or ignored are left out. So is what follows from them alone:
clock reads and draws (one too many ends the run, and that counts), standard error, the exit status.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from replaycases.fixture.canonical import digest
from replaycases.verdict.manifest import Manifest

VERSION = 1
"""Part of every digest: what is left out is another matter in another version, and is not compared with this one."""

_NOTHING = "nothing"


def behaviour_of(manifest: Manifest) -> str:
    """ "sha256:…" over how the run ended, what each check said, the calls in their order with the recorded event that
    answered each, how often each action took effect, and what was left over. The manifest was built or recomputed here:
    of another one it is only a claim."""
    return digest({"version": VERSION, **_done(manifest)})


def differences(before: Manifest, after: Manifest) -> list[str]:
    """What differs between two behaviours, each as a sentence with the names of checks, tools and actions and no other
    value; empty exactly where both are equal. Of the calls the first one that differs is told."""
    old, new = _done(before), _done(after)
    return [
        *_changed("The run ended as", {"": old["status"]}, {"": new["status"]}),
        *_changed("Check", old["checks"], new["checks"]),
        *_first_call(old["calls"], new["calls"]),
        *_changed("Effects of", _counted(old["actions"]), _counted(new["actions"])),
        *_changed("Authorization of", old["decisions"], new["decisions"]),
        *_changed("Events left over:", _left(old, "unconsumed"), _left(new, "unconsumed")),
        *_changed("Optional events passed over:", _left(old, "skipped"), _left(new, "skipped")),
        *_changed("It left the recording at", _departure(old), _departure(new)),
        *_changed("Reported were:", {"": ", ".join(old["reported"])}, {"": ", ".join(new["reported"])}),
        *_changed("Its clock was", {"": old["clock"]}, {"": new["clock"]}),
    ]


def _done(manifest: Manifest) -> dict[str, Any]:
    left = manifest["first_divergence"]
    return {
        "status": manifest.status,
        "checks": manifest.checks,
        "calls": [_call(call) for call in manifest["calls"]],
        "actions": manifest["action_counts"],
        "decisions": manifest["authorization"]["observed"],
        "unconsumed": manifest["unconsumed"],
        "skipped": manifest["optional_skipped"],
        "divergence": left and {name: left[name] for name in ("kind", "boundary", "seq", "call")},
        "reported": sorted(name for name, value in (manifest["raw_outcome"] or {}).items() if value is not None),
        "clock": manifest["clock"],
    }


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    ended = "past the horizon" if call["crossing"] else "not answered"
    return {
        "boundary": call["boundary"],
        "tool": call["params"]["tool"] if call["boundary"] == "tool" else None,
        "outcome": "answered" if call["answered"] else ended,
        "event": call["seq"],
        "alternative": call["alternative"],
    }


# --- sentences ------------------------------------------------------------------------------------------------------


def _changed(what: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """One sentence for each name of which `old` and `new` say something else."""
    for name in sorted({*old, *new}):
        was, now = (side.get(name) or _NOTHING for side in (old, new))
        if was != now:
            yield f"{what}{f' {name}:' if name else ''} {was}, now {now}."


def _first_call(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Iterator[str]:
    for number, (was, now) in enumerate(zip_longest(old, new), 1):
        if was != now:
            yield f"Call {number}: {_named(was)}, now {_named(now)} ({len(old)} calls, now {len(new)})."
            return


def _named(call: Mapping[str, Any] | None) -> str:
    if call is None:
        return _NOTHING
    name = f"{call['boundary']} {call['tool']}" if call["tool"] is not None else call["boundary"]
    if call["event"] is None:
        return f"{name}, {call['outcome']}"
    alternative = "" if call["alternative"] is None else f"alternative {call['alternative'] + 1} of "
    return f"{name}, {call['outcome']} by {alternative}event {call['event']}"


def _counted(actions: Mapping[str, Mapping[str, int | None]]) -> dict[str, str]:
    return {name: _spelled(count["min"], count["max"]) for name, count in actions.items()}


def _spelled(least: int | None, most: int | None) -> str:
    if most is None:
        return f"{least} or more"
    return str(least) if least == most else f"{least} to {most}"


def _left(done: Mapping[str, Any], name: str) -> dict[str, str]:
    return {"": ", ".join(map(str, done[name]))}


def _departure(done: Mapping[str, Any]) -> dict[str, str]:
    left = done["divergence"]
    if left is None:
        return {}
    call = "its end" if left["call"] is None else f"call {left['call'] + 1}"
    event = "" if left["seq"] is None else f", event {left['seq']}"
    return {"": f"{call} ({left['boundary']}{event}: {left['kind'].replace('_', ' ')})"}
