# SPDX-License-Identifier: BSD-3-Clause
"""A document as PDF: the text of the page, set by matplotlib on sheets of the shape of A4.

Each chart has a sheet, with its alternative text below; text and tables flow over as
many as they need. The page itself prints from a browser too; this needs none.
"""

import io
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import matplotlib
from matplotlib.backends.backend_pdf import FigureCanvasPdf, PdfPages
from matplotlib.figure import Figure as Drawing

from rpma_report.draw.chart import draw_onto, settings_of
from rpma_report.draw.picture import light_colours
from rpma_report.draw.shape import WIDE
from rpma_report.figures.figure import Figure
from rpma_report.figures.tables import RowGroup, Table
from rpma_report.page.document import Block, Cards, Code, Document, Facts, Heading, Items, Note, Paragraph

MARGIN = 36.0
WIDTH = WIDE.width + 2 * MARGIN
HEIGHT = WIDTH * 297 / 210
_MONO_WIDTH = 0.602  # DejaVu Sans Mono, in units of the size
_TEXT_WIDTH = 0.56  # DejaVu Sans, on average and a little more
_MAX_LINES = 20_000  # a longer PDF has no readers; the CSV has the rest


@dataclass(frozen=True)
class Style:
    """How a line of text is set; sizes in points."""

    size: float
    colour: str = "--ink"
    weight: str = "normal"
    mono: bool = False
    before: float = 0

    @property
    def columns(self) -> int:
        return int(WIDE.width / (self.size * (_MONO_WIDTH if self.mono else _TEXT_WIDTH)))


TITLE = Style(18, weight="bold")
SECTION = Style(13, weight="bold", before=14)
HEADING = Style(10, weight="bold", before=8)
BODY = Style(9, before=3)
ALARM = Style(9, "--alarm", "bold", before=6)
SMALL = Style(8, "--muted", before=2)
CODE = Style(7.5, mono=True)

Item = tuple[str, Style] | Figure


def render(document: Document) -> bytes:
    out = io.BytesIO()
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings_of(light_colours(), WIDE))
        warnings.simplefilter("ignore")  # glyphs that the font lacks
        metadata = {"CreationDate": None, "Creator": None, "Producer": None, "Title": document.title}
        with PdfPages(out, metadata=metadata) as pages:
            for sheet in _sheets(_items(document)):
                FigureCanvasPdf(sheet)
                pages.savefig(sheet)
    return out.getvalue()


def _sheets(items: Iterator[Item]) -> Iterator[Drawing]:
    sheet, y = _blank(), HEIGHT - MARGIN
    for item in items:
        if isinstance(item, Figure):
            if y < HEIGHT - MARGIN:
                yield sheet
            sheet = _blank()
            y = HEIGHT - MARGIN - draw_onto(sheet, item, WIDE, light_colours(), MARGIN)
            continue
        text, style = item
        need = style.size * 1.35 + style.before
        if y - need < MARGIN:
            yield sheet
            sheet, y = _blank(), HEIGHT - MARGIN
        y -= need
        family = "DejaVu Sans Mono" if style.mono else "DejaVu Sans"
        sheet.text(MARGIN / WIDTH, y / HEIGHT, text, size=style.size, family=family, weight=style.weight,
                   color=light_colours()[style.colour], va="baseline")  # fmt: skip
    yield sheet


def _blank() -> Drawing:
    return Drawing(figsize=(WIDTH / 72, HEIGHT / 72), dpi=72)


def _items(document: Document) -> Iterator[Item]:
    yield from _wrapped(document.title, TITLE)
    if document.answer:
        yield from _wrapped(document.answer, HEADING)
    for sentence in filter(None, (document.author, *document.lead)):
        yield from _wrapped(sentence, BODY)
    for alarm in document.alarms:
        yield from _note(alarm)
    left = _MAX_LINES
    for section in document.sections:
        if not section.blocks or not isinstance(section.blocks[0], Figure):  # which has a title of its own
            yield from _wrapped(section.title, SECTION)
        for block in section.blocks:
            for item in _block(block):
                left -= 1
                if left > 0 or isinstance(item, Figure):
                    yield item
    if left <= 0:
        yield from _wrapped("What follows is left out here; the page and the CSV have it.", ALARM)
    yield from _wrapped(document.footer, SMALL)


def _wrapped(text: str, style: Style, indent: str = "") -> Iterator[Item]:
    lines = textwrap.wrap(text, style.columns, subsequent_indent=indent) or [""]
    yield lines[0], style
    for line in lines[1:]:
        yield line, Style(style.size, style.colour, style.weight, style.mono)


def _note(note: Note) -> Iterator[Item]:
    yield from _wrapped(note.heading, ALARM)
    for line in note.lines:
        yield from _wrapped(line, BODY)


def _block(block: Block) -> Iterator[Item]:
    match block:
        case Paragraph():
            yield from _wrapped(block.text, BODY)
        case Note():
            yield from _note(block)
        case Heading():
            yield from _wrapped(block.text, HEADING)
        case Cards():
            for card in block.cards:
                yield from _wrapped(f"{card.value}  {card.what}", HEADING)
                yield from _wrapped(f"{card.subject}; {card.detail}", SMALL)
        case Facts():
            for name, text in block.pairs:
                yield from _wrapped(f"{name}: {text}", BODY, "    ")
        case Items():
            for text in block.texts:
                yield from _wrapped(f"\u2022 {text}", BODY, "    ")
        case Code():
            for line in block.text.split("\n"):
                yield from _wrapped(line, CODE, "    ")
        case Table():
            yield from _table(block)
        case Figure():
            yield block
            yield from _wrapped(block.title, HEADING)
            for text in filter(None, (block.alt, block.caption)):
                yield from _wrapped(text, SMALL)
            yield from _table(block.table)


def _table(table: Table) -> Iterator[Item]:
    yield from _wrapped(table.caption, HEADING)
    for group in table.groups:
        if group.label:
            yield from _wrapped(group.label, SMALL)
        if table.style == "text":
            for row in group.rows:
                said = (f"{cell.text}" for cell in row if cell.text)
                yield from _wrapped(" \u00b7 ".join(said), CODE, "    ")
        else:
            yield from _columns(table, group)


def _columns(table: Table, group: RowGroup) -> Iterator[Item]:
    """Aligned; what is too wide goes on below, with the names of the rows again."""
    texts = [[cell.text for cell in row] for row in group.rows]
    widths = [max(len(c), *(len(row[i]) for row in texts), 1) if texts else len(c)
              for i, c in enumerate(table.columns)]  # fmt: skip
    widths = [min(width, 60) for width in widths]
    heads = list(range(table.row_headers))
    for part in _parts(widths, heads):
        for row in (list(table.columns), *texts):
            cells = (_fit(row[i], widths[i], i in heads) for i in part)
            yield "  ".join(cells).rstrip(), CODE


def _fit(text: str, width: int, left: bool) -> str:
    cut = text if len(text) <= width else f"{text[: width - 1]}\u2026"
    return cut.ljust(width) if left else cut.rjust(width)


def _parts(widths: Sequence[int], heads: list[int]) -> Iterator[list[int]]:
    room = CODE.columns
    base = sum(widths[i] + 2 for i in heads)
    part, used = list(heads), base
    for i in range(len(heads), len(widths)):
        if used + widths[i] > room and len(part) > len(heads):
            yield part
            part, used = list(heads), base
        part.append(i)
        used += widths[i] + 2
    yield part
