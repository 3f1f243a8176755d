# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report compare: better, worse or the same: two runs or more."""

import argparse

from rpma_report.commands import Commands
from rpma_report.failure import Failure


def add_to(commands: Commands) -> None:
    parser = commands.add_parser("compare", help="better, worse or the same: two runs or more")
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> int:
    raise Failure("compare is not there yet")
