# SPDX-License-Identifier: BSD-3-Clause
"""The files a document becomes: page, pictures, PDF, Markdown and CSV.

All are made before the first is written, so that a defect leaves no half of them.
"""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rpma_report.atomic_file import make_folder, write_atomically
from rpma_report.figures.figure import Figure
from rpma_report.figures.tables import RowGroup, Table
from rpma_report.page.document import Block, Document, Note
from rpma_report.terminal import put

MAX_ROWS = 2000
STDOUT = Path("-")
_OTHER_FORMATS = {".pdf": "--pdf", ".md": "--md", ".csv": "--csv"}


@dataclass(frozen=True)
class Wanted:
    """The outputs; None: not asked for."""

    page: Path
    png: Path | None = None
    pdf: Path | None = None
    markdown: Path | None = None
    csv: Path | None = None

    @staticmethod
    def of(options: argparse.Namespace) -> "Wanted":
        return Wanted(options.output, options.png, options.pdf, options.md, options.csv)

    def files(self) -> list[Path]:
        return [p for p in (self.page, self.pdf, self.markdown, self.csv) if p]


def add_options(parser: argparse.ArgumentParser, required: bool = True) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", required=required, type=Path, help="the page; - is standard output")
    parser.add_argument("--png", metavar="DIR", type=Path, help="each chart as a picture as well")
    parser.add_argument("--pdf", metavar="FILE", type=Path, help="summary, charts and tables as PDF")
    parser.add_argument("--md", metavar="FILE", type=Path, help="the same as Markdown")
    parser.add_argument("--csv", metavar="FILE", type=Path, help="every point and repeat as a table")


def check_options(options: argparse.Namespace, results: Sequence[Path], more: Sequence[Path] = (), stdout: bool = False) -> None:
    """No output takes the place of a result or of another output; `more` are outputs of the command's own.

    `stdout`: the command leaves standard output to one of them.
    """
    result = "{} is a result, an output cannot take its place"
    taken = {os.path.realpath(path): result.format(path) for path in results if path != STDOUT}
    files = Wanted.of(options).files()
    if STDOUT in files and not stdout:
        options.parser.error("-: standard output has the lines of this command: give a file")
    other = _OTHER_FORMATS.get(options.output.suffix.lower()) if options.output else None
    if other:
        options.parser.error(f"-o {options.output}: a page is HTML: give {other} {options.output} as well as a page")
    for path in (*files, *more):
        real = os.path.realpath(path)
        if real in taken:
            options.parser.error(taken[real])
        taken[real] = f"{path} is to be two outputs at once"


def write(document: Document, wanted: Wanted, csv: Callable[[], str]) -> None:
    """`csv` makes the table of all points, which stands in where the page cuts one."""
    from rpma_report.page import html  # late: slow to load, and a bad file needs it not

    cut = is_cut(document)
    beside = wanted.page.with_name(wanted.page.name + ".csv") if cut and wanted.page != STDOUT else None
    csv_path = wanted.csv or beside
    if csv_path and cut and csv_path != STDOUT:
        document = shortened(document, csv_path.name)
    files = [(wanted.page, html.render(document).encode())]
    if csv_path:
        files.append((csv_path, csv().encode()))
    if wanted.png:
        from rpma_report.draw import picture

        files += [(wanted.png / f"{f.id}.png", picture.png(f)) for f in document.figures()]
    if wanted.markdown:
        from rpma_report.page import markdown

        pictures = _relative(wanted.png, wanted.markdown) if wanted.png else None
        files.append((wanted.markdown, markdown.render(document, pictures).encode()))
    if wanted.pdf:
        from rpma_report.page import pdf

        files.append((wanted.pdf, pdf.render(document)))
    if wanted.png:
        make_folder(wanted.png)
    for path, data in files:
        if path == STDOUT:
            put(data)
        else:
            write_atomically(path, data)


def _relative(folder: Path, file: Path) -> str:
    return os.path.relpath(folder, file.parent)


def _tables(document: Document) -> list[Table]:
    found = []
    for section in document.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                found.append(block)
            elif isinstance(block, Figure):
                found.append(block.table)
    return found


def is_cut(document: Document) -> bool:
    return any(table.length > MAX_ROWS for table in _tables(document))


def shortened(document: Document, csv: str) -> Document:
    sections = tuple(
        replace(s, blocks=tuple(b for block in s.blocks for b in _short(block, csv)))
        for s in document.sections
    )
    return replace(document, sections=sections)


def _short(block: Block, csv: str) -> list[Block]:
    table = block if isinstance(block, Table) else block.table if isinstance(block, Figure) else None
    if table is None or table.length <= MAX_ROWS:
        return [block]
    text = f"The table has the first {MAX_ROWS:,} of {table.length:,} rows; all points are in {csv}."
    if isinstance(block, Figure):
        return [replace(block, table=_first_rows(table), notes=(*block.notes, text))]
    return [_first_rows(table), Note(text)]


def _first_rows(table: Table) -> Table:
    groups, left = [], MAX_ROWS
    for group in table.groups:
        if left > 0:
            groups.append(RowGroup(group.label, group.rows[:left]))
        left -= len(group.rows)
    return replace(table, groups=tuple(groups))


