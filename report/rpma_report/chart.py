# SPDX-License-Identifier: BSD-3-Clause
"""Draws a figure with matplotlib as SVG for the page.

Two shapes of each chart are drawn, one for wide windows and paper, one for
phones, so that the text keeps a readable size in both. Colours are stand-ins
that svg turns into the page's CSS variables: one drawing serves light and dark.
"""

import io
import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation

from rpma_report import quantity
from rpma_report.figures import Figure, Line, Panel
from rpma_report.svg import COLOURS, for_page
from rpma_report.text import shown

# Colour never stands alone: 7 colours and 8 shapes give 56 different pairs.
SERIES_COLOURS = tuple(COLOURS[f"--s{i}"] for i in range(1, 8))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
_INK, _MUTED, _GRID, _ALARM = (COLOURS[k] for k in ("--ink", "--muted", "--grid", "--alarm"))

_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a "$" in a label is a dollar sign
    "font.family": ["DejaVu Sans"],
    "axes.edgecolor": _MUTED,
    "axes.labelcolor": _INK,
    "axes.titlecolor": _INK,
    "text.color": _INK,
    "xtick.color": _MUTED,
    "ytick.color": _MUTED,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "grid.color": _GRID,
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


@dataclass(frozen=True)
class Shape:
    """Proportions of one drawing, in points (1/72 inch)."""

    name: str
    width: float
    panel_height: float
    stacked_height: float  # of each panel, when there are several
    font: float
    label_limit: int
    ticks: int
    tick_lines: int  # with 2, a tick's unit stands below its number


WIDE = Shape("wide", 640, 268, 190, 10, 100, 12, 1)
NARROW = Shape("narrow", 328, 230, 190, 11, 40, 9, 2)
SHAPES = (WIDE, NARROW)
_LEFT, _RIGHT = 78, 14  # margins: the title of the y axis and its tick labels; half a tick label


def draw(figure: Figure, shape: Shape) -> str:
    """The figure as an SVG element, the same bytes for the same figure."""
    salt = f"{figure.id}-{shape.name}"
    settings = {**_SETTINGS, "svg.hashsalt": salt, "font.size": shape.font}
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        warnings.simplefilter("ignore")  # glyphs that the font lacks: the browser has them
        drawing = _lay_out(figure, shape)
        out = io.StringIO()
        FigureCanvasSVG(drawing).print_svg(out, metadata={"Date": None, "Creator": None})
    return for_page(out.getvalue(), salt, f"{figure.title}. {figure.alt}")


def _lay_out(figure: Figure, shape: Shape) -> Drawing:
    """Fixed margins in points: what stands where does not depend on the numbers."""
    row = shape.font * 1.5
    handles, columns = _legend(figure, shape)
    legend_rows = math.ceil(len(handles) / columns) if handles else 0
    mark_lines = _wrap(figure.marks, int(shape.width / (shape.font * 0.66)))
    top = row * (len(mark_lines) + legend_rows) + 6
    x_room = _x_room(figure, shape)
    panel_height = shape.panel_height if len(figure.panels) == 1 else shape.stacked_height
    panel_heights = [panel_height + (row if p.title else 0) + x_room for p in figure.panels]
    height = top + sum(panel_heights)
    drawing = Drawing(figsize=(shape.width / 72, height / 72), dpi=72)
    for index, text in enumerate(mark_lines):
        y = 1 - (index + 0.5) * row / height
        drawing.text(0, y, text, color=_ALARM, fontweight="bold", va="center")
    if handles:
        drawing.legend(
            handles, [h.get_label() for h in handles], loc="upper left", ncols=columns,
            bbox_to_anchor=(0, 1 - row * len(mark_lines) / height), frameon=False,
            borderpad=0.1, borderaxespad=0.1, handlelength=2.4, columnspacing=1.2,
            labelspacing=0.3,
        )  # fmt: skip
    left, right = _LEFT / shape.width, 1 - _RIGHT / shape.width
    y = height - top
    for panel, panel_height in zip(figure.panels, panel_heights, strict=True):
        y -= panel_height
        title_room = row if panel.title else 0
        box = (left, (y + x_room) / height, right - left,
               (panel_height - x_room - title_room - 4) / height)  # fmt: skip
        _draw_panel(drawing.add_axes(box), figure, panel, shape)
    return drawing


