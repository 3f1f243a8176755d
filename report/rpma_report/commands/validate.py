# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report validate: check files against the schemas."""

import argparse

from rpma_report.commands import Commands
from rpma_report.failure import Failure


def add_to(commands: Commands) -> None:
    parser = commands.add_parser("validate", help="check files against the schemas")
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> int:
    raise Failure("validate is not there yet")
