# SPDX-License-Identifier: BSD-3-Clause
"""Small multiples where one chart would drop series; bands where spans have percentiles."""

from array import array
from dataclasses import replace
from typing import Any

import sample
import sample_tests as made
from loaded import runs
from rpma_report.figures import bands, bandwidth, latency
from rpma_report.figures.facets import MAX_FACETS
from rpma_report.model import Histogram, Windows

PLAIN = {"persist": "none", "flush": None, "flush_method": None, "latency_kind": "post_to_cqe"}


def product(depths: tuple[int, ...], threads: tuple[int, ...]) -> list[dict[str, Any]]:
    """Latency grows with each, so that a wrong panel shows."""
    return [
        made.with_latency(0, "latency", [range(first, first + 1000)], size_bytes=size, depth=depth, threads=thread, **kind)
        for kind in ({}, PLAIN) for depth in depths for thread in threads for size in (64, 4096)
        for first in [1000 * depth + 100 * thread + size]
    ]  # fmt: skip


def test_each_combination_has_a_panel_and_all_points_are_drawn() -> None:
    figure = latency.figure(runs(sample.result(product((1, 2, 4), (1, 2, 8)))))
    assert figure is not None
    titles = [panel.title for panel in figure.panels]
    assert titles == [f"depth {d}, threads {t}" for d in (1, 2, 4) for t in (1, 2, 8)]
    names = ["write, p50", "write, p99", "write + apm flush, p50", "write + apm flush, p99"]
    assert all([line.label for line in panel.lines] == names for panel in figure.panels)
    assert all([m.x for m in line.marks] == [64, 4096] for panel in figure.panels for line in panel.lines)
    medians = [panel.lines[0].marks[0].value.value for panel in figure.panels]
    assert medians == sorted(medians)
    assert "Left out" not in figure.caption and "combinations" not in figure.caption


def test_panels_share_their_axes() -> None:
    figure = latency.figure(runs(sample.result(product((1, 2, 4), (1, 2, 8)))))
    assert figure is not None and len({figure.extent(panel) for panel in figure.panels}) == 1


def test_what_has_no_room_is_counted() -> None:
    figure = latency.figure(runs(sample.result(product((1, 2, 4, 8, 16), (1, 2, 4, 8)))))
    assert figure is not None and len(figure.panels) == MAX_FACETS
    assert f"The panels show {MAX_FACETS} of 20 combinations of depth and threads, the table all." in figure.caption
    assert figure.panels[0].title == "depth 1, threads 1" and figure.panels[-1].title == "depth 16, threads 8"
    assert figure.table.length == 80


def test_few_series_stay_in_one_chart() -> None:
    figure = latency.figure(runs(sample.result(product((1, 2), (1,)))))
    assert figure is not None and [panel.title for panel in figure.panels] == ["p50", "p99"]


def test_bandwidth_has_panels_too() -> None:
    points = [sample.bw_point(i, size, depth=depth, threads=thread) for i, (size, depth, thread) in enumerate(
        (s, d, t) for s in (64, 4096) for d in (1, 2, 4, 8) for t in (1, 2, 4, 8))]  # fmt: skip
    figure = bandwidth.figure(runs(sample.result(points)))
    assert figure is not None and len(figure.panels) == MAX_FACETS and all(len(p.lines) == 1 for p in figure.panels)


def test_bands_have_the_percentiles_of_each_span() -> None:
    point = made.with_windows(sample.lat_point(0, 64, count=2000), [[(10**9 * (k + 1), 100, 900 + k) for k in range(3)]] * 3)
    for repeat in point["repeats"]:
        for span in repeat["intervals"]:
            span.update(p50_ns=500, max_ns=2000)
    figure = bands.figure(runs(sample.result([point])))
    assert figure is not None
    edges = {line.label: [y for _, y in line.path][:3] for line in figure.panels[0].lines}
    assert edges == {"p50": [500.0] * 3, "p99": [900.0, 901.0, 902.0], "slowest": [2000.0] * 3}
    assert "this is no heat map" in figure.caption


def test_repeats_of_one_span_have_no_bands() -> None:
    """A line needs two places: the panels would be empty."""
    point = made.with_windows(sample.lat_point(0, 64, count=2000), [[(10**9, 100, 900)]] * 3)
    for repeat in point["repeats"]:
        repeat["intervals"][0].update(p50_ns=500, max_ns=2000)
    assert bands.figure(runs(sample.result([point]))) is None


def test_spans_without_percentiles_have_no_bands() -> None:
    point = made.with_windows(sample.lat_point(0, 64, count=2000), [[(10**9, 100, None)]] * 3)
    assert bands.figure(runs(sample.result([point]))) is None


def test_spans_with_histograms_have_a_heat_map() -> None:
    """Three of four operations at 1,024 ns and one at 4,096 ns in the first span, none in the second."""
    (run,) = runs(sample.result([sample.lat_point(0, 64, count=2000)]))
    counts = (Histogram(array("q", [1024, 4096]), array("q", [3, 1]), 7), None)
    spans = [array("d", [1000.0] * 2), array("d", [1024.0] * 2), array("d", [4000.0] * 2), array("d", [4096.0] * 2)]
    point = replace(run.points[0], windows=(Windows(array("q", [10**9, 2 * 10**9]), *spans, counts),))
    figure = bands.figure([replace(run, points=(point,))])
    assert figure is not None and "Shaded: " in figure.caption and "no heat map" not in figure.caption
    assert [(s.begin, s.end[0], s.share) for s in figure.panels[0].shades] == [((0.0, 1024.0), 1.0, 0.75), ((0.0, 4096.0), 1.0, 0.25)]
    assert figure.extent(figure.panels[0]).high > 4096
