# SPDX-License-Identifier: BSD-3-Clause
"""Lays a figure out and draws it with matplotlib, as SVG for the page or as a picture.

Two shapes of each chart are drawn, one for wide windows and paper, one for
phones, so that the text keeps a readable size in both. Colours are stand-ins
that svg turns into the page's CSS variables: one drawing serves light and dark.
"""

import io
import json
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from rpma_report.draw import axes as scales
from rpma_report.draw import notice
from rpma_report.draw.rows import PANEL, Rows
from rpma_report.draw.shape import Shape
from rpma_report.draw.svg import COLOURS, for_page, part
from rpma_report.figures.extent import Extent
from rpma_report.figures.figure import Figure, Line, Mark, Panel
from rpma_report.text import shown

# Colour never stands alone: a further series of a colour has other dashes, and every one its marker.
SERIES_COLOURS = tuple(f"--s{i}" for i in range(1, 7))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)))

Colours = Mapping[str, str]


def settings_of(colours: Colours, shape: Shape) -> dict[str, Any]:
    ink, muted = colours["--ink"], colours["--muted"]
    return {
        "font.size": shape.font,
        "text.parse_math": False,  # a "$" in a label is a dollar sign
        "font.family": ["DejaVu Sans"],
        "axes.edgecolor": muted,
        "axes.labelcolor": ink,
        "axes.titlecolor": ink,
        "text.color": ink,
        "xtick.color": muted,
        "ytick.color": muted,
        "xtick.labelcolor": ink,
        "ytick.labelcolor": ink,
        "grid.color": colours["--grid"],
        "grid.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.8,
        "lines.linewidth": 1.7,
        "lines.markersize": 5.5,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
    }


_SHADES = 6  # steps of a heat map
_LEFT, _RIGHT = 78, 14  # margins: the title of the y axis and its tick labels; half a tick label
_BETWEEN = 14  # points between two small panels


