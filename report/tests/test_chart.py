# SPDX-License-Identifier: BSD-3-Clause
"""What the drawing adds to the numbers: marks, intervals, labels, colours."""

import re
from xml.etree import ElementTree

import pytest

from rpma_report.draw.chart import draw
from rpma_report.draw.shape import NARROW, SHAPES, WIDE, Shape
from rpma_report.figures.figure import Figure, Line, Mark, Panel, XScale
from rpma_report.figures.tables import Table
from rpma_report.model import Estimate

SIZES = (64, 4096, 1 << 20)
WHOLE = Estimate(2000.0, 1500.0, 2600.0)


def figure(*lines: Line, x_scale: XScale = "size", marks: str = "") -> Figure:
    table = Table("", (), ())
    return Figure("latency", "Latency against size", marks, "size", x_scale, "latency", "time",
                  (Panel("a panel", lines),), "alternative", table)  # fmt: skip


def line(label: str = "p50", value: Estimate = WHOLE, repeats: tuple[float, ...] = (), style: int = 0) -> Line:
    return Line(label, style, tuple(Mark(x, value, repeats) for x in SIZES))


def texts(svg: str) -> list[str]:
    return [e.text or "" for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("}text")]


def test_axes_say_sizes_and_times_with_units() -> None:
    drawn = texts(draw(figure(line()), WIDE))
    for part in ("64 B", "4 KiB", "1 MiB", "1 µs", "2 µs", "size", "latency", "a panel"):
        assert part in drawn
    # on a phone the unit stands below the number
    assert {"4", "KiB"} <= set(texts(draw(figure(line()), NARROW)))


def test_wide_spread_gets_a_logarithmic_axis() -> None:
    spread = Line("p50", 0, tuple(Mark(x, Estimate(y)) for x, y in zip(SIZES, (1e3, 1e4, 1e6), strict=True)))
    drawn = texts(draw(figure(spread), WIDE))
    assert {"1 µs", "10 µs", "100 µs", "1 ms"} <= set(drawn) and "0" not in drawn


@pytest.mark.parametrize("known", range(4))
def test_interval_is_drawn_only_where_there_is_one(known: int) -> None:
    values = [WHOLE] * known + [Estimate(2000.0)] * (3 - known)
    one = Line("p50", 0, tuple(Mark(x, v) for x, v in zip(SIZES, values, strict=True)))
    root = ElementTree.fromstring(draw(figure(one), WIDE))
    bars = [g for g in root.iter() if g.get("id", "").startswith("latency-wide-LineCollection_")]
    assert sum(1 for g in bars for e in g.iter() if e.tag.endswith("}path")) == known


def test_every_repeat_is_a_dot() -> None:
    def uses(repeats: tuple[float, ...]) -> int:
        return draw(figure(line(repeats=repeats)), WIDE).count("<use ")

    assert uses((1900.0, 2000.0, 2100.0)) - uses(()) == 3 * len(SIZES)
    assert uses((1900.0,)) == uses(())  # a single repeat is the mark itself


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.name)
@pytest.mark.parametrize("label", ["$x^2$ 5 $", "_hidden", "<b>&amp;</b>", '"quoted"', "\\frac{1}{2}"])
def test_label_is_drawn_as_it_stands(label: str, shape: Shape) -> None:
    drawn = [t.strip("\u200a") for t in texts(draw(figure(line(label), line("other")), shape))]
    assert label in drawn


def test_mark_stands_in_the_drawing() -> None:
    assert "NOT HARDWARE: rxe" in texts(draw(figure(line(), marks="NOT HARDWARE: rxe"), WIDE))


def test_colours_are_the_variables_of_the_page() -> None:
    svg = draw(figure(line("a"), line("b", style=1), marks="mark"), WIDE)
    found = set(re.findall(r"#[0-9a-f]{6}\b", svg.lower()))
    assert found == set()
    assert {"var(--s1)", "var(--s2)", "var(--ink)", "var(--alarm)"} <= set(re.findall(r"var\([^)]*\)", svg))


def test_bars_start_at_nothing() -> None:
    bars = figure(*(Line(n, i, (Mark(i, WHOLE),)) for i, n in enumerate("ab")), x_scale="category")
    drawn = texts(draw(bars, WIDE))
    assert "0" in drawn and {"a", "b"} <= set(drawn)
