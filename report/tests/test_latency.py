# SPDX-License-Identifier: BSD-3-Clause
"""The numbers behind the charts, against arithmetic done here on known samples."""

import math
import statistics

import pytest

import sample
from loaded import runs
from rpma_report.figures import bandwidth, distribution, latency
from rpma_report.figures.distribution import ladder_path
from rpma_report.figures.figure import Figure, Line


def lines(figure: Figure | None) -> dict[str, Line]:
    assert figure is not None and len(figure.panels) == 1
    return {line.label: line for line in figure.panels[0].lines}


def ten_thousand(size: int, first_ns: int) -> dict:
    """Three repeats of first, first+1, … first+9999, the same 10 and the same 20 ns later."""
    series = [list(range(first_ns + shift, first_ns + shift + 10_000)) for shift in (0, 10, 20)]
    made = [sample.repeat(i, size, 1e5, 10_000, ns) for i, ns in enumerate(series)]
    return sample.point(1, sample.params("lat", size), made, series[0] + series[1] + series[2])


def test_latency_marks_are_the_percentiles_of_all_repeats() -> None:
    first, second = 20_000, 90_000
    document = sample.result([ten_thousand(64, first), ten_thousand(4096, second)])
    drawn = lines(latency.figure(runs(document)))
    assert list(drawn) == ["p50", "p99", "p99.9"]  # 10,000 samples do not support p99.99
    median = drawn["p50"].marks
    # the median of k, k+1, … k+9999 is k + 4999.5; at 10 in 25,000 logarithms interpolate like numbers
    assert [m.x for m in median] == [64, 4096]
    assert [m.value.value for m in median] == pytest.approx([first + 5009.5, second + 5009.5], abs=0.01)
    half = 4.303 * 10 / math.sqrt(3)
    assert median[0].value.low == pytest.approx(first + 5009.5 - half, abs=0.1)
    assert median[0].value.high == pytest.approx(first + 5009.5 + half, abs=0.1)
    assert median[0].repeats == pytest.approx([first + 4999.5, first + 5009.5, first + 5019.5])


def test_percentile_without_samples_is_left_out_not_zero() -> None:
    few = list(range(1000, 1500))
    made = [sample.repeat(0, 64, 1e5, 500, few)]
    document = sample.result([sample.point(1, sample.params("lat", 64), made, few),
                              ten_thousand(4096, 20_000)])  # fmt: skip
    drawn = lines(latency.figure(runs(document)))
    assert [m.x for m in drawn["p50"].marks] == [64, 4096]
    assert [m.x for m in drawn["p99"].marks] == [4096]
    figure = latency.figure(runs(document))
    assert figure is not None
    column = figure.table.columns.index("p99")
    assert figure.table.groups[0].rows[0][column].text == "–"


def without(point: dict, p: float) -> dict:
    """A point with too few operations for a percentile."""
    for holder in (point["summary"]["latency"], *(r["latency"] for r in point["repeats"])):
        next(q for q in holder["percentiles"] if q["p"] == p).update(ns=None, lo_ns=None, hi_ns=None)
    return point


def test_line_breaks_where_a_value_is_missing() -> None:
    points = [ten_thousand(64, 20_000), without(ten_thousand(4096, 20_000), 0.99), ten_thousand(65536, 20_000)]
    drawn = lines(latency.figure(runs(sample.result(points))))
    assert [m.x for m in drawn["p99"].marks] == [64, 65536] and drawn["p99"].gaps == (4096,)
    assert drawn["p50"].gaps == ()


def test_place_that_was_not_measured_is_no_gap() -> None:
    """Two runs over different sizes: neither lacks what only the other was to measure."""
    documents = [sample.result([ten_thousand(size, 20_000) for size in sizes]) for sizes in ((64, 65536), (64, 4096, 65536))]
    figure = latency.figure(runs(*documents))
    assert figure is not None
    assert [line.gaps for panel in figure.panels for line in panel.lines] == [()] * 6


def test_point_that_did_nothing_is_a_gap() -> None:
    idle = ten_thousand(4096, 20_000)
    for holder in (idle["summary"], *idle["repeats"]):
        holder["latency"] = None
    drawn = lines(latency.figure(runs(sample.result([ten_thousand(64, 20_000), idle, ten_thousand(65536, 20_000)]))))
    assert drawn["p50"].gaps == (4096,)


