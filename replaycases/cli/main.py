"""The `replaycases` command. Only `pull`, `push-results` and `capture` speak to a server.

Exit codes: 0 well · 2 usage · 10 fixture invalid · 11 provenance or expiry · 20 not reproduced · 30 current regression
· 40 not comparable or one side missing · 50 diverged, undetermined and the like · 60 environment or adapter. With
several results the smallest that is not zero; all are listed. A command that a signal ends exits 128 and the signal's
number.
"""

from __future__ import annotations

import argparse
import signal
import sys
from types import FrameType

from replaycases.cli import (
    capture,
    check_metadata,
    compare,
    importing,
    init,
    pull,
    push_results,
    redacting,
    replay,
    suite,
    validate,
)
from replaycases.cli.output import OutputFailed, complain, drop_output, end_output, say_findings, take_streams
from replaycases.cli.reading import USAGE, Refused

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(argv: list[str] | None = None) -> int:
    take_streams()
    try:
        for number in STOPPING:
            signal.signal(number, _stop)
        options = _parser().parse_args(argv)
        code: int = options.run(options)
        end_output()
    except Refused as refusal:
        complain(refusal.text)
        say_findings("replaycases", refusal.findings, to=complain)
        return refusal.code
    except OutputFailed as failure:
        drop_output()
        if failure.reader_gone:  # `| head` has what it wanted
            return 128 + signal.SIGPIPE
        complain(str(failure))
        return USAGE
    except Stopped as stop:
        complain("stopped")
        return 128 + stop.number
    return code


class Stopped(KeyboardInterrupt):
    """A signal asks this process to end. It is raised where the process stands, so that what was begun is undone: no
    sandbox and no temporary folder stays. A KeyboardInterrupt, since Python's compiler drops every other exception that
    a signal raises while it folds constants."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def _stop(number: int, _: FrameType | None) -> None:
    """The first signal decides. A second one, as an impatient person or a CI system sends it, must not break into what
    the first one undoes."""
    for further in STOPPING:
        signal.signal(further, signal.SIG_IGN)
    raise Stopped(number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="replaycases", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (
        validate,
        check_metadata,
        replay,
        compare,
        suite,
        importing,
        init,
        redacting,
        capture,
        pull,
        push_results,
    ):
        module.add_to(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
