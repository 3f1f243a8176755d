# SPDX-License-Identifier: BSD-3-Clause
"""Logs of fio: single operations, windows of them (log_avg_msec=), and histograms (write_hist_log=)."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Command, Write, refused
from rpma_report import sources
from rpma_report.model import Run
from rpma_report.page import report
from rpma_report.sources import load

FIO = shutil.which("fio")
WINDOWS = "10, 376258, 1, 0, 0\n20, 398467, 1, 0, 0\n30, 372574, 1, 0, 0\n40, 164824, 1, 0, 0\n"


def loaded(write: Write, text: str, name: str = "a_clat.1.log") -> Run:
    return sources.load(write(text.encode(), name))


def test_windows_are_no_operations(write: Write) -> None:
    """fio writes block size 0 for a window; a mean of thousands of operations does not predict their p99."""
    run = loaded(write, WINDOWS * 500)
    (point,) = run.points
    assert point.ops is None and point.windows == () and point.params["latency_kind"] == "fio_clat_windows"
    assert point.params["op"] == "write clat of windows"
    latency = point.latency
    assert latency is not None and (latency.percentiles, latency.histogram, latency.means_by_repeat) == ({}, None, ())
    assert (latency.min, latency.max, latency.mean.value) == (164824, 398467, (376258 + 398467 + 372574 + 164824) / 4)
    assert "percentiles of operations, are not known" in run.warnings[0].text


def test_windows_are_on_the_page_by_their_name(write: Write) -> None:
    told = repr(report.document([loaded(write, WINDOWS * 5)]))
    assert "fio_clat_windows: the mean or the highest of a window of log_avg_msec" in told
    assert "write clat of windows" in told and "p99" not in told and "p50" not in told


def test_windows_pass_no_gate(write: Write, quick: Command) -> None:
    paths = [write(WINDOWS.replace(" 3", f" {n}").encode(), f"{n}_clat.1.log") for n in (3, 9)]
    for condition in ("worse", "p99 > 5%", "mean > 5%"):
        assert quick("compare", *paths, "--noise", "1%", "--fail-if", condition).returncode == 3


def test_some_lines_of_windows_are_refused(write: Write, quick: Command) -> None:
    path = write((WINDOWS + "50, 164824, 1, 4096, 0\n").encode(), "a_clat.1.log")
    refused(quick("validate", path), "has block size 0 in some lines only")


def test_line_of_a_newer_fio_has_the_time_of_issue(write: Write) -> None:
    run = loaded(write, "1, 1000, 1, 4096, 0, 0x0000, 123456\n2, 3000, 1, 4096, 4096, 0x0000, 234567\n")
    assert run.points[0].latency is not None and run.points[0].latency.mean.value == 2000


def hist_line(ms: int, direction: int, held: dict[int, int], bins: int = 1856) -> str:
    return ", ".join(map(str, (ms, direction, 4096, *(held.get(n, 0) for n in range(bins))))) + "\n"


def test_histograms_add_up(write: Write) -> None:
    """Bin 100 is 100 ns, bin 128 is 128 and 129 ns, bin 192 begins with 256 ns and is 4 ns wide."""
    lines = (hist_line(10, 1, {100: 400, 128: 100}), hist_line(10, 0, {100: 7}), hist_line(20, 1, {100: 100, 192: 400}))
    write_, read = loaded(write, "".join(lines), "a_clat_hist.1.log").points
    assert [(p.params["op"], p.ops, p.params["latency_kind"]) for p in (write_, read)] == [
        ("write clat", 1000, "fio_clat"), ("read clat", 7, "fio_clat")]  # fmt: skip
    latency = write_.latency
    assert latency is not None and latency.histogram is not None
    assert dict(zip(latency.histogram.lows, latency.histogram.counts, strict=True)) == {100: 500, 128: 100, 256: 400}
    assert (latency.min, latency.max) == (100, 259) and write_.params["size_bytes"] == 4096
    assert latency.percentiles[0.9].value == pytest.approx(255.5 + 4 * 300 / 400)


@pytest.mark.parametrize("coarseness", range(7))
def test_coarser_bins_are_neighbours_together(coarseness: int, write: Write) -> None:
    """The bins are 29 with coarseness 6: from 0, 64, 128, 256 ns and so on."""
    bins = 1856 >> coarseness
    text = hist_line(10, 1, {128 >> coarseness: 1000}, bins)
    latency = loaded(write, text, "a_clat_hist.1.log").points[0].latency
    assert latency is not None and (latency.min, latency.max) == (128, 128 + (2 << coarseness) - 1)


@pytest.mark.parametrize(
    "text, why",
    [(hist_line(10, 1, {1: 1}, 1216), "expected 1856 bins of fio 3, halved by each step of log_hist_coarseness, found 1216"),
     (hist_line(10, 3, {1: 1}), "expected direction 0, 1 or 2, found 3"), (hist_line(10, 1, {}), "expected an operation"),
     (hist_line(10, 1, {1: 1}) + hist_line(10, 1, {1: 1}, 928), "line 2: expected 1856 bins"),
     (hist_line(10, 1, {1: 1}) + hist_line(9, 1, {1: 1}), "line 2: expected a time not before"),
     (hist_line(10, 1, {1: 1})[:-1], "the file is cut off"), (hist_line(10, 1, {1: 1}) + "oops\n", "line 2: expected time in ms")],
    ids=["fio 2", "direction", "empty", "two widths", "time", "cut", "text"],
)  # fmt: skip
def test_malformed_histograms_are_refused(text: str, why: str, write: Write, quick: Command) -> None:
    refused(quick("validate", write(text.encode(), "a_clat_hist.1.log")), "a_clat_hist.1.log: ", why)


@pytest.mark.skipif(FIO is None, reason="no fio")
def test_logs_that_debians_fio_writes_are_recognised(tmp_path: Path) -> None:
    line = [str(FIO), "--name=a", "--ioengine=null", "--size=8m", "--bs=4k", "--rw=write", "--rate_iops=20000", "--write_lat_log=a",
            "--log_avg_msec=5", "--write_hist_log=a", "--log_hist_msec=5", "--output-format=json", "--output=a.json"]  # fmt: skip
    subprocess.run(line, cwd=tmp_path, check=True, timeout=60, capture_output=True)
    (windows,), (bins,) = (load(tmp_path / name).points for name in ("a_clat.1.log", "a_clat_hist.1.log"))
    told = json.loads((tmp_path / "a.json").read_text())["jobs"][0]["write"]
    assert windows.params["latency_kind"] == "fio_clat_windows"
    assert bins.ops is not None and 0 < bins.ops <= told["total_ios"] == 2048
    assert bins.latency is not None and told["clat_ns"]["min"] * (1 - 1 / 64) <= bins.latency.min
    assert bins.latency.max <= told["clat_ns"]["max"] * (1 + 1 / 64)
