# SPDX-License-Identifier: BSD-3-Clause
"""The program rpma-report: its commands, messages, exit codes.

Exit codes: 0 done; 1 compare: a limit of --fail-if is passed, verify: a number is false;
2 an input or an output is no good; 3 compare: whether one is passed is not known, verify: a
number has no source, study: a setting has to be made;
64 wrong usage; 70 a defect of this program; 130 or 143 on SIGINT or SIGTERM.
"""

import argparse
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from rpma_report import __version__
from rpma_report.commands import compare, create, history, study, validate, verify
from rpma_report.failure import Failure

EXIT_FAILED, EXIT_USAGE, EXIT_INTERNAL = 2, 64, 70
PROGRAM = "rpma-report"
COMMANDS = (create, compare, history, validate, verify, study)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{PROGRAM}: {message} (see {PROGRAM} --help)\n")
        sys.exit(EXIT_USAGE)


def _options() -> argparse.ArgumentParser:
    parser = _Parser(prog=PROGRAM, description="Reports from results of rpma-bench, rpma-ping, "
                     "rpma-ddio-check and fio.")  # fmt: skip
    parser.add_argument("-V", "--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND")
    parser.set_defaults(run=None)
    for command in COMMANDS:
        command.add_to(commands)
    return parser


def _terminated(_signal: int, _frame: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)


def main(arguments: Sequence[str] | None = None) -> int:
    signal.signal(signal.SIGTERM, _terminated)
    parser = _options()
    options = parser.parse_args(arguments)  # an unknown option is named before a missing command
    if options.run is None:
        names = [command.__name__.rpartition(".")[2] for command in COMMANDS]
        parser.error(f"expected a command: {', '.join(names[:-1])} or {names[-1]}")
    try:
        return int(options.run(options))
    except ModuleNotFoundError as error:
        package = {name: f"python3-{name}" for name in ("jinja2", "jsonschema", "scipy")}
        need = package.get(error.name or "", "python3-matplotlib")
        return _fail(f"Python module {error.name} is missing: install {need} for {sys.executable}")
    except Failure as failure:
        return _fail(str(failure))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:
        traceback.print_exc()
        sys.stderr.write(f"{PROGRAM}: internal error: {type(error).__name__}, please report it\n")
        return EXIT_INTERNAL


def _fail(message: str) -> int:
    sys.stderr.write(f"{PROGRAM}: {message}\n")
    return EXIT_FAILED
