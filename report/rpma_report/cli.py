# SPDX-License-Identifier: BSD-3-Clause
"""The command rpma-report: options, messages, exit codes.

Exit codes: 0 the report is written; 2 an input or the output is no good; 64 wrong
usage; 70 a defect of this program; 130 or 143 on SIGINT or SIGTERM.
"""

import argparse
import logging
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from rpma_report import __version__
from rpma_report.failure import Failure

EXIT_GOOD, EXIT_FAILED, EXIT_USAGE, EXIT_INTERNAL = 0, 2, 64, 70
PROGRAM = "rpma-report"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{PROGRAM}: {message} (see {PROGRAM} --help)\n")
        sys.exit(EXIT_USAGE)


def _options() -> argparse.ArgumentParser:
    parser = _Parser(prog=PROGRAM, description="Reports from the results of rpma-bench.")
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    create = commands.add_parser(
        "create", help="one self-contained HTML page from results",
        description="Writes one self-contained HTML page with charts and tables.",
    )  # fmt: skip
    create.add_argument("results", metavar="RESULT", nargs="+", type=Path, help="rpma-bench/1 JSON")
    create.add_argument("-o", "--output", metavar="FILE", required=True, type=Path, help="the page")
    create.set_defaults(run=_create, parser=create)
    return parser


def _create(options: argparse.Namespace) -> int:
    from rpma_report.atomic_file import write_atomically
    from rpma_report.result import name_apart, run_from
    from rpma_report.result_file import read_result

    output = os.path.realpath(options.output)
    for path in options.results:
        if os.path.realpath(path) == output:
            options.parser.error(f"{path} is a result, the page cannot take its place")
    # One document at a time: run_from keeps the summaries, the rest is let go.
    runs = [run_from(path.name, *read_result(path)) for path in options.results]
    # matplotlib remarks on its font cache and on a home it cannot write to.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from rpma_report.page import render  # late: slow to load, and a bad file needs it not

    write_atomically(options.output, render(name_apart(runs)).encode("utf-8"))
    return EXIT_GOOD


def _terminated(_signal: int, _frame: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)


def main(arguments: Sequence[str] | None = None) -> int:
    signal.signal(signal.SIGTERM, _terminated)
    options = _options().parse_args(arguments)
    try:
        return int(options.run(options))
    except ModuleNotFoundError as error:
        package = {"jinja2": "python3-jinja2", "jsonschema": "python3-jsonschema"}
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
