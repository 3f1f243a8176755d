# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report study: carry out a plan of measurements."""

import argparse

from rpma_report.commands import Commands
from rpma_report.failure import Failure


def add_to(commands: Commands) -> None:
    parser = commands.add_parser("study", help="carry out a plan of measurements")
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> int:
    raise Failure("study is not there yet")