def _x_room(figure: Figure, shape: Shape) -> float:
    """Height below the axis: tick labels and the axis title."""
    lines = shape.tick_lines + (1.4 if figure.x_title else 0)
    return shape.font * (lines * 1.2 + 0.7)


def _wrap(text: str, columns: int) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= columns:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _legend(figure: Figure, shape: Shape) -> tuple[list[Line2D], int]:
    lines = max(figure.panels, key=lambda p: len(p.lines)).lines
    if len(lines) < 2:
        return [], 1
    handles = []
    for line in lines:
        # matplotlib hides a label that starts with "_".
        text = shown(line.label, shape.label_limit)
        text = f"\u200a{text}" if text.startswith("_") else text
        handles.append(Line2D([], [], label=text, **_style(line)))
    widest = max(len(h.get_label()) for h in handles) * shape.font * 0.62 + shape.font * 4.5
    return handles, max(1, min(len(handles), int(shape.width / widest)))


def _style(line: Line) -> dict[str, Any]:
    colour = SERIES_COLOURS[line.style % len(SERIES_COLOURS)]
    return {"color": colour, "marker": MARKERS[line.style % len(MARKERS)]}


def _draw_panel(axes: Axes, figure: Figure, panel: Panel, shape: Shape) -> None:
    if panel.title:
        title = shown(panel.title, shape.label_limit)
        axes.set_title(title, loc="left", fontsize=shape.font, fontweight="bold", pad=5)
    for line in panel.lines:
        if figure.x_scale == "category":
            _draw_bar(axes, line)
        else:
            _draw_line(axes, line)
    axes.grid(True, axis="y")
    axes.set_axisbelow(True)
    axes.set_xlabel(figure.x_title, labelpad=4)
    axes.set_ylabel(figure.y_title)
    # The label stands left of that place: a line high, at the edge of the drawing.
    aside = _LEFT - 2 - shape.font * 1.25
    axes.yaxis.set_label_coords(-aside / shape.width / axes.get_position().width, 0.5)
    _scale_x(axes, figure, shape)
    _scale_y(axes, figure, panel)


def _draw_line(axes: Axes, line: Line) -> None:
    style = _style(line)
    if line.path:
        axes.plot(*zip(*line.path, strict=True), color=style["color"], drawstyle="steps-pre")
    xs, ys = [m.x for m in line.marks], [m.value.value for m in line.marks]
    axes.plot(xs, ys, **style, linestyle="none" if line.path else "-")
    _draw_intervals(axes, line, style["color"])
    _draw_repeats(axes, line, style["color"])


def _draw_bar(axes: Axes, line: Line) -> None:
    style = _style(line)
    xs, ys = [m.x for m in line.marks], [m.value.value for m in line.marks]
    axes.bar(xs, ys, width=0.5, color=style["color"], alpha=0.35)
    axes.plot(xs, ys, **style, linestyle="none")
    _draw_intervals(axes, line, style["color"])
    _draw_repeats(axes, line, style["color"])


def _draw_intervals(axes: Axes, line: Line, colour: str) -> None:
    """A mark without an interval gets none: one of no width would claim certainty."""
    for mark in line.marks:
        value, low, high = mark.value.value, mark.value.low, mark.value.high
        if low is not None and high is not None:
            reach = [[max(value - low, 0)], [max(high - value, 0)]]
            axes.errorbar([mark.x], [value], yerr=reach, fmt="none", ecolor=colour,
                          elinewidth=1.3, capsize=4, capthick=1.3)  # fmt: skip