@contextmanager
def laid_out(
    figure: Figure, shape: Shape, colours: Colours, settings: Mapping[str, Any], marked: bool = False
) -> Iterator[Drawing]:
    """The drawing, while matplotlib has our settings only; `marked`: with its notice, as it leaves the page."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**settings_of(colours, shape), **settings})
        warnings.simplefilter("ignore")  # glyphs that the font lacks: the browser has them
        yield _layout(figure, shape, colours, marked).drawing()


def draw(figure: Figure, shape: Shape) -> str:
    """The figure as an SVG element, the same bytes for the same figure."""
    salt = f"{figure.id}-{shape.name}"
    out = io.StringIO()
    settings = {"svg.fonttype": "none", "svg.hashsalt": salt}
    with laid_out(figure, shape, COLOURS, settings) as drawing:
        FigureCanvasSVG(drawing).print_svg(out, metadata={"Date": None, "Creator": None})
        where = json.dumps(_places(drawing), separators=(",", ":"))
    alt = f"{figure.title}. {figure.alt}"
    return for_page(out.getvalue(), salt, {"aria-label": alt, "data-axes": where})


def _places(drawing: Drawing) -> list[list[float]]:
    """The box of each panel in the drawing (left, top, right, bottom), and the ends of both axes.

    The ends are those of the logarithm where the axis is logarithmic, which is a 1 after them.
    """
    width, height = (inches * 72 for inches in drawing.get_size_inches())
    found: list[list[float]] = []
    for axes in drawing.axes:
        if axes.get_label() != PANEL:
            continue
        box = axes.get_position()
        place = [box.x0 * width, (1 - box.y1) * height, box.x1 * width, (1 - box.y0) * height]
        for ends, scale in ((axes.get_xlim(), axes.get_xscale()), (axes.get_ylim(), axes.get_yscale())):
            place += [*(map(math.log, ends) if scale == "log" else ends), int(scale == "log")]
        found.append([float(f"{value:.9g}") for value in place])
    return found


def draw_onto(
    sheet: Drawing, figure: Figure, shape: Shape, colours: Colours, margin: float
) -> float:
    """Below the upper margin of a sheet; the height it takes, in points."""
    layout = _layout(figure, shape, colours)
    width, height = (inches * 72 for inches in sheet.get_size_inches())
    grid = sheet.add_gridspec(
        3, 3, wspace=0, hspace=0, width_ratios=[margin, shape.width, width - margin - shape.width],
        height_ratios=[margin, layout.height, height - margin - layout.height],
    )  # fmt: skip
    layout.draw_in(sheet.add_subfigure(grid[1, 1]))
    return layout.height


@dataclass(frozen=True)
class Look:
    colour: str
    marker: str
    dashes: Any


def look_of(line: Line) -> Look:
    number, colours = line.style, len(SERIES_COLOURS)
    return Look(
        SERIES_COLOURS[number % colours],
        MARKERS[(number + 3 * line.variant) % len(MARKERS)],
        DASHES[(2 * (number // colours) + line.variant) % len(DASHES)],
    )


def _layout(figure: Figure, shape: Shape, colours: Colours, marked: bool = False) -> "Rows | _Layout":
    return Rows(figure, shape, colours, marked) if figure.rows else _Layout(figure, shape, colours, marked)


class _Layout:
    """Fixed margins in points: what stands where does not depend on the numbers."""

    def __init__(self, figure: Figure, shape: Shape, colours: Colours, marked: bool) -> None:
        self.figure, self.shape, self.colours = figure, shape, colours
        self.row = shape.font * 1.5
        self.parts = 0  # named so far, in series and legend
        self.series = {label: number for number, label in enumerate(figure.labels())}
        self.handles, self.legend_columns = self.legend()
        self.mark_lines = notice.wrap(figure.marks, int(shape.width / (shape.font * 0.66))) if marked else []
        legend_rows = math.ceil(len(self.handles) / self.legend_columns) if self.handles else 0
        self.top = self.row * (len(self.mark_lines) + legend_rows) + 6
        room = shape.panel_height if len(figure.panels) == 1 else shape.stacked_height
        below = self.x_room()
        self.panel_heights = [room + (self.row if p.title else 0) + below for p in figure.panels]
        self.height = self.top + (self.grid_height() if figure.small else sum(self.panel_heights))

    def drawing(self) -> Drawing:
        drawing = Drawing(figsize=(self.shape.width / 72, self.height / 72), dpi=72)
        self.draw_in(drawing)
        return drawing

    def draw_in(self, drawing: Drawing) -> None:
        shape, row, height = self.shape, self.row, self.height
        notice.write(drawing, self.mark_lines, row / height, self.colours["--alarm"])
        if self.handles:
            legend = drawing.legend(
                self.handles, [h.get_label() for h in self.handles], loc="upper left",
                ncols=self.legend_columns, bbox_to_anchor=(0, 1 - row * len(self.mark_lines) / height),
                frameon=False, borderpad=0.1, borderaxespad=0.1, handlelength=2.4, columnspacing=1.2,
                labelspacing=0.5,
            )  # fmt: skip
            for number, (handle, name) in enumerate(zip(legend.get_lines(), legend.get_texts(), strict=True)):
                if not self.figure.small:  # whose legend is of the variants that all series have
                    self.name("legend", number, (handle, name))
        if self.figure.small:
            self.grid(drawing)
            return
        left, right = _LEFT / shape.width, 1 - _RIGHT / shape.width
        y, x_room = height - self.top, self.x_room()
        for panel, panel_height in zip(self.figure.panels, self.panel_heights, strict=True):
            y -= panel_height
            title_room = row if panel.title else 0
            box = (left, (y + x_room) / height, right - left,
                   (panel_height - x_room - title_room - 4) / height)  # fmt: skip
            self.panel(drawing.add_axes(box, label=PANEL), panel)

    def titles(self) -> list[list[str]]:
        """Whole: what is cut may be what tells one panel from the others."""
        fits = int(self.cell() / (self.shape.font * 0.58))
        return [notice.whole(shown(panel.title, 120), fits) for panel in self.figure.panels]

    def cell(self) -> float:
        """The width of a small panel."""
        columns = self.shape.columns
        return (self.shape.width - _LEFT - _RIGHT - _BETWEEN * (columns - 1)) / columns

    def pitch(self) -> float:
        """From one row of small panels to the next."""
        return self.shape.small_height + self.row * max(map(len, self.titles())) * 0.9 + 8

    def grid_height(self) -> float:
        return math.ceil(len(self.figure.panels) / self.shape.columns) * self.pitch() + self.x_room()

    def grid(self, drawing: Drawing) -> None:
        """Small panels, whose ticks and titles stand at the outer edges alone: all have the same axes."""
        shape, number, titles = self.shape, len(self.figure.panels), self.titles()
        for index, panel in enumerate(self.figure.panels):
            row, column = divmod(index, shape.columns)
            left = _LEFT + column * (self.cell() + _BETWEEN)
            bottom = self.height - self.top - (row + 1) * self.pitch()
            box = (left / shape.width, bottom / self.height, self.cell() / shape.width, shape.small_height / self.height)
            axes = drawing.add_axes(box, label=PANEL)
            self.panel(axes, panel, "\n".join(titles[index]))
            axes.set(xlabel="", ylabel="")
            axes.tick_params(axis="y", labelleft=not column)
            axes.tick_params(axis="x", labelbottom=index + shape.columns >= number)
        middle = (_LEFT + shape.width - _RIGHT) / 2 / shape.width
        below, above = self.x_room() / self.height, 1 - self.top / self.height
        drawing.text(middle, 0.5 * shape.font / self.height, self.figure.x_title, ha="center", va="center")
        drawing.text(0.7 * shape.font / shape.width, (below + above) / 2, self.figure.y_title, rotation=90, ha="center", va="center")

    def x_room(self) -> float:
        """Height below the axis: tick labels and the axis title."""
        font = self.shape.font
        lines = self.shape.tick_lines + (1.4 if self.figure.x_title else 0)
        names = scales.named(self.figure)
        if scales.upright(self.figure, self.shape):
            lines += max(map(len, names)) * 0.5
        return font * (lines * 1.2 + 0.7)

    def legend(self) -> tuple[list[Line2D], int]:
        """Every line of any panel once; one alone needs no name."""
        lines = list(self.figure.labels().values())
        if len(lines) < 2:
            return [], 1
        shape, handles = self.shape, []
        if self.figure.small:
            return self.variants(), self.shape.columns
        for line in lines:
            # matplotlib hides a label that starts with "_".
            text = shown(line.label, shape.label_limit)
            text = f"\u200a{text}" if text.startswith("_") else text
            handles.append(Line2D([], [], label=text, **self.style(line)))
        widest = max(len(h.get_label()) for h in handles) * shape.font * 0.62 + shape.font * 4.5
        return handles, max(1, min(len(handles), int(shape.width / widest)))

    def variants(self) -> list[Line2D]:
        """The lines that are equal in all small panels: the percentiles of each series."""
        found: dict[int, Line] = {}
        for line in self.figure.panels[0].lines:
            found.setdefault(line.variant, line)
        if len(found) < 2:
            return []
        ink = {"color": self.colours["--ink"]}
        return [Line2D([], [], label=line.label.rpartition(", ")[2], **{**self.style(line), **ink}) for line in found.values()]

    def style(self, line: Line) -> dict[str, Any]:
        look = look_of(line)
        style = {"color": self.colours[look.colour], "linestyle": look.dashes}
        return style if line.path and not line.marks else {**style, "marker": look.marker}

    def panel(self, axes: Axes, panel: Panel, title: str | None = None) -> None:
        figure, shape = self.figure, self.shape
        title = shown(panel.title, shape.label_limit) if title is None else title
        # y: matplotlib need not look for a free place, which takes it long
        axes.set_title(title, loc="left", fontsize=shape.font, fontweight="bold", pad=5, y=1)
        reach = figure.extent(panel)
        bars = figure.x_scale == "category"
        self.shades(axes, panel)
        for number, line in enumerate(panel.lines):
            before = set(axes.get_children())
            if bars:
                self.bars(axes, panel, line, number, reach)
            else:
                self.line(axes, line, reach)
            parts = (artist for artist in axes.get_children() if artist not in before)
            self.name("series", self.series[line.label], parts)
        if figure.reference:
            self.reference(axes)
        axes.grid(True, axis="y")
        axes.set_axisbelow(True)
        axes.set_xlabel(figure.x_title, labelpad=4)
        axes.set_ylabel(panel.y_title or figure.y_title)
        # The label stands left of that place: a line high, at the edge of the drawing.
        aside = _LEFT - 2 - shape.font * 1.25
        axes.yaxis.set_label_coords(-aside / shape.width / axes.get_position().width, 0.5)
        scales.scale_x(axes, figure, shape)
        scales.scale_y(axes, figure, panel, reach)

    def name(self, name: str, number: int, parts: Iterable[Artist]) -> None:
        """So that the page knows to which series a part of the drawing belongs."""
        for artist in parts:
            self.parts += 1
            artist.set_gid(part(name, number, self.parts))

    def line(self, axes: Axes, line: Line, reach: Extent) -> None:
        style, drawn = self.style(line), self.style(line)
        if line.path:
            drawstyle = "steps-pre" if line.steps else "default"
            xs, ys = zip(*line.path, strict=True)
            axes.plot(xs, ys, color=style["color"], drawstyle=drawstyle, linestyle=style["linestyle"])
            drawn["linestyle"] = "none"
        if line.marks:
            places = ([m.x for m in line.marks], [m.value.value for m in line.marks])
            axes.plot(*(places if line.path else broken(places, line.gaps)), **drawn)
        self.intervals(axes, line.marks, reach, style["color"])
        self.repeats(axes, line.marks, style["color"])

    def bars(self, axes: Axes, panel: Panel, line: Line, number: int, reach: Extent) -> None:
        """Side by side where lines share a place; of a logarithmic axis the markers alone."""
        style, width, aside = self.style(line), panel.bar_width, panel.aside(number)
        marks = [replace(m, x=m.x + aside) for m in line.marks]
        xs, ys = [m.x for m in marks], [m.value.value for m in marks]
        if not reach.logarithmic and self.figure.y_scale != "ratio":
            axes.bar(xs, ys, width=width, color=style["color"], alpha=0.35)
        axes.plot(xs, ys, **{**style, "linestyle": "none"})
        self.intervals(axes, marks, reach, style["color"])
        self.repeats(axes, marks, style["color"])

    def shades(self, axes: Axes, panel: Panel) -> None:
        """A heat map in few steps of one colour, the darker the more."""
        steps: dict[int, list[list[tuple[float, float]]]] = {}
        for shade in panel.shades:
            (left, low), (right, high) = shade.begin, shade.end
            step = max(math.ceil(math.sqrt(shade.share) * _SHADES), 1)
            steps.setdefault(step, []).append([(left, low), (right, low), (right, high), (left, high)])
        for step, corners in sorted(steps.items()):
            colour = self.colours["--ink"]
            axes.add_collection(PolyCollection(corners, facecolors=colour, linewidths=0, alpha=0.6 * step / _SHADES))

    def reference(self, axes: Axes) -> None:
        assert self.figure.reference is not None
        muted, label = self.colours["--muted"], self.figure.reference.label
        axes.axhline(self.figure.reference.y, color=muted, linestyle="--", linewidth=1.2)
        axes.annotate(label, (1, self.figure.reference.y), xycoords=("axes fraction", "data"),
                      xytext=(0, -3), textcoords="offset points", ha="right", va="top")  # fmt: skip

    def intervals(self, axes: Axes, marks: Sequence[Mark], reach: Extent, colour: str) -> None:
        """A mark without an interval gets none: one of no width would claim certainty."""
        known = [(m.x, m.value.value, *m.interval) for m in marks if m.interval]
        if not known:
            return
        xs, _, lows, highs = zip(*known, strict=True)
        ends = [(min(max(low, reach.low), y), max(min(high, reach.high), y)) for _, y, low, high in known]
        bars = [((x, below), (x, above)) for x, (below, above) in zip(xs, ends, strict=True)]
        axes.add_collection(LineCollection(bars, colors=colour, linewidths=1.3), autolim=False)
        caps = ([x for x in xs for _ in range(2)], [y for pair in ends for y in pair])
        axes.plot(*caps, "_", color=colour, markersize=8, markeredgewidth=1.3)
        leaves = [reach.leaves((low, high)) for low, high in zip(lows, highs, strict=True)]
        for end, (y, arrow) in enumerate(((reach.low, "v"), (reach.high, "^"))):
            beyond = [x for x, leaving in zip(xs, leaves, strict=True) if leaving[end]]
            if beyond:
                axes.plot(beyond, [y] * len(beyond), arrow, color=colour, markersize=7, clip_on=False)

    def repeats(self, axes: Axes, marks: Sequence[Mark], colour: str) -> None:
        """Every repeat as a small dot beside the marker: an interval hides what they differ by."""
        dots = [(m.x, y) for m in marks if len(m.repeats) > 1 for y in m.repeats]
        if dots:
            xs, ys = zip(*dots, strict=True)
            drawing = axes.get_figure()
            aside = axes.transData + ScaledTranslation(8 / 72, 0, drawing.dpi_scale_trans)
            axes.plot(xs, ys, ".", color=colour, markersize=3.4, alpha=0.8, transform=aside)


def broken(places: tuple[list[float], list[float]], gaps: Sequence[float]) -> tuple[list[float], list[float]]:
    """Adds a place without a value at each gap: a line is drawn in pieces there."""
    points = sorted([*zip(*places, strict=True), *((x, math.nan) for x in gaps)])
    xs, ys = zip(*points, strict=True)
    return list(xs), list(ys)
