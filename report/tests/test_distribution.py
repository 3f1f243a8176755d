# SPDX-License-Identifier: BSD-3-Clause
"""CDF, histogram and the choice of points, by counting."""

import math

import pytest

import sample
from loaded import runs
from rpma_report.figures import distribution
from rpma_report.figures.choice import evenly
from rpma_report.figures.distribution import cdf_path, share_path
from rpma_report.model import Latency

# four in [100, 101), five in buckets of 4 ns from 1000 on, one in a bucket of 32 ns
SAMPLES = [100] * 4 + [1000, 1001, 1003, 1006, 1007] + [5000]


def latency(samples: list[int]) -> Latency:
    made = [sample.repeat(0, 64, 1e5, len(samples), samples)]
    (run,) = runs(sample.result([sample.point(1, sample.params("lat", 64), made, samples)]))
    found = run.points[0].latency
    assert found is not None
    return found


def test_cdf_reaches_the_share_at_the_upper_end_of_each_bucket() -> None:
    # 5000 lies in [4992, 5024), but nothing was slower than 5000
    assert cdf_path(latency(SAMPLES)) == ((100.0, 0.0), (101.0, 0.4), (1004.0, 0.7), (1008.0, 0.9), (5000.0, 1.0))


def test_histogram_is_shares_in_quarters_of_an_octave() -> None:
    histogram = latency(SAMPLES).histogram
    assert histogram is not None
    path = share_path(histogram)
    # log2 of 100 is 6.64, of 1002 and 1006 9.97, of 5008 12.29: bins 26, 39 and 49 of a quarter each
    assert path[0] == (2**6.5, 0.0) and path[-1] == (2**12.5, 0.0)
    bars = {round(math.log2(x) * 4): y for x, y in path[1:-1:2]}
    assert bars[26] == 0.4 and bars[39] == 0.5 and bars[49] == pytest.approx(0.1)
    assert sum(bars.values()) == pytest.approx(1) and len(bars) == 24


def test_table_of_the_distribution_says_only_what_the_samples_support() -> None:
    document = sample.result([sample.lat_point(0, 64, count=2000, repeats=1)])
    figure = distribution.distribution(runs(document))
    assert figure is not None
    row = dict(zip(figure.table.columns, figure.table.groups[0].rows[0], strict=True))
    assert row["99.9 % within"].text == "–" and row["99 % within"].text != "–"  # 2 and 20 beyond


def test_table_of_the_distribution_is_counted() -> None:
    samples = list(range(1000, 2000))
    made = [sample.repeat(0, 64, 1e5, 1000, samples)]
    figure = distribution.distribution(runs(sample.result([sample.point(1, sample.params("lat", 64), made, samples)])))
    assert figure is not None
    row = dict(zip(figure.table.columns, figure.table.groups[0].rows[0], strict=True))
    # rank 250 is 1249, in the bucket [1248, 1256) of middle 1252; rank 500 is 1499, [1496, 1504), 1500
    assert (row["25 % within"].text, row["50 % within"].text) == ("1.25 µs", "1.50 µs")


@pytest.mark.parametrize(
    "limit, chosen", [(1, [0]), (2, [0, 9]), (3, [0, 4, 9]), (10, list(range(10))), (99, list(range(10)))]
)
def test_choice_keeps_both_ends(limit: int, chosen: list[int]) -> None:
    assert evenly(range(10), limit) == chosen


def test_long_histogram_is_thinned_but_keeps_its_ends() -> None:
    samples = [1000 + i * 9 for i in range(20_000)]
    path = cdf_path(latency(samples))
    assert len(path) < 500
    assert path[0] == (1000.0, 0.0) and path[-1] == (1000.0 + 19_999 * 9, 1.0)
    steps = [b[1] - a[1] for a, b in zip(path, path[1:], strict=False)]
    assert max(steps) < 0.02 and min(steps) >= 0


def test_points_of_a_sweep_are_named_by_their_place() -> None:
    document = sample.result([sample.lat_point(i, size, count=500) for i, size in enumerate(sample.SIZES)])
    figure = distribution.ladder(runs(document))
    assert figure is not None
    assert [line.label for line in figure.panels[0].lines] == ["64 B", "256 B", "4 KiB", "16 KiB", "256 KiB", "1 MiB"]
