# SPDX-License-Identifier: BSD-3-Clause
"""Directories as measurements: files of fio that hold the same point are its repeats."""

import json
from pathlib import Path
from statistics import fmean, stdev

import pytest

import sample
import sample_tools
from conftest import Command
from rpma_report.measurement import files, joined, read
from rpma_report.model import Run
from rpma_report.sources import load


def fio_run(folder: Path, number: int, middle: int, **options: str) -> Run:
    job = sample_tools.fio_job("job", [middle - 5, middle, middle + 5] * 100, rw="write", bs="4k", **options)
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
    assert [sample_tools.fio_middle(m) for m in middles] == list(point.latency.by_repeat[0.5])
    assert point.latency.percentiles[0.5].value == sample_tools.fio_middle(1100)


def test_mean_of_repeats_has_the_interval_of_student(tmp_path: Path) -> None:
    means = (1000.0, 1100.0, 1300.0)
    (run,) = joined([fio_run(tmp_path, i, int(mean)) for i, mean in enumerate(means)])
    latency = run.points[0].latency
    assert latency is not None and latency.mean.low is not None and latency.mean.high is not None
    half = 4.303 * stdev(means) / 3**0.5  # t of two degrees of freedom
    assert (latency.mean.low, latency.mean.value, latency.mean.high) == pytest.approx(
        (fmean(means) - half, fmean(means), fmean(means) + half)
    )


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
    assert len(first.commands) == len(first.warnings) == 1  # both have the same


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
    done = quick("compare", tmp_path / "old", tmp_path / "new", "--fail-if", "p50 > 10%")
    assert done.returncode == 1 and "new against old: 1 worse, 0 better, 0 unclear, 1 the same" in done.stdout
