# SPDX-License-Identifier: BSD-3-Clause
"""Small multiples: a chart of many series as a small panel for each, all with the same axes.

Up to eight lines are told apart by colour and marker; more in one panel cannot be followed.
"""

import re
from dataclasses import replace

from rpma_report.figures.figure import Figure, Line, Panel

TOGETHER = 8  # lines that one panel may have
NOTE = "A panel for each series, all with the same axes."
_PERCENTILE = re.compile(r"p[0-9.]+")


def apart(figure: Figure) -> Figure:
    """The same figure where no panel has too many lines, or where its panels show different things."""
    panels = figure.panels
    if figure.small or figure.rows or max((len(panel.lines) for panel in panels), default=0) <= TOGETHER:
        return figure
    if len(panels) == 1 and not panels[0].shades:
        made = _by_series(panels[0])
    elif len(panels) > 1 and all(_PERCENTILE.fullmatch(panel.title) for panel in panels):
        made = _by_label(panels)
    else:
        return figure
    return replace(figure, panels=made, same_y=True, small=True, notes=(*figure.notes, NOTE)) if len(made) > 1 else figure


def _by_series(panel: Panel) -> tuple[Panel, ...]:
    """Variants of a series, such as p50 and p99, stay together."""
    series: dict[int, list[Line]] = {}
    for line in panel.lines:
        series.setdefault(line.style, []).append(line)
    variants = all(len({line.variant for line in lines}) == len(lines) for lines in series.values())
    groups = [*series.values()] if variants else [[line] for line in panel.lines]
    return tuple(replace(panel, title=_common(lines), lines=tuple(lines)) for lines in groups)


def _by_label(panels: tuple[Panel, ...]) -> tuple[Panel, ...]:
    """Panels of percentiles: those of a series in one."""
    series: dict[str, list[Line]] = {}
    for number, panel in enumerate(panels):
        for line in panel.lines:
            series.setdefault(line.label, []).append(replace(line, label=f"{line.label}, {panel.title}", variant=number))
    return tuple(Panel(label, tuple(lines)) for label, lines in series.items())


def _common(lines: list[Line]) -> str:
    """write of write, p50 and write, p99."""
    if len(lines) == 1:
        return lines[0].label
    parts = [line.label.split(", ") for line in lines]
    number = next((i for i, of in enumerate(zip(*parts, strict=False)) if len(set(of)) > 1), min(map(len, parts)))
    return ", ".join(parts[0][:number]) or lines[0].label
