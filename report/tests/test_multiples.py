# SPDX-License-Identifier: BSD-3-Clause
"""More than eight series in one panel become small panels with the same axes."""

import pytest
from matplotlib.text import Text

from rpma_report.draw.chart import laid_out
from rpma_report.draw.shape import SHAPES, Shape
from rpma_report.draw.svg import COLOURS
from rpma_report.figures.figure import Figure, Line, Mark, Panel
from rpma_report.figures.multiples import apart
from rpma_report.figures.tables import Table
from rpma_report.model import Estimate


def line(label: str, style: int, variant: int = 0, factor: float = 1.0) -> Line:
    return Line(label, style, tuple(Mark(x, Estimate(factor * (1000.0 + x))) for x in (64, 4096, 65536)), variant=variant)


def figure(*panels: Panel) -> Figure:
    return Figure("latency", "Latency", "", "size", "size", "latency", "time", panels, "alt", Table("", (), ()))


def many(number: int) -> Figure:
    return figure(Panel("p50", tuple(line(f"a long name of a series, depth {i}", i, factor=i + 1) for i in range(number))))


def test_eight_series_stay_together() -> None:
    assert apart(many(8)) == many(8)


def test_nine_series_have_a_panel_each() -> None:
    made = apart(many(9))
    assert [panel.title for panel in made.panels] == [f"a long name of a series, depth {i}" for i in range(9)]
    assert all(len(panel.lines) == 1 for panel in made.panels) and made.same_y
    assert {made.extent(panel) for panel in made.panels} == {made.extent(made.panels[0])}


def test_percentiles_of_a_series_stay_together() -> None:
    lines = tuple(line(f"write {i}, {p}", i, variant) for i in range(5) for variant, p in enumerate(("p50", "p99")))
    made = apart(figure(Panel("", lines)))
    assert [(panel.title, len(panel.lines)) for panel in made.panels] == [(f"write {i}", 2) for i in range(5)]


def test_panels_of_percentiles_become_panels_of_series() -> None:
    panels = (Panel(p, tuple(line(f"s{i}", i) for i in range(9))) for p in ("p50", "p99"))
    made = apart(figure(*panels))
    assert [(panel.title, [one.label for one in panel.lines]) for panel in made.panels[:1]] == [("s0", ["s0, p50", "s0, p99"])]
    assert len(made.panels) == 9


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.name)
def test_small_panels_have_whole_titles_and_do_not_meet(shape: Shape) -> None:
    with laid_out(apart(many(9)), shape, COLOURS, {}) as drawing:
        said = " ".join(t.get_text().replace("\n", " ") for t in drawing.findobj(Text))
        boxes = [axes.get_position() for axes in drawing.axes]
    assert all(f"a long name of a series, depth {i}" in said for i in range(9))
    for number, one in enumerate(boxes):
        assert all(one.x1 < other.x0 or one.y0 > other.y1 for other in boxes[number + 1 :] if other.y1 > one.y0 or other.x0 < one.x1)
        assert 0 <= one.x0 and one.x1 <= 1 and 0 <= one.y0 and one.y1 <= 1
