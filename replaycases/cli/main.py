"""The `replaycases` command. Needs no server.

Exit codes: 0 well · 2 usage · 10 fixture invalid · 20 not reproduced · 30 current regression · 40 not comparable or one
side missing · 50 diverged, undetermined and the like · 60 environment or adapter. With several results the smallest
that is not zero; all are listed.
"""

from __future__ import annotations

import argparse
import os
import sys

from replaycases.cli import compare, importing, init, replay, suite, validate
from replaycases.cli.output import complain, say_findings
from replaycases.cli.reading import Refused


def main(argv: list[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    try:
        code: int = options.run(options)
    except Refused as refusal:
        complain(refusal.text)
        say_findings("replaycases", refusal.findings, to=complain)
        return refusal.code
    except BrokenPipeError:
        # The reader went away (`| head`): what was printed stands, and Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        complain("stopped")
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="replaycases", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (validate, replay, compare, suite, importing, init):
        module.add_to(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
