# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report validate: do these files keep to their schemas, and agree with themselves?"""

import argparse
import sys
from pathlib import Path

from rpma_report.commands import Commands
from rpma_report.failure import Failure
from rpma_report.terminal import say
from rpma_report.text import shown

EXIT_CONTRADICTS, EXIT_BAD = 1, 2


def add_to(commands: Commands) -> None:
    parser = commands.add_parser(
        "validate", help="check files against the schemas, and their figures against each other",
        description="Names the kind of each file, or in one line what is wrong with it and where.",
    )  # fmt: skip
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help="a result, or a plan of a study")
    parser.add_argument("--list", action="store_true", help="print what must agree in each kind of file, a line each")
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> int:
    """Reads all of them; returns 2 if one is not a result, else 1 if one contradicts itself."""
    if options.list:
        return _list()
    if not options.files:
        options.parser.error("expected a file, or --list")
    from rpma_report.sources.document import Contradiction

    codes = {0}
    for path in options.files:
        try:
            kind = _kind(path)
        except Failure as failure:
            codes.add(EXIT_CONTRADICTS if isinstance(failure, Contradiction) else EXIT_BAD)
            sys.stderr.write(f"rpma-report: {failure}\n")
        else:
            say(f"{shown(path)}: {kind}, sound")
    return max(codes)


def _list() -> int:
    from rpma_report.sources import redundancies

    for row in redundancies.BENCH:
        say(f"rpma-bench {row.of}: {row.keys}: {row.rule}")
    for kind, keys, rule in redundancies.OTHERS:
        say(f"{kind}: {keys}: {rule}")
    return 0


def _kind(path: Path) -> str:
    from rpma_report.sources import check, read_all
    from rpma_report.sources.document import Source
    from rpma_report.studies import plan

    source, *others = read_all(path)  # once: it may be a pipe
    if others:
        kinds = [check(one) for one in (source, *others)]
        return f"{len(kinds)} of {kinds[0]}"
    if isinstance(source, Source) and str(source.document.get("schema")).startswith(f"{plan.FORMAT}/"):
        plan.of(source, path.resolve().parent)
        return plan.KIND
    return check(source)
