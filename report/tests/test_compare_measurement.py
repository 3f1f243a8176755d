# SPDX-License-Identifier: BSD-3-Clause
"""Directories as measurements: files of fio that hold the same point are its repeats."""

import json
from math import log
from pathlib import Path
from statistics import fmean, geometric_mean, stdev
from typing import Any

import pytest

import sample
import sample_tools
from conftest import Command
from paired import write_pairs
from rpma_report.measurement import files, joined, read
from rpma_report.model import Run
from rpma_report.sources import load


def fio_run(folder: Path, number: int, middle: int, plus: bool = True, samples: int = 100, **options: str) -> Run:
    times = [middle - 5, middle, middle + 5] * samples
    job = sample_tools.fio_job("job", times, plus=plus, rw="write", bs="4k", **options)
    path = folder / f"fio-{number}.json"
    path.write_text(json.dumps(sample_tools.fio(job)))
    return load(path)


def test_files_of_fio_are_repeats_of_a_point(tmp_path: Path) -> None:
    middles = (1000, 1100, 1300)
    (run,) = joined([fio_run(tmp_path, i, middle) for i, middle in enumerate(middles)])
    (point,) = run.points
    assert (point.repeats, point.ops) == (3, 900)
    assert point.latency is not None and point.latency.count == 900
    assert (point.latency.min, point.latency.max) == (995, 1305)
    assert point.latency.means_by_repeat == tuple(map(float, middles))
    assert point.latency.by_repeat[0.5][0] == pytest.approx(1000, abs=8)  # inside its bin
    assert point.latency.percentiles[0.5].value == pytest.approx(geometric_mean(point.latency.by_repeat[0.5]))
    assert point.latency.percentiles[0.5].low is not None


@pytest.mark.parametrize("figure", ["mean", "p50"])
def test_repeats_have_the_interval_of_student_on_logarithms(figure: str, tmp_path: Path) -> None:
    (run,) = joined([fio_run(tmp_path, i, mean) for i, mean in enumerate((1000, 1100, 1300))])
    latency = run.points[0].latency
    assert latency is not None
    stated = latency.mean if figure == "mean" else latency.percentiles[0.5]
    values = latency.means_by_repeat if figure == "mean" else latency.by_repeat[0.5]
    assert stated.low is not None and stated.high is not None
    middle, half = fmean(map(log, values)), 4.303 * stdev(map(log, values)) / 3**0.5  # t of two degrees of freedom
    assert (log(stated.low), log(stated.value), log(stated.high)) == pytest.approx(
        (middle - half, middle, middle + half), rel=1e-5
    )


@pytest.mark.parametrize("middles, plus", [((1000, 1100), True), ((1000, 1100, 1300), False)])
def test_two_files_and_files_without_bins_have_no_interval(
    middles: tuple[int, ...], plus: bool, tmp_path: Path
) -> None:
    """Without bins a percentile is the middle of one: repeats may share it, and seem certain."""
    (run,) = joined([fio_run(tmp_path, i, middle, plus) for i, middle in enumerate(middles)])
    latency = run.points[0].latency
    assert latency is not None and latency.percentiles[0.5].low is None and latency.percentiles[0.5].value > 1000


def test_percentile_that_one_file_lacks_is_not_known(tmp_path: Path) -> None:
    runs = [fio_run(tmp_path, i, 1000, samples=samples) for i, samples in enumerate((400, 400, 300))]
    latency = joined(runs)[0].points[0].latency
    assert latency is not None and 0.99 not in latency.percentiles and 0.9 in latency.percentiles


def test_other_options_are_another_point(tmp_path: Path) -> None:
    runs = [fio_run(tmp_path, i, 1000, iodepth=depth) for i, depth in enumerate(("1", "2", "1"))]
    first, second = joined(runs)
    assert [(p.params["depth"], p.repeats) for p in first.points] == [(1, 2)]
    assert [(p.params["depth"], p.repeats) for p in second.points] == [(2, 1)]


def test_results_of_one_program_and_device_become_one_run(tmp_path: Path) -> None:
    for number, kind in enumerate(("rxe", "hardware", "rxe")):
        document = sample.result([sample.lat_point(number, 64 << number, count=100)], kind=kind)
        (tmp_path / f"{number}.json").write_text(json.dumps(document))
    first, second = read(tmp_path).runs
    assert (first.device_kind, len(first.points), first.file) == ("rxe", 2, "2 files")
    assert (second.device_kind, len(second.points), second.file) == ("hardware", 1, "1.json")
    assert len(first.commands) == 1 and len(first.warnings) == len(document["run"]["warnings"])  # both have the same


def test_directory_is_read_in_the_order_of_names_without_hidden_files(tmp_path: Path) -> None:
    for name in ("b.json", ".a.json", "a.json", "notes.txt"):
        (tmp_path / name).touch()
    assert files(tmp_path) == [tmp_path / "a.json", tmp_path / "b.json"]


def test_both_tools_in_a_directory_are_one_measurement(tmp_path: Path) -> None:
    fio_run(tmp_path, 0, 1000)
    fio_run(tmp_path, 1, 1000)
    (tmp_path / "bench.json").write_text(json.dumps(sample.result([sample.lat_point(0, 64, count=100)])))
    measurement = read(tmp_path)
    assert measurement.name == tmp_path.name
    assert [(run.program, len(run.points)) for run in measurement.runs] == [("rpma-bench", 1), ("fio", 1)]


def test_fio_directories_are_compared_by_their_repeats(quick: Command, tmp_path: Path) -> None:
    for name, factor in (("old", 1.0), ("new", 1.2)):
        (tmp_path / name).mkdir()
        for number, middle in enumerate((10_000, 10_100, 9_900)):
            fio_run(tmp_path / name, number, round(middle * factor))
    paths = tmp_path / "old", tmp_path / "new"
    assert "new against old: 0 worse, 0 better, 1 unclear" in quick("compare", *paths).stdout
    done = quick("compare", *paths, "--noise", "5%", "--fail-if", "p50 > 10%")
    assert done.returncode == 1 and "new against old: 1 worse, 0 better, 0 unclear" in done.stdout


def test_files_of_fio_in_pairs_are_runs_of_their_own(quick: Command, tmp_path: Path) -> None:
    """Each is one repeat, and one side of its pair; 20 ns of chance in 10 us."""
    def made(factor: float) -> dict[str, Any]:
        return sample_tools.fio(sample_tools.fio_job("job", [round(10_000 * factor) + i for i in range(300)]))

    done = quick("compare", *write_pairs(tmp_path, made, 1.05, pairs=6), "--fail-if", "worse")
    assert done.returncode == 1 and "new against base: 1 worse, 0 better, 0 unclear" in done.stdout


def test_fio_without_bins_is_unclear(quick: Command, tmp_path: Path) -> None:
    for name, middle in (("old", 10_000), ("new", 12_000)):
        (tmp_path / name).mkdir()
        for number in range(3):
            fio_run(tmp_path / name, number, middle, plus=False)
    done = quick("compare", tmp_path / "old", tmp_path / "new", "--noise", "1%")
    assert "unclear: fio's json has no bins: use json+" in done.stdout