@pytest.mark.parametrize("status, gaps", [("interrupted", (256,)), ("complete", ())])
def test_point_that_an_interrupted_run_lacks_is_a_gap(status: str, gaps: tuple[int, ...]) -> None:
    """Another series of the run has a point there; of a complete run it was never asked for."""
    points = [sample.bw_point(i, size) for i, size in enumerate((64, 256, 1024))]
    points += [sample.bw_point(9 + i, size, op="read", persist="none") for i, size in enumerate((64, 1024))]
    drawn = lines(bandwidth.figure(runs(sample.result(points, status=status))))
    assert (drawn["read"].gaps, drawn["write + apm flush"].gaps) == (gaps, ())


def test_bandwidth_marks_are_geometric_mean_and_t_interval_of_the_repeats() -> None:
    rates = [1000.0, 2000.0, 4000.0, 8000.0, 16000.0]
    made = [sample.repeat(i, 4096, r, int(r), ()) for i, r in enumerate(rates)]
    other = [sample.repeat(0, 64, 5000.0, 5000, ())]
    document = sample.result([sample.point(2, sample.params("bw", 4096), made),
                              sample.point(1, sample.params("bw", 64), other)])  # fmt: skip
    (line,) = lines(bandwidth.figure(runs(document))).values()
    assert [m.x for m in line.marks] == [64, 4096]
    single, mark = line.marks
    assert (single.value.value, single.value.low) == (5000 * 64, None)
    logs = [math.log(r * 4096) for r in rates]
    half = 2.776445 * statistics.stdev(logs) / math.sqrt(5)  # Student's t of 4 degrees of freedom
    middle = statistics.fmean(logs)
    assert mark.value.value == pytest.approx(math.exp(middle))
    assert mark.interval == pytest.approx((math.exp(middle - half), math.exp(middle + half)), rel=1e-6)
    assert mark.repeats == tuple(r * 4096 for r in rates)


def test_table_has_the_numbers_of_the_chart() -> None:
    figure = latency.figure(runs(sample.result([ten_thousand(64, 20_000), ten_thousand(256, 20_000)])))
    assert figure is not None
    row = dict(zip(figure.table.columns, figure.table.groups[0].rows[0], strict=True))
    assert row["size"].text == "64 B"
    assert row["samples"].text == "30,000"
    assert row["min"].text == "20.0 µs" and row["max"].text == "30.0 µs"
    assert row["p50"].text == "25.0 µs" and row["p50"].interval == "25.0 – 25.0 µs"
    assert row["mean"].text == "25.0 µs"


def test_bandwidth_table_has_bits_and_operations() -> None:
    made = [sample.repeat(0, 1 << 20, 1000.0, 1000, ())]
    figure = bandwidth.figure(runs(sample.result([sample.point(1, sample.params("bw", 1 << 20), made)])))
    assert figure is not None
    row = dict(zip(figure.table.columns, figure.table.groups[0].rows[0], strict=True))
    assert row["bandwidth"].text == "1.05 GB/s"  # 1,048,576,000 B/s
    assert row["in bits"].text == "8.39 Gbit/s"
    assert row["rate"].text == "1.00 kop/s"


def test_single_size_makes_the_percentile_ladder() -> None:
    run = runs(sample.result([ten_thousand(64, 20_000)]))
    assert latency.figure(run) is None
    figure = distribution.ladder(run)
    (line,) = lines(figure).values()
    assert figure is not None and figure.x_scale == "tail"
    assert [round(m.x) for m in line.marks] == [2, 10, 100, 1000]  # 1 / (1 - p)
    assert line.path[-1] == (30_000, 30_019)  # the slowest of 30,000


def test_ladder_passes_through_the_middle_of_every_bucket() -> None:
    """Ten samples in four buckets."""
    samples = [100] * 4 + [1000, 1001, 1003, 1006, 1007] + [5000]
    made = [sample.repeat(0, 64, 1e5, 10, samples)]
    (run,) = runs(sample.result([sample.point(1, sample.params("lat", 64), made, samples)]))
    latency = run.points[0].latency
    assert latency is not None
    # 1 µs lies in [512, 1024): buckets are 4 wide, so 1000 and 1004 hold three and two.
    expected = [(1.0, 100), (10 / 6, 100), (10 / 3, 1002), (10 / 1, 1006), (10.0, 5000)]
    assert ladder_path(latency) == tuple((pytest.approx(x), y) for x, y in expected)


