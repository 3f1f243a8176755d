# SPDX-License-Identifier: BSD-3-Clause
"""The cost of persistence: differences computed here by hand, and the coverage of their interval."""

import math
import random
from typing import Any

import pytest

import sample
import sample_tests as made
from loaded import runs
from rpma_report.figures import cost, methods
from rpma_report.intervals import difference, of_repeats
from rpma_report.model import Estimate

PLAIN = {"persist": "none", "flush": None, "flush_method": None, "latency_kind": "post_to_cqe"}
GPSPM = {"persist": "gpspm", "latency_kind": "gpspm_rtt"}


def lat(number: int, first: int, size: int = 4096, **params: Any) -> dict[str, Any]:
    """The median is first + 500, of each repeat."""
    return made.with_latency(number, "latency", [range(first, first + 1001)] * 3, size_bytes=size, **params)


def test_cost_is_the_difference_of_the_percentiles() -> None:
    figure = cost.figure(runs(sample.result([lat(0, 3000, **PLAIN), lat(1, 10_000), lat(2, 20_000, **GPSPM)])))
    assert figure is not None
    medians = {line.label: line.marks[0].value.value for line in figure.panels[0].lines}
    assert medians == {"write + apm flush": pytest.approx(7000, abs=40), "write + gpspm": pytest.approx(17_000, abs=80)}
    assert all(m.interval for line in figure.panels[0].lines for m in line.marks)
    cells = [cell.text for cell in figure.table.groups[0].rows[0]]
    assert cells[:4] == ["4 KiB", "3.50 \u00b5s", "10.5 \u00b5s", "7.00 \u00b5s"]


def test_only_like_points_are_subtracted() -> None:
    assert cost.figure(runs(sample.result([lat(0, 3000, depth=2, **PLAIN), lat(1, 10_000)]))) is None
    other_run = [sample.result([lat(0, 3000, **PLAIN)]), sample.result([lat(0, 10_000)])]
    assert cost.figure(runs(*other_run)) is None


def test_what_costs_nothing_is_said_and_not_drawn() -> None:
    points = [lat(0, 3000, **PLAIN), lat(1, 2000), lat(2, 9000, **GPSPM)]
    figure = cost.figure(runs(sample.result(points)))
    assert figure is not None
    assert [line.label for line in figure.panels[0].lines] == ["write + gpspm"]
    assert "No cost was seen, the difference is 0 or less: write + apm flush at p50" in figure.caption
    assert "\u2212" in figure.table.groups[0].rows[0][3].text or "-1" in figure.table.groups[0].rows[0][3].text


def test_no_interval_where_one_side_has_none() -> None:
    assert difference(Estimate(5.0, 4.0, 6.0), Estimate(2.0)) == Estimate(3.0)
    # MOVER by hand: 3 and 4 make 5, below and above
    assert difference(Estimate(20, 17, 24), Estimate(10, 7, 14)) == Estimate(10, 10 - 5, 10 + 5)


def test_interval_of_a_difference_covers_it() -> None:
    """Lognormal repeats of known geometric means, five a side."""
    draw, covered, trials = random.Random(7), 0, 1000
    for _ in range(trials):
        sides = [[g * math.exp(draw.gauss(0, s)) for _ in range(5)] for g, s in ((10_000, 0.05), (4000, 0.1))]
        more, less = (of_repeats(side) for side in sides)
        assert more and less
        found = difference(more, less)
        assert found.low is not None and found.high is not None
        covered += found.low <= 6000 <= found.high
    assert covered / trials >= 0.925


def test_ladder_has_a_line_for_each_way() -> None:
    ladder = methods.ladder(runs(sample.result([lat(0, 3000, **PLAIN), lat(1, 10_000), lat(2, 20_000, **GPSPM)])))
    assert ladder is not None and ladder.title == "Percentiles by way to persist, 4 KiB"
    assert [line.label for line in ladder.panels[0].lines] == ["write", "write + apm flush", "write + gpspm"]
    assert [line.marks[0].value.value for line in ladder.panels[0].lines] == pytest.approx([3500, 10_500, 20_500], abs=80)
