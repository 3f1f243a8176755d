#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes bash/NAME and zsh/_NAME below a directory: the completions of a program,
from what it prints for --help, or of rpma-report, from its parser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from bash import bash_completion
from report_table import read_report
from table import read_program
from zsh import zsh_completion


def main() -> int:
    parser = argparse.ArgumentParser(prog="cut_completions.py", description=__doc__)
    parser.add_argument("--report", metavar="DIRECTORY", help="of the package rpma_report")
    parser.add_argument("name")
    parser.add_argument("output", type=Path)
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what starts the program")
    options = parser.parse_args()
    if options.report:
        program = read_report(options.name, options.report)
    else:
        program = read_program(options.name, options.command)
    for shell, name, text in (("bash", options.name, bash_completion(program)),
                              ("zsh", f"_{options.name}", zsh_completion(program))):
        (options.output / shell).mkdir(parents=True, exist_ok=True)
        (options.output / shell / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
