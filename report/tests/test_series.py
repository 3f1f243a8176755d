# SPDX-License-Identifier: BSD-3-Clause
"""Which points make a line: of one file, or of several with one label."""

import sample
from loaded import runs
from rpma_report.figures.groups import bandwidth_series, latency_series
from rpma_report.figures.series import identity


def bw(size: int, label: str | None = None, **changes: object) -> dict:
    return sample.result([sample.bw_point(0, size, **changes)], label=label)


def test_files_of_one_label_are_parts_of_one_line() -> None:
    group = bandwidth_series(runs(bw(64, "lab"), bw(4096, "lab")))
    assert [(s.label, len(s.points)) for s in group.series] == [("write + apm flush", 2)]


def test_files_without_a_label_are_lines_of_their_own() -> None:
    group = bandwidth_series(runs(bw(64), bw(4096)))
    assert [s.label for s in group.series] == ["write + apm flush, r0.json", "write + apm flush, r1.json"]


def test_files_of_one_label_that_measured_the_same_are_told_apart() -> None:
    group = bandwidth_series(runs(bw(64, "lab"), bw(4096, "lab"), bw(64, "lab")))
    assert [len(s.points) for s in group.series] == [1, 1, 1]
    assert len({s.label for s in group.series}) == 3


def test_identity_is_that_of_the_parameters() -> None:
    (one,), (same,), (other,) = (run.points for run in runs(bw(64), bw(64, seed=2), bw(64, depth=4)))
    assert identity(one) == identity(same) != identity(other)


def test_native_atomic_writes_and_inline_writes_are_different_points() -> None:
    how = [sample.result([sample.lat_point(0, 8, op="atomic-write", persist="none", flush=None, flush_method=None,
                                           latency_kind="post_to_cqe", **method)], label="lab")
           for method in ({"atomic_write_method": "native"}, {"atomic_write_method": "write"}, {})]  # fmt: skip
    measured = runs(*how)
    assert len({identity(point) for run in measured for point in run.points}) == 3  # unknown is like neither
    labels = [series.label for series in latency_series(measured[:2]).series]
    assert labels == ["atomic-write, native atomic write", "atomic-write, inline atomic write"]


def test_loaded_server_has_no_place_among_idle_ones() -> None:
    points = [sample.lat_point(i, 64 << i, count=100, server_load_fraction=load)
              for i, load in enumerate((0.0, None, 0.5))]  # fmt: skip
    assert [len(s.points) for s in latency_series(runs(sample.result(points))).series] == [1, 1]
    assert len(latency_series(runs(sample.result(points[2:]))).series) == 1  # alone, it is shown
