# SPDX-License-Identifier: BSD-3-Clause
"""The parts that the drawing adds to the numbers: marks, intervals, labels, colours."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rpma_report.draw.axes import cut, told_apart
from rpma_report.draw.chart import draw, laid_out
from rpma_report.draw.shape import NARROW, SHAPES, WIDE, Shape
from rpma_report.draw.svg import COLOURS
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


def strokes(svg: str) -> list[str]:
    """The paths of series, without their markers, which are in <defs>."""
    groups = [g for g in ElementTree.fromstring(svg).iter() if g.get("data-series")]
    inside = [e for g in groups for e in g.iter() if e.tag.endswith("}path")]
    markers = [e for g in groups for defs in g.iter() if defs.tag.endswith("}defs") for e in defs]
    return [e.get("d") or "" for e in inside if e not in markers]


@pytest.mark.parametrize("known", range(4))
def test_interval_is_drawn_only_where_there_is_one(known: int) -> None:
    values = [WHOLE] * known + [Estimate(2000.0)] * (3 - known)
    one = Line("p50", 0, tuple(Mark(x, v) for x, v in zip(SIZES, values, strict=True)))
    upright = (re.fullmatch(r"M(\S+) \S+L(\S+) \S+", d) for d in strokes(draw(figure(one), WIDE)))
    assert sum(1 for ends in upright if ends and ends[1] == ends[2]) == known


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


@pytest.mark.parametrize("marked", [True, False])
def test_the_notice_stands_in_pictures_and_once_on_the_page(marked: bool) -> None:
    with laid_out(figure(line(), marks="NOT HARDWARE: rxe"), WIDE, COLOURS, {}, marked) as drawing:
        assert ("NOT HARDWARE: rxe" in [t.get_text() for t in drawing.texts]) == marked
    assert "NOT HARDWARE" not in draw(figure(line(), marks="NOT HARDWARE: rxe"), WIDE)


def test_colours_are_the_variables_of_the_page() -> None:
    svg = draw(figure(line("a"), line("b", style=1)), WIDE)
    found = set(re.findall(r"#[0-9a-f]{6}\b", svg.lower()))
    assert found == set()
    assert {"var(--s1)", "var(--s2)", "var(--ink)"} <= set(re.findall(r"var\([^)]*\)", svg))


def test_bars_start_at_nothing() -> None:
    bars = figure(*(Line(n, i, (Mark(i, WHOLE),)) for i, n in enumerate("ab")), x_scale="category")
    drawn = texts(draw(bars, WIDE))
    assert "0" in drawn and {"a", "b"} <= set(drawn)


@pytest.mark.parametrize("gaps, pieces", [((), 1), ((1024,), 2)])
def test_line_breaks_at_a_gap(gaps: tuple[float, ...], pieces: int) -> None:
    """A path starts again at each M."""
    marks = tuple(Mark(x, Estimate(2000.0)) for x in (64, 256, 4096, 65536))
    (path,) = strokes(draw(figure(Line("p50", 0, marks, gaps=gaps)), WIDE))
    assert path.count("M") == pieces


@pytest.mark.parametrize(
    "value, ends",
    [(Estimate(2000.0, 1.0, 2600.0), 1), (Estimate(2000.0, -5.0, 1e9), 2), (WHOLE, 0)],
)
def test_whisker_that_leaves_the_axis_ends_in_an_arrow(value: Estimate, ends: int) -> None:
    """The smallest value is 200 ns and the largest 20 us: a logarithmic axis, a decade more on either side."""
    low, high = Mark(64, Estimate(200.0)), Mark(65536, Estimate(20_000.0))
    made = figure(Line("p50", 0, (low, Mark(4096, value), high)))
    svg = draw(made, WIDE)
    inside = [e for g in ElementTree.fromstring(svg).iter() if g.get("data-series") for e in g.iter()]
    assert sum(1 for e in inside if e.tag.endswith("}use")) == 3 + 2 + ends  # markers, caps, arrows
    assert ("An arrow at the edge" in made.caption) == bool(ends)
    assert "1 s" not in texts(svg)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.name)
@pytest.mark.parametrize(
    "x_scale, places",
    [("per_s", [20e3 * 1.6**i for i in range(11)]), ("per_s", [1e6, 1.01e6, 1.02e6]),
     ("size", [64, 65, 66, 4096, 4097, 1 << 20]), ("size", [2**i for i in range(30)]), ("count", [1, 2, 3, 100, 101])],
)  # fmt: skip
def test_labels_of_ticks_do_not_overlap(x_scale: XScale, places: list[float], shape: Shape) -> None:
    made = figure(Line("p50", 0, tuple(Mark(x, WHOLE) for x in places)), x_scale=x_scale)
    with laid_out(made, shape, COLOURS, {}) as drawing:
        canvas = FigureCanvasAgg(drawing)
        (axes,) = drawing.axes
        boxes = [t.get_window_extent(canvas.get_renderer()) for t in axes.get_xticklabels() if t.get_text()]
    assert boxes and all(left.x1 < right.x0 for left, right in pairwise(boxes))


@pytest.mark.parametrize("names, short", [
    (("p50 write, depth 1, threads 1, 64 B", "p50 write, depth 4, threads 1, 64 B"), ("depth 1", "depth 4")),
    (("write, 64 B", "write, 4 KiB"), ("write, 64 B", "write, 4 KiB")),  # there is room
    (("a long name of a single point, 64 B",), ("a long name of a single point, 64 B",)),
    (("write of a long name, 64 B", "write of a long name"), ("write of a long name, 64 B", "write of a long name")),
    ((), ()),
])  # fmt: skip
def test_long_names_of_places_lose_what_they_share(names: tuple[str, ...], short: tuple[str, ...]) -> None:
    assert told_apart(names) == short


def test_names_of_places_that_are_cut_stay_apart() -> None:
    nightly = ("nightly build of branch main 1a2b3c4d5", "nightly build of branch main 5d4c3b2a1")
    assert [name[-9:] for name in cut(nightly)] == ["1a2b3c4d5", "5d4c3b2a1"] and all(len(name) == 24 for name in cut(nightly))
    assert cut(("a short name", "x" * 40))[0] == "a short name" and cut(("a" * 40,))[0].startswith("a")
