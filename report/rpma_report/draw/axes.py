# SPDX-License-Identifier: BSD-3-Clause
"""Scales and ticks of a panel: where they stand, and what they say with their units."""

import math
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from rpma_report import quantity
from rpma_report.draw.shape import Shape
from rpma_report.figures.extent import Extent
from rpma_report.figures.figure import Figure, Panel, YScale
from rpma_report.text import shown

Tick = Callable[[float], str]
_GLYPH = 0.64  # width of a character over the size of the font: digits and lower case of DejaVu Sans
_NAME = 24  # characters of a place's name
_SMALL_TICKS = 4  # on the y axis of a small panel
_NINES_ROOM = 75  # points that 99.9999 % needs

Y_TICKS: dict[YScale, Tick] = {
    "time": quantity.time_tick,
    "bytes": lambda v: quantity.rate_tick(v, "B"),
    "ops": lambda v: quantity.rate_tick(v, "op"),
    "fraction": lambda v: quantity.fraction(v),
    "ratio": lambda v: f"{quantity.short(v)}\u00d7",
}


def scale_x(axes: Axes, figure: Figure, shape: Shape) -> None:
    """All panels of a figure have the same axis, so that they can be compared."""
    lines = [line for panel in figure.panels for line in panel.lines]
    xs = sorted({m.x for line in lines for m in line.marks})
    ends = xs + [x for line in lines for x, _ in line.path]
    text: Tick
    match figure.x_scale:
        case "size" | "count" | "per_s":
            axes.set_xscale("log", base=2)
            text = _count_tick(figure, shape)
            ticks = _apart(xs, text, padded(xs), axes, shape)
        case "latency":
            axes.set_xscale("log")
            ticks, text = _few(decades(min(ends), max(ends)), ticks_of(figure, shape) // 2), quantity.time_tick
        case "tail":
            axes.set_xscale("log")
            last = max([*ends, 10])
            nines = range(1, int(math.log10(last) + 1e-9) + 1)
            ticks = every([2.0, *(10.0**nine for nine in nines)], int(width(figure, shape) / _NINES_ROOM) or 1)
            text = lambda v: f"{100 - 100 / v:.10g} %"  # noqa: E731
            axes.set_xlim(1, last * 1.3)
        case "category" | "runs":
            ticks, text = _places(axes, figure, shape)
        case "seconds" | "fraction":
            end = max([*ends, 1e-9]) * 1.02
            axes.set_xlim(-end * 0.02 if xs else 0, end * 1.03)
            values = MaxNLocator(ticks_of(figure, shape) // 2, steps=[1, 2, 5, 10]).tick_values(0, end)
            ticks = [float(t) for t in values if 0 <= t <= end]
            text = quantity.fraction if figure.x_scale == "fraction" else _second_tick
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: text(v)))
    axes.xaxis.set_minor_locator(NullLocator())
    if figure.x_scale in ("size", "count", "per_s", "latency"):
        axes.set_xlim(padded(ends))


