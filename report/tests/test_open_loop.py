# SPDX-License-Identifier: BSD-3-Clause
"""Response against offered rate, mixes, load of the server, and time series: the numbers."""

import csv
import io
import math

import pytest

import sample
import sample_tests as made
from loaded import runs
from rpma_report.figures import load, mix, rate, windows
from rpma_report.page import points_csv

TEN_US, FIFTY_US = range(10_000, 11_000), range(50_000, 51_000)
ONE_MS = range(1_000_000, 1_128_000, 128)


def test_response_and_service_are_lines_of_their_own() -> None:
    points = [made.rate_point(1, 2000.0, 1500.0, ONE_MS, TEN_US, late=400),
              made.rate_point(0, 1000.0, 1000.0, FIFTY_US, TEN_US)]  # fmt: skip
    figure = rate.figure(runs(sample.result(points)))
    assert figure is not None and [p.title for p in figure.panels] == ["p50", "p99"]
    response, service = figure.panels[0].lines
    assert (response.label, service.label) == ("write + apm flush, response", "write + apm flush, service")
    # half of k, k+1, … k+999 lie below k + 499.5; 56 of 64 samples of the bucket from 1,056,768 below the other
    assert [(m.x, m.value.value) for m in response.marks] == [(1000.0, 50_499.5), (2000.0, 1_063_935.5)]
    assert [(m.x, m.value.value) for m in service.marks] == [(1000.0, 10_499.5), (2000.0, 10_499.5)]
    assert figure.panels[1].lines[0].marks[0].value.value == 50_989.5


def test_table_of_rates_has_what_was_late() -> None:
    figure = rate.figure(runs(sample.result([made.rate_point(0, 2000.0, 1500.0, ONE_MS, TEN_US, late=400)])))
    assert figure is not None
    row = dict(zip(figure.table.columns, figure.table.groups[0].rows[0], strict=True))
    assert (row["offered rate"].text, row["achieved"].text) == ("2.00 kop/s", "1.50 kop/s")
    assert (row["late"].text, row["not begun"].text) == ("400", "0")
    assert row["response p50"].text == "1.06 ms" and row["service p50"].text == "10.5 µs"


# 1,000 began and 600 did not: the 800th of 1,600 is the 36th of 64 samples in the bucket from 1,097,728
OVERLOAD = made.unbegun_point(0, 2000.0, ONE_MS, 600, 1_097_727.5 + 36 * 128)


def test_what_was_never_begun_leaves_the_slowest_and_the_mean_unknown() -> None:
    loaded = runs(sample.result([OVERLOAD]))
    figure = rate.figure(loaded)
    assert figure is not None
    drawn = [[bool(line.marks) for line in panel.lines] for panel in figure.panels]
    assert drawn == [[True, True], [False, True]]  # response and service, p50 and p99
    row = dict(zip(figure.table.columns, figure.table.groups[0].rows[0], strict=True))
    assert (row["not begun"].text, row["response p50"].text) == ("600", "1.10 ms")
    # what columns there are is all that is known; the service latency has the others
    assert "response p99" not in row and row["service p99"].text == "1.13 ms"
    lines = list(csv.DictReader(io.StringIO(points_csv.render(loaded))))
    for key in ("max", "mean", "p99"):
        assert {line[f"response_latency_{key}_ns"] for line in lines} == {""}
    assert {line["response_latency_p50_ns"] for line in lines} == {"1102335.5"}


def test_mix_has_writes_and_reads_against_the_share_of_reads() -> None:
    points = [made.mix_point(i, share, TEN_US, FIFTY_US) for i, share in enumerate((0.9, 0.1))]
    figure = mix.figure(runs(sample.result(points)))
    assert figure is not None and figure.x_scale == "fraction"
    writes, reads = figure.panels[0].lines
    assert [(m.x, m.value.value) for m in writes.marks] == [(0.1, 10_499.5), (0.9, 10_499.5)]
    assert [(m.x, m.value.value) for m in reads.marks] == [(0.1, 50_499.5), (0.9, 50_499.5)]
    assert "Of writes: write + apm flush: p50 10.5 µs at share of reads 10 %" in figure.alt


