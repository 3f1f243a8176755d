# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report history: figures over many runs by time."""

import argparse
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rpma_report.commands import Commands, recipe
from rpma_report.commands.compare import figures, noise
from rpma_report.page import outputs
from rpma_report.terminal import say

if TYPE_CHECKING:
    from rpma_report.comparison.history import History
    from rpma_report.model import Run
    from rpma_report.page.document import Document


def add_to(commands: Commands) -> None:
    parser = commands.add_parser(
        "history", help="figures over many runs by time",
        description="Follows the figures of each point over many runs, and names what certainly changed.",
    )  # fmt: skip
    parser.add_argument("results", metavar="RESULT", nargs="+", type=Path, help="results, or directories of results")
    parser.add_argument("--figures", metavar="LIST", type=figures, default=(),
                        help="figures such as p50,p99.9; p50 and p99 if not given")  # fmt: skip
    parser.add_argument("--noise", metavar="N%", type=noise,
                        help="how much two runs of the same thing differ; without it no change is claimed")  # fmt: skip
    outputs.add_options(parser, required=False)
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> int:
    from rpma_report.measurement import files

    paths = [file for given in options.results for file in files(given)]
    if options.output:
        outputs.check_options(options, paths)
    elif any((options.png, options.pdf, options.md, options.csv)):
        options.parser.error("--png, --pdf, --md and --csv go with a page: give -o as well")
    from rpma_report import copies
    from rpma_report.comparison import history, history_page
    from rpma_report.model import name_apart
    from rpma_report.sources import load_all

    runs = name_apart([run for path in paths for run in load_all(path)])
    found = history.history(runs, options.figures, options.noise)
    if options.output:
        _write(options, runs, found)
    for text in copies.told(found.runs):
        say(f"{text}.")
    for line in history_page.lines(found):
        say(line)
    return 0


def remade(runs: "Sequence[Run]", made: recipe.Recipe) -> "Document":
    """The page of these runs, for verify."""
    from rpma_report.comparison import history

    options = recipe.parsed(made, figures, noise)
    return _document(options, runs, history.history(runs, options.figures, options.noise))


def _document(options: argparse.Namespace, runs: "Sequence[Run]", found: "History") -> "Document":
    """The page, with what verify needs to make it again."""
    from rpma_report.comparison import history_page
    from rpma_report.model import listed

    files = tuple(dict.fromkeys(run.file for run in runs))
    made = recipe.text(recipe.Recipe("history", files, recipe.shared(options)))
    return replace(history_page.document(found), results=listed(runs), made=made)


def _write(options: argparse.Namespace, runs: "Sequence[Run]", found: "History") -> None:
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from rpma_report.page import points_csv

    document = _document(options, runs, found)
    outputs.write(document, outputs.Wanted.of(options), lambda: points_csv.render(found.runs))
