# SPDX-License-Identifier: BSD-3-Clause
"""A chart in rows: a word, a whole name, a mark with its interval, and the value in print. A forest plot.

Values lie on one logarithmic axis, so that twice and half are equally far from no change. In the
narrow shape the axis stands below the name, not beside it. All rows are equally high.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.figure import SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from rpma_report import quantity
from rpma_report.draw import notice
from rpma_report.draw.shape import Shape
from rpma_report.draw.svg import part
from rpma_report.figures.extent import Extent
from rpma_report.figures.figure import Figure, Mark, Panel, Tone

PANEL = "panel"  # names the axes of panels
SIGNS: dict[Tone, str] = {"worse": "\u2716 ", "better": "\u2714 ", "": ""}
_COLOURS: dict[Tone, str] = {"worse": "--alarm", "better": "--good", "": "--muted"}
_MARKERS: dict[Tone, str] = {"worse": "D", "better": "o", "": "o"}
_GLYPH = 0.6  # width of a character over the size of the font
_LINE = 1.3  # height of a line of text over the size of the font
_SMALL = 0.82  # times the font: intervals
_GAP = 8  # points between two columns, and between two rows
_TICK = 52  # points that the label of a tick needs


@dataclass(frozen=True)
class _Columns:
    """The columns, in points from the left."""

    name: float
    name_width: float
    axis: float
    axis_width: float


class Rows:
    """Fixed columns in points; the height follows from the names."""

    def __init__(self, figure: Figure, shape: Shape, colours: Mapping[str, str], marked: bool) -> None:
        self.figure, self.shape, self.colours = figure, shape, colours
        self.line, self.beside = shape.font * _LINE, shape.name == "wide"
        (self.panel,) = figure.panels
        self.columns = self.places()
        self.names = [self.broken(name) for name in figure.categories]
        self.title = notice.whole(self.panel.title, self.fits(shape.width))
        self.notice = notice.wrap(figure.marks, self.fits(shape.width)) if marked else []
        name_lines = max(map(len, self.names))
        self.pitch = self.line * (max(name_lines, 2) if self.beside else name_lines + 2) + _GAP
        self.top = self.line * (len(self.title) + len(self.notice)) + 4
        self.rows = self.pitch * len(self.names)
        self.height = self.top + self.rows + shape.font * 2.4
        # Height of a row's mark: in the middle, or between the lines below its name.
        self.centre = 0.5 if self.beside else (self.line * (name_lines + 1) + _GAP / 2) / self.pitch

    def places(self) -> _Columns:
        font, width = self.shape.font, self.shape.width
        rows = self.figure.rows
        name = max(len(SIGNS[row.tone] + row.word) for row in rows) * font * _GLYPH + _GAP
        value = max(max(len(row.value) * 1.1, len(row.interval) * _SMALL) for row in rows) * font * _GLYPH * 1.06
        if self.beside:
            name_width = (width - name - value) * 0.45
            axis = name + name_width + _GAP
            return _Columns(name, name_width, axis, width - axis - value - _GAP)
        return _Columns(name, width - name, 8, width - 8 - value - _GAP)

    def fits(self, width: float) -> int:
        """How many characters do."""
        return int(width / (self.shape.font * _GLYPH))

    def broken(self, name: str) -> list[str]:
        """Whole, in lines: a name that is cut may lose what tells it from others."""
        return notice.whole(name, self.fits(self.columns.name_width)) or [""]

    def drawing(self) -> Drawing:
        drawing = Drawing(figsize=(self.shape.width / 72, self.height / 72), dpi=72)
        self.draw_in(drawing)
        return drawing

    def draw_in(self, drawing: Drawing | SubFigure) -> None:
        width, height = self.shape.width, self.height
        notice.write(drawing, self.notice, self.line / height, self.colours["--alarm"])
        for number, text in enumerate(self.title, len(self.notice)):
            drawing.text(0, 1 - (number + 0.5) * self.line / height, text, fontweight="bold", va="center")
        for number in range(len(self.names)):
            self.words(drawing, number)
        columns = self.columns
        box = (columns.axis / width, 1 - (self.top + self.rows) / height, columns.axis_width / width, self.rows / height)
        axes = drawing.add_axes(box, label=PANEL)
        reach = self.figure.extent(self.panel)
        self.scale(axes, reach)
        self.marks(axes, self.panel, reach)

    def words(self, drawing: Drawing | SubFigure, number: int) -> None:
        """Writes the words beside the mark of a row."""
        row, columns, font = self.figure.rows[number], self.columns, self.shape.font
        below = self.top + self.pitch * number
        name = self.names[number]
        middle = self.pitch / 2 if self.beside else self.line * len(name) / 2 + _GAP / 2
        centre = below + self.pitch * self.centre

        def write(x: float, y: float, text: str, colour: str = "--ink", size: float = font, weight: str = "normal") -> None:
            drawing.text(x / self.shape.width, 1 - y / self.height, text, va="center", size=size,
                         color=self.colours[colour], fontweight=weight)  # fmt: skip

        weight = "bold" if row.tone else "normal"
        first = below + middle - self.line * (len(name) - 1) / 2
        write(0, first, SIGNS[row.tone] + row.word, _COLOURS[row.tone], weight=weight)
        for index, text in enumerate(name):
            write(columns.name, first + index * self.line, text)
        value = columns.axis + columns.axis_width + _GAP
        write(value, centre - (self.line / 2 if row.interval else 0), row.value, weight=weight)
        write(value, centre + self.line / 2, row.interval, "--muted", font * _SMALL)

    def scale(self, axes: Axes, reach: Extent) -> None:
        axes.set_xscale("log")
        axes.set_xlim(reach.low, reach.high)
        axes.set_ylim(len(self.names) - self.centre, -self.centre)
        ticks = ratio_ticks(reach.low, reach.high, int(self.columns.axis_width / _TICK))
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{quantity.short(v)}\u00d7"))
        axes.yaxis.set_major_locator(NullLocator())
        axes.spines["left"].set_visible(False)
        for low, high in self.bands():
            axes.vlines(ticks, low, high, colors=self.colours["--grid"], linewidth=0.7, zorder=0.5)
            axes.vlines(1, low, high, colors=self.colours["--muted"], linewidth=1.4, zorder=0.6)

    def bands(self) -> list[tuple[float, float]]:
        """The bands for lines across the values, by the axis of the rows: not on a name above its mark."""
        if self.beside:
            return [(-self.centre, len(self.names) - self.centre)]
        half = self.line / self.pitch
        return [(row - half, row + half) for row in range(len(self.names))]

    def marks(self, axes: Axes, panel: Panel, reach: Extent) -> None:
        counter = 0
        for series, line in enumerate(panel.lines):
            for mark in line.marks:
                tone = self.figure.rows[int(mark.x)].tone
                colour = self.colours[_COLOURS[tone]]
                for artist in self.mark(axes, mark, tone, colour, reach):
                    counter += 1
                    artist.set_gid(part("series", series, counter))

    def mark(self, axes: Axes, mark: Mark, tone: Tone, colour: str, reach: Extent) -> list[Line2D]:
        y = mark.x
        drawn: list[Line2D] = []
        if mark.interval:
            ends = [min(max(end, reach.low), reach.high) for end in mark.interval]
            drawn += axes.plot(ends, [y, y], color=colour, linewidth=2)
            for end, leaves, arrow in zip(ends, reach.leaves(mark.interval), "<>", strict=True):
                shape, size = (arrow, 7) if leaves else ("|", 9)
                drawn += axes.plot([end], [y], shape, color=colour, markersize=size, markeredgewidth=1.6, clip_on=False)
        face = colour if tone else "none"
        drawn += axes.plot([mark.value.value], [y], _MARKERS[tone], color=colour, markersize=7, markerfacecolor=face)
        return drawn


def ratio_ticks(low: float, high: float, limit: int) -> list[float]:
    """1 and round values around it: as fine as there is room, one step where the axis is short, else 1, 2, 5."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5) if low > 0.4 and high < 2.5 else ():
        first, last = -int((1 - low) / step + 1e-9), int((high - 1) / step + 1e-9)
        if last - first < limit:
            return [round(1 + number * step, 4) for number in range(first, last + 1)]
    for each in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,)):
        ticks = [m * 10.0**e for e in range(-12, 13) for m in each if low <= m * 10.0**e <= high]
        if len(ticks) <= limit:
            return ticks
    several = [tick for number, tick in enumerate(ticks) if number % -(-len(ticks) // max(limit, 1)) == 0]
    return sorted({1.0, *several}) if low <= 1 <= high else several
