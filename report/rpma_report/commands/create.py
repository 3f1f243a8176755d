# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report create: one self-contained page, and what else is asked for, from results."""

import argparse
import logging
from pathlib import Path

from rpma_report.commands import Commands
from rpma_report.page import notes, outputs
from rpma_report.page.document import Block
from rpma_report.text import shown


def add_to(commands: Commands) -> None:
    parser = commands.add_parser(
        "create", help="one self-contained HTML page from results",
        description="Writes one self-contained HTML page with charts and tables.",
    )  # fmt: skip
    kinds = ("JSON of rpma-bench, rpma-ping, rpma-ddio-check, fio's json or json+ or latency log, "
             "an HdrHistogram log or .hgrm, or perftest's JSON")  # fmt: skip
    parser.add_argument("results", metavar="RESULT", nargs="+", type=Path, help=kinds)
    outputs.add_options(parser)
    parser.add_argument("--title", metavar="TEXT", type=_line, help="heading of the page")
    parser.add_argument("--author", metavar="TEXT", type=_line, help="who made the page")
    remarks = "a section of the page: a file of paragraphs, - items, # headings and ``` blocks, or such text"
    parser.add_argument("--notes", metavar="FILE|TEXT", help=remarks)
    add_unit(parser)
    parser.set_defaults(run=run, parser=parser)


def add_unit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--unit", choices=("ns", "us", "ms", "s"), help="unit of the values in .hgrm files, which record none")


def run(options: argparse.Namespace) -> int:
    outputs.check_options(options, options.results, stdout=True)
    written = notes.read(options.notes) if options.notes else ()
    words = (options.title or "", options.author or "", written)
    create(options.results, outputs.Wanted.of(options), *words, options.unit)
    return 0


def _line(text: str) -> str:
    """A line of text; an empty one is a mistake."""
    if not text.strip():
        raise argparse.ArgumentTypeError("expected a text, this one is empty")
    return shown(text.strip())


def create(results: list[Path], wanted: outputs.Wanted, title: str = "", author: str = "",
           written: tuple[Block, ...] = (), unit: str | None = None) -> None:  # fmt: skip
    """Writes the outputs; study ends with it, too."""
    from rpma_report.model import name_apart
    from rpma_report.sources import load_all

    # One document at a time: load keeps the summaries, the rest is let go.
    runs = name_apart([run for path in results for run in load_all(path, unit)])
    # matplotlib remarks on its font cache and on a home it cannot write to.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from rpma_report.page import points_csv, report  # late: slow to load, and a bad file needs it not

    words = report.Words(title, author, written)
    outputs.write(report.document(runs, words), wanted, lambda: points_csv.render(runs))