def _draw_repeats(axes: Axes, line: Line, colour: str) -> None:
    """Every repeat as a small dot beside the marker: an interval hides what they differ by."""
    dots = [(m.x, y) for m in line.marks if len(m.repeats) > 1 for y in m.repeats]
    if dots:
        xs, ys = zip(*dots, strict=True)
        drawing = axes.get_figure()
        aside = axes.transData + ScaledTranslation(8 / 72, 0, drawing.dpi_scale_trans)
        axes.plot(xs, ys, ".", color=colour, markersize=3.4, alpha=0.8, transform=aside)


def _every(values: Sequence[float], limit: int) -> list[float]:
    """Evenly thinned, keeping the first."""
    step = math.ceil(len(values) / limit)
    return list(values[::step])


def _scale_x(axes: Axes, figure: Figure, shape: Shape) -> None:
    """All panels of a figure have the same axis, so that they can be compared."""
    lines = [line for panel in figure.panels for line in panel.lines]
    xs = sorted({m.x for line in lines for m in line.marks})
    text: Callable[[float], str]
    match figure.x_scale:
        case "size":
            axes.set_xscale("log", base=2)
            ticks, text = _every(xs, shape.ticks), _size_tick(shape)
        case "count":
            axes.set_xscale("log", base=2)
            ticks, text = _every(xs, shape.ticks), lambda v: f"{v:g}"
        case "tail":
            axes.set_xscale("log")
            last = max([p[0] for line in lines for p in line.path] + xs + [10])
            nines = range(1, int(math.log10(last)) + 1)
            ticks = _every([2.0, *(10.0**nine for nine in nines)], shape.ticks)
            text = lambda v: f"{100 - 100 / v:.10g} %"  # noqa: E731
            axes.set_xlim(1, last * 1.3)
        case "category":
            ticks, text = [], str  # the legend names the bars
            middle, half = (len(lines) - 1) / 2, max(len(lines) / 2 + 0.1, 1.1)
            axes.set_xlim(middle - half, middle + half)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: text(v)))
    axes.xaxis.set_minor_locator(NullLocator())
    if figure.x_scale in ("size", "count"):
        first, last = xs[0], xs[-1]
        pad = (last / first) ** 0.04 if last > first else 2
        axes.set_xlim(first / pad, last * pad)


def _size_tick(shape: Shape) -> Callable[[float], str]:
    between = "\n" if shape.tick_lines > 1 else " "
    return lambda v: quantity.size(int(v)).replace(" ", between)


def _scale_y(axes: Axes, figure: Figure, panel: Panel) -> None:
    ys = list(_heights(panel))
    positive = [y for y in ys if y > 0]
    tick = quantity.time_tick if figure.y_scale == "time" else lambda v: quantity.rate_tick(v, "B")
    if positive and max(positive) / min(positive) > 20 and figure.x_scale != "category":
        axes.set_yscale("log", nonpositive="clip")
        low, high = min(positive) / 1.25, max(positive) * 1.25
        axes.set_ylim(low, high)
        axes.yaxis.set_major_locator(FixedLocator(_decades(low, high)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(0, max(positive, default=1) * 1.08)
        axes.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: tick(v)))


def _heights(panel: Panel) -> itertools.chain[float]:
    marks = [m for line in panel.lines for m in line.marks]
    ends = (e for m in marks for e in (m.value.value, m.value.low, m.value.high) if e is not None)
    return itertools.chain(
        ends,
        (y for m in marks for y in m.repeats),
        (y for line in panel.lines for _, y in line.path),
    )


def _decades(low: float, high: float) -> list[float]:
    """1, 2, 5 of every power of ten, or fewer over many of them."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if high / low <= 2000 else (1,) if last - first <= 7 else ()
    if steps:
        ticks = [m * 10.0**e for e in range(first, last + 1) for m in steps]
    else:
        ticks = [10.0**e for e in range(first, last + 1, math.ceil((last - first) / 7))]
    return [t for t in ticks if low <= t <= high]
