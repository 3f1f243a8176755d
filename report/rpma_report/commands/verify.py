# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report verify: does each number of a page follow from the results it was made of?"""

import argparse
import logging
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rpma_report.commands import Commands, recipe
from rpma_report.commands.create import add_unit
from rpma_report.terminal import say
from rpma_report.text import shown

if TYPE_CHECKING:
    from rpma_report.model import Run
    from rpma_report.page.document import Document
    from rpma_report.verification.check import Found
    from rpma_report.verification.tokens import Page

EXIT_DIFFERS, EXIT_UNMATCHED = 1, 3
MAX_PAGE_BYTES = 256 << 20
_MAX_LINES = 200


def add_to(commands: Commands) -> None:
    parser = commands.add_parser(
        "verify", help="derive the numbers of a page again from its results",
        description="Derives each number of a page again, and names those that differ.",
    )  # fmt: skip
    parser.add_argument("page", metavar="PAGE", type=Path, help="an HTML page of rpma-report create, compare or history")
    parser.add_argument("results", metavar="RESULT", nargs="+", type=Path, help="the results it was made of; those of compare in their order")
    add_unit(parser)
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> int:
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from rpma_report.sources.document import Contradiction
    from rpma_report.verification import check
    from rpma_report.verification.tokens import Page

    text = _read(options.page)
    page = Page(text)
    name = shown(options.page)
    try:
        again = _made_again(options, page)
    except Contradiction as contradiction:
        say(f"{name}: a result contradicts itself: {contradiction}")
        return EXIT_DIFFERS
    for line in again.foreign:
        say(f"{name}: {line}")
    if not again.runs:
        return EXIT_UNMATCHED
    expected = Page(_rendered(options.page, text, again.document)) if again.document else None
    found = check.check(page, again.runs, expected)
    _tell(name, found, again.changed)
    if found.differences or again.changed:
        return EXIT_DIFFERS
    return EXIT_UNMATCHED if found.unmatched or again.document is None else 0


@dataclass(frozen=True)
class Again:
    """The page of the given results; no document where they are not those of the page, or it cannot be made."""

    document: "Document | None"
    runs: "Sequence[Run]"
    changed: tuple[str, ...] = ()  # results that are no longer those of the page
    foreign: tuple[str, ...] = ()  # what is missing, or of no use


def _made_again(options: argparse.Namespace, page: "Page") -> Again:
    from rpma_report.commands import history
    from rpma_report.measurement import files
    from rpma_report.model import name_apart
    from rpma_report.page import report
    from rpma_report.sources import load_all
    from rpma_report.verification import assign

    made = recipe.read(page.made) if page.made else None
    if page.made and made is None:
        return Again(None, (), foreign=(f"this version cannot make it again: {shown(page.made, 80)}",))
    if made and made.command == "compare":
        return _compared_again(options, page, made)
    paths = [file for path in options.results for file in (files(path) if made else [path])]
    given = assign.assign(page.results, [run for path in paths for run in load_all(path, options.unit)])
    runs, document = name_apart(given.runs), None
    if given.complete:
        document = history.remade(runs, made) if made else report.document(runs)
    return Again(document, runs, given.changed, given.foreign)


def _compared_again(options: argparse.Namespace, page: "Page", made: recipe.Recipe) -> Again:
    """Sides have an order and names: the results are to be given as they were to compare."""
    from rpma_report.commands import compare
    from rpma_report.verification import assign

    names = recipe.names(options.results)
    if names != made.inputs:
        expected = shlex.join(("rpma-report", "verify", options.page.name, *made.inputs))
        return Again(None, (), foreign=(f"expected the results as compare had them: {shown(expected, 400)}",))
    document, runs = compare.remade(options.results, made)
    told = assign.side_by_side(page.results, document.results)
    return Again(document, runs, told.changed, told.foreign)


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


def _rendered(path: Path, text: str, document: "Document") -> str:
    """A page whose tables are cut names the file that has all rows."""
    from rpma_report.page import html, outputs

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
