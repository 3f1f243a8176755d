# SPDX-License-Identifier: BSD-3-Clause
"""The values of all charts as JSON, for the script of the page to show at the pointer.

Every chart is told in the same way, whatever it shows: panels of lines of marks, and
the places between them that a line goes through. Times are ns, rates a second.
"""

import json
import math
from typing import Any

from rpma_report.figures.figure import Figure, Line, Mark
from rpma_report.page.anchors import Anchors
from rpma_report.page.document import Document
from rpma_report.text import shown

_MAX_LABEL = 200


def render(document: Document, anchors: Anchors) -> str:
    """JSON that may stand in a script element: no text in it ends the element."""
    charts = {figure.id: _chart(figure, anchors) for figure in document.figures()}
    told = {"column": anchors.column(), "charts": charts}
    text = json.dumps(told, separators=(",", ":"), allow_nan=False)  # ASCII only
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _chart(figure: Figure, anchors: Anchors) -> dict[str, Any]:
    series = {label: number for number, label in enumerate(figure.labels())}
    bars = figure.x_scale == "category"
    return {
        "x": figure.x_scale,
        "xTitle": figure.x_title,
        "names": [shown(name, _MAX_LABEL) for name in figure.categories],
        "series": [shown(label, _MAX_LABEL) for label in series],
        "panels": [
            {
                "title": shown(panel.title, _MAX_LABEL),
                "y": panel.y_scale or figure.y_scale,
                "yTitle": panel.y_title or figure.y_title,
                "lines": [
                    _line(line, series[line.label], panel.aside(number) if bars else 0, anchors)
                    for number, line in enumerate(panel.lines)
                ],
            }
            for panel in figure.panels
        ],
    }


def _line(line: Line, series: int, aside: float, anchors: Anchors) -> dict[str, Any]:
    told: dict[str, Any] = {"series": series, "marks": [_mark(mark, anchors) for mark in line.marks]}
    if aside:
        told["aside"] = aside
    if path := [_number(v) for x, y in line.path if math.isfinite(x) and math.isfinite(y) for v in (x, y)]:
        told["path"] = path
    return told


def _mark(mark: Mark, anchors: Anchors) -> list[Any]:
    """[x, y, low, high, repeats, point], as far as it is known."""
    low, high = mark.interval or (None, None)
    told = [_number(mark.x), _number(mark.value.value), _number(low), _number(high), len(mark.repeats) or None,
            anchors.point(mark.at) or None]  # fmt: skip
    while told[-1] is None:
        told.pop()
    return told


def _number(value: float | None) -> float | int | None:
    """Six digits; a whole number whole."""
    if value is None or not math.isfinite(value):
        return None
    short = value if value == int(value) and abs(value) < 2**53 else float(f"{value:.6g}")
    return int(short) if short == int(short) else short