def test_series_differ_in_anything_but_the_axis() -> None:
    points = [sample.lat_point(0, 64), sample.lat_point(1, 256), sample.lat_point(2, 64, depth=4),
              sample.lat_point(3, 256, depth=4)]  # fmt: skip
    figure = latency.figure(runs(sample.result(points)))
    assert figure is not None
    assert [p.title for p in figure.panels] == ["p50", "p99", "p99.9"]
    for panel in figure.panels:
        assert [line.label for line in panel.lines] == [
            "write + apm flush, depth 1", "write + apm flush, depth 4"]  # fmt: skip
        assert [m.x for m in panel.lines[0].marks] == [64, 256]


def test_inline_that_follows_the_size_does_not_split_a_series() -> None:
    points = [sample.lat_point(0, 64, inline_bytes=64), sample.lat_point(1, 256, inline_bytes=0)]
    assert list(lines(latency.figure(runs(sample.result(points))))) == ["p50", "p99", "p99.9"]


def test_axis_is_what_was_swept() -> None:
    points = [sample.bw_point(i, 4096, depth=depth) for i, depth in enumerate((16, 1, 4))]
    figure = bandwidth.figure(runs(sample.result(points)))
    (line,) = lines(figure).values()
    assert figure is not None and (figure.x_title, figure.x_scale) == ("depth", "count")
    assert [m.x for m in line.marks] == [1, 4, 16]
    assert figure.table.columns[:2] == ("depth", "size")


def test_runs_are_told_apart_by_label() -> None:
    documents = [sample.result([sample.bw_point(0, 64), sample.bw_point(1, 256)], label=label)
                 for label in ("old", "new", "new")]  # fmt: skip
    assert list(lines(bandwidth.figure(runs(*documents)))) == [
        "write + apm flush, old", "write + apm flush, new · r1.json", "write + apm flush, new · r2.json"]  # fmt: skip


def test_alternative_text_says_what_the_chart_shows() -> None:
    figure = latency.figure(runs(sample.result([ten_thousand(64, 20_000), ten_thousand(4096, 90_000)])))
    assert figure is not None
    assert "p50 25.0 µs at 64 B to 95.0 µs at 4 KiB" in figure.alt


@pytest.mark.parametrize(
    "kind, emulated, expected",
    [("hardware", False, ""), ("hardware", True, "NOT HARDWARE: emulated CPU"),
     ("rxe", False, "NOT HARDWARE: software device rxe"),
     ("rxe", True, "NOT HARDWARE: software device rxe, emulated CPU"),
     ("siw", None, "NOT HARDWARE: software device siw"),
     ("soft", False, "NOT HARDWARE: software device soft")],
)  # fmt: skip
def test_what_is_not_hardware_is_marked(kind: str, emulated: bool | None, expected: str) -> None:
    document = sample.result([sample.bw_point(0, 64, persist="none")])
    document["device"].update(kind=kind, emulated_cpu=emulated)
    figure = bandwidth.figure(runs(document))
    assert figure is not None and figure.marks == expected


@pytest.mark.parametrize(
    "verdict, persist, marked",
    [
        (None, "apm", True),
        ("UNDETERMINED", "apm", True),
        ("GPSPM_ONLY", "apm", True),
        ("GPSPM_ONLY", "gpspm", False),
        ("NOT_READY", "gpspm", True),
        ("APM_READY", "apm", False),
        ("APM_READY", "gpspm", False),
    ],
)
def test_persistence_without_a_good_verdict_is_marked(
    verdict: str | None, persist: str, marked: bool
) -> None:
    document = sample.result([sample.lat_point(0, 64)], kind="hardware")
    document["points"][0]["params"]["persist"] = persist
    block = {"schema": "rpma-ddio-check/1", "host": "server", "verdict": verdict, "checks": []}
    document["readiness"] = block if verdict else None
    figure = distribution.ladder(runs(document))
    assert figure is not None and ("persistence not proven" in figure.marks) == marked


def test_a_series_looks_alike_in_both_charts_whatever_the_order_of_files() -> None:
    read = {"op": "read", "persist": "none"}
    plain = {"persist": "none"}
    lat = [sample.lat_point(i, size, **kind) for i, (size, kind) in enumerate(
        (size, kind) for kind in (read, {}, plain) for size in (64, 256))]  # fmt: skip
    bw = [sample.bw_point(9 + i, size, **kind) for i, (size, kind) in enumerate(
        (size, kind) for kind in (read, plain) for size in (64, 256))]  # fmt: skip
    given = runs(sample.result(bw), sample.result(lat))
    looks = []
    for figure in (latency.figure(given), bandwidth.figure(given)):
        assert figure is not None
        looks.append({line.label: line.style for line in figure.panels[0].lines})
    assert looks == [{"write": 0, "write + apm flush": 1, "read": 2}, {"write": 0, "read": 2}]
