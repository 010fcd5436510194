"""Freeze wall clock and randomness of this process before the workflow is imported.

Reached: `time` (wall clock functions), `datetime.now`, `utcnow` and `today`, `date.today`, `random`, `uuid`,
`secrets`, `os.urandom`. Not reached: the monotonic clock, child processes, and extension modules that ask the kernel
themselves (numpy's generators among them). Which mechanism stops the clock is the supervisor's choice.
"""

from __future__ import annotations

import os
import random
import time
import uuid
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Optional

from .instants import parse_instant

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_NODE = 0x02005E000001
"""A locally administered address in place of the machine's, for uuid1."""


def freeze(instant: str, mechanism: str) -> None:
    """Stop the clock at `instant` (ISO 8601 with offset) by "time-machine" or "stdlib", and seed all randomness
    with it. Raises ImportError if time-machine is asked for and not there."""
    moment = parse_instant(instant)
    if mechanism == "time-machine":
        import time_machine

        # time-machine takes UTC for a wish about the local zone and would change TZ; another offset says only when.
        time_machine.travel(moment.astimezone(timezone(timedelta(hours=1))), tick=False).start()
    else:
        nanoseconds = (moment - _EPOCH) // timedelta(microseconds=1) * 1000
        _freeze_time(nanoseconds)
        _freeze_datetime(nanoseconds)
    _freeze_randomness(instant)


def _freeze_time(nanoseconds: int) -> None:
    seconds = nanoseconds / 1_000_000_000
    real = {name: getattr(time, name) for name in ("gmtime", "localtime", "asctime", "ctime", "strftime")}
    real_clock, real_clock_ns = time.clock_gettime, time.clock_gettime_ns

    def clock_gettime(clock: int) -> float:
        return seconds if clock == time.CLOCK_REALTIME else real_clock(clock)

    def clock_gettime_ns(clock: int) -> int:
        return nanoseconds if clock == time.CLOCK_REALTIME else real_clock_ns(clock)

    def converted(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda secs=None: function(seconds if secs is None else secs)

    patched = {
        "time": lambda: seconds,
        "time_ns": lambda: nanoseconds,
        "gmtime": converted(real["gmtime"]),
        "localtime": converted(real["localtime"]),
        "ctime": converted(real["ctime"]),
        "asctime": lambda t=None: real["asctime"](time.localtime() if t is None else t),
        "strftime": lambda form, t=None: real["strftime"](form, time.localtime() if t is None else t),
        "clock_gettime": clock_gettime,
        "clock_gettime_ns": clock_gettime_ns,
    }
    for name, function in patched.items():
        setattr(time, name, function)


def _freeze_datetime(nanoseconds: int) -> None:
    """Replace `datetime.datetime`: its `now` reads the kernel's clock from C. `date.today` goes through time.time."""
    import datetime as module

    real: Any = module.datetime
    seconds, micros = nanoseconds // 1_000_000_000, nanoseconds // 1000 % 1_000_000

    class Kind(type(real)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, real)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, real)

    class Frozen(real, metaclass=Kind):  # type: ignore[misc]
        @classmethod
        def now(cls, tz: Optional[module.tzinfo] = None) -> Any:
            return cls.fromtimestamp(seconds, tz).replace(microsecond=micros)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.now(module.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

    # Pickle looks a class up by these names.
    Frozen.__module__, Frozen.__name__, Frozen.__qualname__ = "datetime", "datetime", "datetime"
    module.datetime = Frozen  # type: ignore[misc]


def _freeze_randomness(seed: str) -> None:
    source = random.Random(seed)  # noqa: S311 - the same numbers in every run are the purpose
    real_seed = random.Random.seed

    def draw(size: int, flags: int = 0) -> bytes:
        return source.randbytes(size)

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        real_seed(self, source.getrandbits(64) if a is None else a, version)

    random.Random.seed = seeded  # type: ignore[method-assign]
    os.urandom = draw
    if hasattr(os, "getrandom"):
        os.getrandom = draw
    random._urandom = draw  # type: ignore[attr-defined]
    for name in ("_generate_time_safe", "_UuidCreate"):
        setattr(uuid, name, None)
    uuid._node = _NODE  # type: ignore[attr-defined]
    random.seed(seed)
