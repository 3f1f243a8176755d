# SPDX-License-Identifier: BSD-3-Clause
"""A document as Markdown, for where a page cannot go: a merge request, a wiki.

Pictures are linked when they were asked for; their alternative text stands there
otherwise.
"""

import re
from collections.abc import Iterator, Sequence

from rpma_report.figures.figure import Figure
from rpma_report.figures.tables import Cell, Table
from rpma_report.page.document import Block, Cards, Code, Document, Facts, Heading, Items, Note, Paragraph

_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#|~$!&])")


def render(document: Document, pictures: str | None) -> str:
    """`pictures` is the folder of the charts as seen from the file."""
    lines = [f"# {text(document.title)}", ""]
    if document.answer:
        lines += [f"**{text(document.answer)}**", ""]
    for sentence in filter(None, (document.author, *document.lead)):
        lines += [text(sentence), ""]
    for alarm in document.alarms:
        lines += [*_note(alarm), ""]
    for section in document.sections:
        lines += [f"## {text(section.title)}", ""]
        for block in section.blocks:
            lines += [*_block(block, pictures), ""]
    return "\n".join([*lines, text(document.footer), ""])


def text(plain: str) -> str:
    """A text that no reader of Markdown takes for anything else."""
    escaped = _MARKUP.sub(r"\\\1", plain)
    escaped = re.sub(r"^([-+])(?=\s)|^([-=])(?=[-=]*\s*$)", r"\\\g<0>", escaped)
    return re.sub(r"^([0-9]+)([.)])(?=\s|$)", r"\1\\\2", escaped)


def _block(block: Block, pictures: str | None) -> Iterator[str]:
    match block:
        case Paragraph():
            yield text(block.text)
        case Note():
            yield from _note(block)
        case Heading():
            yield f"### {text(block.text)}"
        case Cards():
            for card in block.cards:
                said = f"{text(card.what)} ({text(card.detail)})"
                yield f"- **{text(card.value)}** {said}: {text(card.subject)}"
        case Facts():
            for name, said in block.pairs:
                yield f"- {text(name)}: {text(said)}"
        case Code():
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", block.text)), default=0))
            yield from (fence, block.text, fence)
        case Items():
            yield from (f"- {text(item)}" for item in block.texts)
        case Table():
            yield from _table(block)
        case Figure():
            yield from _figure(block, pictures)


def _note(note: Note) -> Iterator[str]:
    yield f"> **{text(note.heading)}**"
    for line in note.lines:
        yield ">"
        yield f"> {text(line)}"


def _figure(figure: Figure, pictures: str | None) -> Iterator[str]:
    yield from (f"### {text(figure.title)}", "")
    if pictures is None:
        yield text(figure.alt)
    else:
        yield f"![{text(figure.alt)}](<{_path(pictures)}/{figure.id}.png>)"
    if figure.caption:
        yield from ("", text(figure.caption))
    yield ""
    yield from _table(figure.table)


def _path(folder: str) -> str:
    return re.sub(r"([<>\\])", r"\\\1", folder).replace("\n", "%0A")


def _table(table: Table) -> Iterator[str]:
    yield from (f"**{text(table.caption)}**", "")
    align = "---" if table.style == "text" else "---:"
    grouped = any(group.label for group in table.groups)
    columns = (["series"] if grouped else []) + list(table.columns)
    yield _row([text(column) for column in columns])
    yield _row([":---" if i < grouped + table.row_headers else align for i in range(len(columns))])
    for group in table.groups:
        for row in group.rows:
            yield _row(([text(group.label)] if grouped else []) + [_cell(cell) for cell in row])


def _cell(cell: Cell) -> str:
    return f"{text(cell.text)} ({text(cell.interval)})" if cell.interval else text(cell.text)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