def test_load_is_drawn_as_it_was_measured() -> None:
    points = [made.load_point(0, 0.0, None, TEN_US), made.load_point(1, 0.5, 0.375, FIFTY_US)]
    figure = load.figure(runs(sample.result(points)))
    assert figure is not None
    (line,) = figure.panels[0].lines
    assert [(m.x, m.value.value) for m in line.marks] == [(0.0, 10_499.5), (0.375, 50_499.5)]
    rows = [dict(zip(figure.table.columns, row, strict=True)) for row in figure.table.groups[0].rows]
    assert [r["server load asked for"].text for r in rows] == ["0 %", "50 %"]
    assert [r["measured"].text for r in rows] == ["–", "37.5 %"]
    assert rows[1]["server CPU"].text == "25 %"


def test_one_load_makes_no_chart() -> None:
    points = [made.load_point(i, 0.0, None, TEN_US, size_bytes=size) for i, size in enumerate((64, 4096))]
    assert load.figure(runs(sample.result(points))) is None


def test_windows_are_rates_one_repeat_after_the_other() -> None:
    point = made.with_latency(0, "latency", [TEN_US, TEN_US])
    made.with_windows(point, [[(10**8, 500, 9000), (3 * 10**8, 1500, 8000)], [(10**8, 400, None)]])
    figure = windows.figure(runs(sample.result([point])))
    assert figure is not None
    rates, tails = figure.panels
    path = rates.lines[0].path
    # 500 in 0.1 s; 1,500 in the 0.2 s after; a gap; 400 in the first 0.1 s of the next
    assert [p for p in path if not math.isnan(p[1])] == [(0.1, 5000.0), (0.3, 7500.0), (0.4, 4000.0)]
    assert [math.isnan(y) for _, y in path] == [False, False, True, False]
    assert [(m.x, m.value.value) for m in rates.lines[0].marks] == [(0.1, 5000.0), (0.4, 4000.0)]
    assert [p for p in tails.lines[0].path if not math.isnan(p[1])] == [(0.1, 9000.0), (0.3, 8000.0)]
    row = dict(zip(figure.table.columns, figure.table.groups[0].rows[0], strict=True))
    assert row["spans"].text == "3" and row["lowest rate"].text == "4.00 kop/s"
    assert row["median rate"].text == "5.00 kop/s" and row["highest p99"].text == "9.00 µs"


def test_long_series_keeps_its_worst_spans() -> None:
    spans = [((i + 1) * 10**6, 1 if i == 777 else 100, 99_000 if i == 555 else 1000) for i in range(2000)]
    point = made.with_windows(made.with_latency(0, "latency", [TEN_US]), [spans])
    figure = windows.figure(runs(sample.result([point])))
    assert figure is not None
    rates, tails = (panel.lines[0].path for panel in figure.panels)
    assert len(rates) <= 500
    assert min(y for _, y in rates) == 1000.0 and max(y for _, y in tails) == 99_000


@pytest.mark.parametrize(
    "achieved, said",
    [
        ((1000.0, 2000.0, 4000.0), "the plan was kept at every rate, up to 4.00 kop/s"),
        ((1000.0, 1985.0, 3900.0), "the plan was kept up to 2.00 kop/s"),  # 99.25 % of it, not 97.5 %
        ((1000.0, 1500.0, 4000.0), "the plan was kept up to 1.00 kop/s; above it again at 4.00 kop/s"),
        ((900.0, 1500.0, 4000.0), "the plan was not kept at the lowest rate, 1.00 kop/s; above it at 4.00 kop/s"),
        ((900.0, 1500.0, 2000.0), "the plan was not kept at any rate, the lowest of which is 1.00 kop/s"),
    ],
)
def test_knee_is_the_highest_rate_that_was_kept(achieved: tuple[float, ...], said: str) -> None:
    points = [made.rate_point(i, 1000.0 * 2**i, rate, TEN_US, TEN_US) for i, rate in enumerate(achieved)]
    figure = rate.figure(runs(sample.result(points)))
    assert figure is not None
    assert figure.notes == (f"write + apm flush: {said}.",)