def ticks_of(figure: Figure, shape: Shape) -> int:
    return max(shape.ticks // (shape.columns if figure.small else 1), 4)


def padded(ends: Sequence[float]) -> tuple[float, float]:
    """The ends of a logarithmic axis: a margin on either side."""
    first, last = min(ends), max(ends)
    pad = (last / first) ** 0.04 if last > first else 2
    return first / pad, last * pad


def _apart(values: Sequence[float], text: Tick, ends: tuple[float, float], axes: Axes, shape: Shape) -> list[float]:
    """Those of ascending places on a logarithmic axis whose labels have room, the first before others."""
    room = shape.width * axes.get_position().width / math.log(ends[1] / ends[0])
    kept: list[float] = []
    right = -math.inf
    for value in values:
        widest = max(len(line) for line in text(value).split("\n"))
        half = widest * shape.font * _GLYPH / 2
        middle = math.log(value / ends[0]) * room
        if middle - half > right:
            kept.append(value)
            right = middle + half + shape.font * _GLYPH
    return kept


def _second_tick(seconds: float) -> str:
    return quantity.time_tick(seconds * 1e9)


def _count_tick(figure: Figure, shape: Shape) -> Tick:
    between = "\n" if shape.tick_lines > 1 else " "
    if figure.x_scale == "size":
        return lambda v: quantity.size(int(v)).replace(" ", between)
    if figure.x_scale == "per_s":
        return lambda v: quantity.rate_tick(float(f"{v:.3g}"), "op").replace(" ", between)
    return lambda v: f"{v:g}"


def upright(figure: Figure, shape: Shape) -> bool:
    """The names of the places stand on end where they have no room side by side."""
    longest = max((len(name) for name in named(figure)), default=0)
    return longest * shape.font * 0.6 * len(named(figure)) > width(figure, shape)


def width(figure: Figure, shape: Shape) -> float:
    """The width of a panel, in points."""
    return (shape.width - 110) / (shape.columns if figure.small else 1)


def named(figure: Figure) -> tuple[str, ...]:
    """Places that the legend does not name: there are several marks to a line."""
    several = any(len(line.marks) > 1 for panel in figure.panels for line in panel.lines)
    return cut(told_apart(figure.categories)) if several else ()


def told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """Names that are too long for the axis, without the parts that all have: cut at the end they would be alike."""
    parts = [name.split(", ") for name in names]
    common = set(parts[0]).intersection(*parts[1:]) if parts and max(map(len, names)) > _NAME else set()
    short = tuple(", ".join(part for part in of if part not in common) for of in parts)
    return short if all(short) else tuple(names)


def cut(names: Sequence[str]) -> tuple[str, ...]:
    """To what an axis has room for; where that makes two alike, they keep their ends instead."""
    short = tuple(shown(name, _NAME) for name in names)
    if len(set(short)) == len(set(names)):
        return short
    return tuple(name if len(name) <= _NAME else f"\u2026{shown(name)[1 - _NAME :]}" for name in names)


def _places(axes: Axes, figure: Figure, shape: Shape) -> tuple[list[float], Tick]:
    names = named(figure)
    every_x = [m.x for panel in figure.panels for line in panel.lines for m in line.marks]
    number = max([len(names), len(figure.categories), *(int(x) + 1 for x in every_x)])
    middle, half = (number - 1) / 2, max(number / 2 + 0.1, 1.1)
    axes.set_xlim(middle - half, middle + half)
    if upright(figure, shape):
        axes.tick_params(axis="x", labelrotation=90)
    room = int(width(figure, shape) / (shape.font * 1.3)) if upright(figure, shape) else len(names)
    return every([float(i) for i in range(len(names))], max(room, 1)), lambda v: names[int(v)] if 0 <= v < len(names) else ""


def scale_y(axes: Axes, figure: Figure, panel: Panel, reach: Extent) -> None:
    if reach.logarithmic:
        axes.set_yscale("log", nonpositive="clip")
        ticks = decades(reach.low, reach.high)
        axes.yaxis.set_major_locator(FixedLocator(_few(ticks, _SMALL_TICKS) if figure.small else ticks))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(_SMALL_TICKS if figure.small else 8, steps=[1, 2, 5, 10]))
    axes.set_ylim(reach.low, reach.high)
    scale = panel.y_scale or figure.y_scale
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: Y_TICKS[scale](v)))


def every(values: Sequence[float], limit: int) -> list[float]:
    """Evenly thinned, keeping the first."""
    step = math.ceil(len(values) / limit)
    return list(values[:: max(step, 1)])


def _few(values: list[float], limit: int) -> list[float]:
    """Whole powers of ten, when more would not have room."""
    if len(values) <= limit:
        return values
    return every([v for v in values if math.isclose(v, 10 ** round(math.log10(v)))] or values, limit)


def decades(low: float, high: float) -> list[float]:
    """1, 2, 5 of every power of ten, or fewer over many of them."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if high / low <= 2000 else (1,) if last - first <= 7 else ()
    if steps:
        ticks = [m * 10.0**e for e in range(first, last + 1) for m in steps]
    else:
        ticks = [10.0**e for e in range(first, last + 1, math.ceil((last - first) / 7))]
    return [t for t in ticks if low <= t <= high]
