"""Find a Python interpreter that the confined user can reach, and the trees it needs."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

from replaycases.replay.sandbox.base import EnvironmentUnavailable
from replaycases.replay.sandbox.identity import confined_uid, popen_identity

SYSTEM_INTERPRETERS = ("/usr/bin/python3", "/usr/local/bin/python3", "/bin/python3")


def usable_interpreter(preferred: Path | None = None) -> Path:
    """The first interpreter that the confined user can run: `preferred`, or else the running one, or the system's.

    An explicit `preferred` is never replaced by another: if it cannot be reached, EnvironmentUnavailable says so and
    what to change. The path is absolute and its links are kept, since a virtual environment is found by them.
    """
    if preferred is not None:
        if problem := _problem(preferred.absolute()):
            raise EnvironmentUnavailable(
                f"The interpreter {preferred} cannot be used in a sandbox: {problem}. Set the implementation's "
                "`python` to an interpreter that every user may execute, with every folder above it searchable "
                "(o+x), or start the worker as an ordinary user who owns it."
            )
        return preferred.absolute()
    candidates = [Path(sys.executable), *map(Path, SYSTEM_INTERPRETERS)]
    for candidate in candidates:
        if _problem(candidate) is None:
            return candidate
    raise EnvironmentUnavailable(
        f"No Python interpreter can be run by uid {confined_uid()}: tried {', '.join(map(str, candidates))}. "
        "Install python3 for all users, or set the implementation's `python`."
    )


@cache
def _problem(interpreter: Path) -> str | None:
    """Run it as the confined user would: nothing else tells the truth about permissions. None if it works."""
    try:
        interpreter_trees(interpreter)
        done = subprocess.run(  # noqa: S603 - an interpreter named by the operator
            [str(interpreter), "-I", "-S", "-c", "pass"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            timeout=20,
            check=False,
            **popen_identity(),
        )
    except EnvironmentUnavailable as refused:
        return str(refused)
    except PermissionError:
        return f"uid {confined_uid()} may not reach or execute it"
    except (OSError, subprocess.TimeoutExpired) as failed:
        return f"it does not start ({type(failed).__name__})"
    return None if done.returncode == 0 else f"it ends with status {done.returncode} for uid {confined_uid()}"


def interpreter_trees(interpreter: Path) -> tuple[Path, ...]:
    """The prefix of the interpreter and of the one it is based on, each to be mounted at its own path.

    A virtual environment gives its own folder, the base that pyvenv.cfg names (perhaps through a link) and that base's
    real place; a plain interpreter gives its real prefix. Raises EnvironmentUnavailable for what is no Python prefix:
    mounting the folder above a link such as ~/bin/python would show a whole home.
    """
    environment = interpreter.parent.parent
    base = _prefix(interpreter.resolve())
    if not (environment / "pyvenv.cfg").is_file():
        named = interpreter.parent.parent
        return tuple(dict.fromkeys([base, named] if named.resolve() == base else [base]))
    home = _base_named_in(environment / "pyvenv.cfg")
    named_bases = [home.parent] if home is not None and home.parent.resolve() == base else []
    return tuple(dict.fromkeys([environment, base, *named_bases]))


def _prefix(real: Path) -> Path:
    prefix = real.parent.parent
    if any(prefix.glob("lib*/python3*")):
        return prefix
    raise EnvironmentUnavailable(f"{prefix} is no Python installation (it has no lib/python3*)")


def _base_named_in(config: Path) -> Path | None:
    for line in config.read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home":
            return Path(value.strip())
    return None
