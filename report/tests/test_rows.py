# SPDX-License-Identifier: BSD-3-Clause
"""A chart in rows: words first, names whole, values on a logarithmic axis that has 1."""

import textwrap

import pytest
from matplotlib.text import Text

from rpma_report.draw.chart import laid_out
from rpma_report.draw.rows import ratio_ticks
from rpma_report.draw.shape import SHAPES, Shape
from rpma_report.draw.svg import COLOURS
from rpma_report.figures.figure import Figure, Line, Mark, Panel, Row
from rpma_report.figures.tables import Table
from rpma_report.model import Estimate

LONG = "p99 write + apm flush, depth 4, threads 1, polling, over a path of 1024 bytes, 64 KiB"
NAMES = (LONG, LONG.replace("64 KiB", "64 B"), "p50 read, 64 B")
ROWS = (Row("worse", "worse", "+210 %", "+198 % to +223 %"), Row("better", "better", "\u221220.0 %"), Row("not seen", "", "0.0 %"))
RATIOS = (Estimate(3.1, 2.98, 3.23), Estimate(0.8), Estimate(1.0, 0.96, 1.04))


def figure() -> Figure:
    lines = tuple(Line(row.word, i, (Mark(i, ratio),)) for i, (row, ratio) in enumerate(zip(ROWS, RATIOS, strict=True)))
    return Figure("forest", "Changes", "NOT HARDWARE: soft", "", "rows", "new / base", "ratio", (Panel("a series", lines),), "alt",
                  Table("", (), ()), categories=NAMES, rows=ROWS)  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.name)
def test_a_row_has_its_word_with_a_sign_its_whole_name_and_its_value(shape: Shape) -> None:
    with laid_out(figure(), shape, COLOURS, {}) as drawing:
        texts = [t for t in drawing.findobj(Text) if t.get_text()]
        said = [t.get_text() for t in texts]
        colours = {t.get_text(): t.get_color() for t in texts}
    assert {"\u2716 worse", "\u2714 better", "not seen", "+210 %", "+198 % to +223 %", "a series"} <= set(said)
    assert colours["\u2716 worse"] == COLOURS["--alarm"] and colours["not seen"] != COLOURS["--alarm"]
    whole = " ".join(said)
    assert all(name in whole for name in NAMES), textwrap.shorten(whole, 300)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.name)
def test_twice_and_half_are_equally_far_from_1(shape: Shape) -> None:
    with laid_out(figure(), shape, COLOURS, {}) as drawing:
        (axes,) = drawing.axes
        low, high = axes.get_xlim()
        place = {v: axes.transData.transform((v, 0))[0] for v in (0.5, 1, 2)}
        top, bottom = (axes.transData.transform((1, row))[1] for row in (0, 2))
    assert place[2] - place[1] == pytest.approx(place[1] - place[0.5])
    assert low < 0.8 and high > 3.23 and top > bottom  # the first row is above


@pytest.mark.parametrize("marked", [True, False])
def test_the_notice_is_on_what_leaves_the_page(marked: bool) -> None:
    with laid_out(figure(), SHAPES[0], COLOURS, {}, marked) as drawing:
        said = " ".join(t.get_text() for t in drawing.findobj(Text))
    assert ("NOT HARDWARE: soft" in said) == marked


@pytest.mark.parametrize("low, high, limit, ticks", [
    (0.94, 1.07, 5, [0.95, 1.0, 1.05]), (0.79, 3.5, 8, [1, 1.5, 2, 3]), (0.79, 3.5, 2, [1, 2]), (0.01, 100.0, 5, [0.01, 0.1, 1, 10, 100]),
    (0.97, 1.03, 8, [0.97, 0.98, 0.99, 1.0, 1.01, 1.02, 1.03]),
])  # fmt: skip
def test_ticks_are_round_and_have_1(low: float, high: float, limit: int, ticks: list[float]) -> None:
    assert ratio_ticks(low, high, limit) == pytest.approx(ticks)
