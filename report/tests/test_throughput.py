# SPDX-License-Identifier: BSD-3-Clause
"""Latency against achieved throughput: the hockey stick, in the order of what was swept."""

from typing import Any

import pytest

import sample
import sample_tests as made
from loaded import runs
from rpma_report.figures import throughput


def rate(number: int, offered: float, achieved: float, response: int) -> dict[str, Any]:
    return made.rate_point(number, offered, achieved, range(response, response + 1000), range(3000, 4000))


def test_line_folds_back_where_more_offered_achieves_less() -> None:
    points = [rate(0, 1000.0, 1000.0, 5000), rate(1, 8000.0, 8000.0, 9000), rate(2, 16_000.0, 7500.0, 40_000)]
    figure = throughput.figure(runs(sample.result(points)))
    assert figure is not None
    (line,) = figure.panels[0].lines
    assert [x for x, _ in line.path] == [1000.0, 8000.0, 7500.0]
    assert [y for _, y in line.path] == pytest.approx([5500, 9500, 40_500], rel=0.01)
    assert [row[1].text for row in figure.table.groups[0].rows] == ["1.00 kop/s", "8.00 kop/s", "16.0 kop/s"]


def test_bandwidth_has_a_line_by_depth() -> None:
    points = []
    for number, depth in enumerate((1, 2, 4)):
        point = made.with_latency(number, "latency", [range(3000 * depth, 3000 * depth + 1000)] * 3, depth=depth)
        point["params"]["test"] = "bw"
        for repeat in point["repeats"]:
            per_s = 1e5 * depth
            repeat.update(ops_per_s=per_s, bytes_per_s=per_s * 4096, elapsed_ns=round(1000 / per_s * 1e9))
        point["summary"].update({key: sample.interval([r[key] for r in point["repeats"]]) for key in ("ops_per_s", "bytes_per_s")})
        points.append(point)
    figure = throughput.figure(runs(sample.result(points)))
    assert figure is not None
    (line,) = figure.panels[0].lines
    assert line.label.endswith("by depth") and [x for x, _ in line.path] == pytest.approx([1e5, 2e5, 4e5])


def test_lines_that_no_other_chart_has_look_different() -> None:
    """Series by size stand in the chart of bandwidth, and by depth in this one."""
    points = []
    for number, (size, depth) in enumerate((size, depth) for size in (64, 512, 4096) for depth in (1, 2)):
        point = made.with_latency(number, "latency", [range(3000, 4000)], depth=depth, size_bytes=size, test="bw")
        point["repeats"][0]["bytes"] = 1000 * size
        points.append(point)
    figure = throughput.figure(runs(sample.result(points)))
    assert figure is not None
    assert len({(line.style, line.variant) for line in figure.panels[0].lines}) == len(figure.panels[0].lines) == 3


@pytest.mark.parametrize("points", [[], [rate(0, 1000.0, 1000.0, 5000)], [sample.bw_point(0, 64), sample.bw_point(1, 128)]])
def test_nothing_swept_has_no_chart(points: list[dict[str, Any]]) -> None:
    assert throughput.figure(runs(sample.result(points))) is None
