"""Freeze wall clock and randomness of this process before the workflow is imported.

Reached: `time` (wall clock functions), `datetime.now`, `utcnow` and `today`, `date.today`, `random`, `uuid`,
`secrets`, `os.urandom`. Not reached: the monotonic clock, child processes, and extension modules that ask the kernel
themselves (numpy's generators among them). Which mechanism stops the clock is the supervisor's choice.
"""

from __future__ import annotations

import os
import sys
import time
from _random import Random as _Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable

_NODE = 0x02005E000001
"""A locally administered address in place of the machine's, for uuid1."""


def freeze(nanoseconds: int, mechanism: str) -> None:
    """Stop the clock at `nanoseconds` since 1970 by "time-machine" or "stdlib", and seed all randomness with them.
    Raises ImportError if time-machine is asked for and not there."""
    if mechanism == "time-machine":
        _travel(nanoseconds)
    else:
        _freeze_time(nanoseconds)
        _when_imported("datetime", lambda module: _freeze_datetime(module, nanoseconds))
    _freeze_randomness(nanoseconds)


def _travel(nanoseconds: int) -> None:
    from datetime import datetime, timedelta, timezone

    import time_machine

    # time-machine takes UTC for a wish about the local zone and would change TZ; another offset says only when.
    epoch = datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    time_machine.travel(epoch + timedelta(microseconds=nanoseconds // 1000), tick=False).start()


def _when_imported(name: str, patch: Callable[[ModuleType], None]) -> None:
    """Apply `patch` to the module as soon as it is there: a start that does not need it need not import it."""
    if name in sys.modules:
        patch(sys.modules[name])
    sys.meta_path.insert(0, _Finder(name, patch))


class _Finder:
    """Finds one module as the other finders do, and has it patched whenever it was executed."""

    def __init__(self, name: str, patch: Callable[[ModuleType], None]) -> None:
        self._name, self._patch = name, patch

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self._name:
            return None
        for finder in sys.meta_path:
            spec: Any = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                spec.loader = _Loader(spec.loader, self._patch)
                return spec
        return None


class _Loader:
    def __init__(self, loader: Any, patch: Callable[[ModuleType], None]) -> None:
        self._loader, self._patch = loader, patch

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._patch(module)


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


def _freeze_datetime(module: Any, nanoseconds: int) -> None:
    """Replace `datetime.datetime`: its `now` reads the kernel's clock from C. `date.today` goes through time.time."""
    real: Any = module.datetime
    seconds, micros = nanoseconds // 1_000_000_000, nanoseconds // 1000 % 1_000_000

    class Kind(type(real)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, real)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, real)

    class Frozen(real, metaclass=Kind):  # type: ignore[misc]
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(seconds, tz).replace(microsecond=micros)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.now(module.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

    # Pickle looks a class up by these names.
    Frozen.__module__, Frozen.__name__, Frozen.__qualname__ = "datetime", "datetime", "datetime"
    module.datetime = Frozen


def _freeze_randomness(seed: int) -> None:
    source = _Source()
    source.seed(seed)  # in Python 3.9 the class itself seeds another way

    def draw(size: int, flags: int = 0) -> bytes:
        return source.getrandbits(size * 8).to_bytes(size, "little")

    def freeze_random(module: Any) -> None:
        real_seed = module.Random.seed

        def seeded(self: Any, a: Any = None, version: int = 2) -> None:
            real_seed(self, source.getrandbits(64) if a is None else a, version)

        module.Random.seed = seeded
        module._urandom = draw
        module.seed(seed)

    def freeze_uuid(module: Any) -> None:
        module._generate_time_safe = module._UuidCreate = None
        module._node = _NODE

    os.urandom = draw
    if hasattr(os, "getrandom"):
        os.getrandom = draw
    _when_imported("random", freeze_random)
    _when_imported("uuid", freeze_uuid)
