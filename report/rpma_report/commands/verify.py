# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report verify: does each number of a page follow from the results it was made of?"""

import argparse
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rpma_report.commands import Commands
from rpma_report.commands.create import add_unit
from rpma_report.terminal import say
from rpma_report.text import shown

if TYPE_CHECKING:
    from rpma_report.model import Run
    from rpma_report.verification.check import Found
    from rpma_report.verification.tokens import Page

EXIT_DIFFERS, EXIT_UNMATCHED = 1, 3
MAX_PAGE_BYTES = 256 << 20
_MAX_LINES = 200


def add_to(commands: Commands) -> None:
    parser = commands.add_parser(
        "verify", help="derive the numbers of a page again from its results",
        description="Derives each number of a page that create made again, and names those that differ.",
    )  # fmt: skip
    parser.add_argument("page", metavar="PAGE", type=Path, help="an HTML page of rpma-report create")
    parser.add_argument("results", metavar="RESULT", nargs="+", type=Path, help="the results it was made of")
    add_unit(parser)
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> int:
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from rpma_report.model import name_apart
    from rpma_report.sources import load_all
    from rpma_report.sources.document import Contradiction
    from rpma_report.verification import assign, check
    from rpma_report.verification.tokens import Page

    text = _read(options.page)
    page = Page(text)
    name = shown(options.page)
    try:
        given = assign.assign(page.results, [run for path in options.results for run in load_all(path, options.unit)])
    except Contradiction as contradiction:
        say(f"{name}: a result contradicts itself: {contradiction}")
        return EXIT_DIFFERS
    for line in given.foreign:
        say(f"{name}: {line}")
    runs = name_apart(given.runs)
    expected = Page(_made_again(options.page, text, runs)) if given.complete else None
    found = check.check(page, runs, expected)
    _tell(name, found, given.changed)
    if found.differences or given.changed:
        return EXIT_DIFFERS
    return EXIT_UNMATCHED if found.unmatched or not given.complete else 0


def _read(path: Path) -> str:
    from rpma_report.sources.document import BadResult
    from rpma_report.sources.input_file import read_at_most

    name = str(path)
    try:
        data = read_at_most(path, MAX_PAGE_BYTES + 1)
    except OSError as error:
        raise BadResult(name, "", f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadResult(name, "", "is not a file name: it has a NUL byte") from error
    if len(data) > MAX_PAGE_BYTES:
        raise BadResult(name, "", f"is larger than {MAX_PAGE_BYTES >> 20} MiB, the limit for a page")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadResult(name, f"byte {error.start}", "is not UTF-8 text") from error
    if not re.match(r"\s*<!DOCTYPE html", text, re.IGNORECASE):
        raise BadResult(name, "line 1", "expected a page of rpma-report, which begins with <!DOCTYPE html>")
    return text


def _made_again(path: Path, text: str, runs: "Sequence[Run]") -> str:
    """The page as create writes it; a page whose tables are cut names the file that has all rows."""
    from rpma_report.page import html, outputs, report

    document = report.document(runs)
    if outputs.is_cut(document):
        named = re.search(r"all points are in ([^<>\s]+)\.<", text) or re.search(r"all points are in ([^<>\s]+)\. ", text)
        document = outputs.shortened(document, named[1] if named else f"{path.name}.csv")
    return html.render(document)


def _tell(name: str, found: "Found", changed: Sequence[str]) -> None:
    for line in changed:
        say(f"{name}: {line}")
    for one in found.differences[:_MAX_LINES]:
        say(f"{name}: {one.place}: {one.what}: printed {shown(one.printed, 80)}, derived {shown(one.derived, 80)}")
    for other in found.unmatched[:_MAX_LINES]:
        say(f"{name}: {other.place}: {other.what}: printed {shown(other.printed, 80)}: {other.why}")
    hidden = sum(max(len(every) - _MAX_LINES, 0) for every in (found.differences, found.unmatched))
    if hidden:
        say(f"{name}: and {hidden:,} more")
    parts = [f"{found.agreeing:,} numbers agree"]
    parts += [f"{len(found.differences):,} do not match"] if found.differences else []
    parts += [f"{len(found.unmatched):,} have no source"] if found.unmatched else []
    say(f"{name}: {', '.join(parts)}")
