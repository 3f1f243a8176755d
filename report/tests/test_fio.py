# SPDX-License-Identifier: BSD-3-Clause
"""fio's json and json+: the same numbers as fio's own, and refusals of what fio never wrote."""

import copy
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import sample_tools as tools
from conftest import Command, Write, refused
from loaded import load, runs
from rpma_report import sources
from rpma_report.figures import bandwidth, distribution, latency, series
from rpma_report.model import Estimate
from rpma_report.page import summary
from rpma_report.figures.series import identity
from rpma_report.sources import fio_bins, fio_options

FIO = shutil.which("fio")
SAMPLES = list(range(10_000, 20_000))


def job(**options: str) -> dict[str, Any]:
    return tools.fio(tools.fio_job("w", SAMPLES, ioengine="librpma", rw="write", **options))


@pytest.mark.skipif(FIO is None, reason="no fio")
@pytest.mark.parametrize("more", [(), ("--lat_percentiles=1", "--fsync=16"), ("--numjobs=2",),
                                  ("--numjobs=2", "--group_reporting")])  # fmt: skip
def test_percentiles_of_debians_fio_are_those_of_its_bins(more: tuple[str, ...], tmp_path: Path) -> None:
    """The loader refuses a file whose bins say other than its percentiles."""
    out = tmp_path / "fio.json"
    line = [str(FIO), "--output-format=json+", f"--output={out}", "--name=t", "--ioengine=null",
            "--size=8M", "--bs=4k", "--rw=randrw", "--iodepth=4", *more]  # fmt: skip
    subprocess.run(line, check=True, capture_output=True, timeout=120)
    told = json.loads(out.read_text(encoding="utf-8"))["jobs"]
    run = sources.load(out)
    by_op = {p.params["op"]: p for p in run.points}
    assert {"read", "write"} <= set(by_op) <= {"read", "write", "sync"}
    point = by_op["write"]
    assert point.ops == sum(j["write"]["total_ios"] for j in told)
    assert (point.params["size_bytes"], point.params["depth"]) == (4096, 4)
    assert point.params["threads"] == (2 if more[:1] == ("--numjobs=2",) else 1)
    found = point.latency
    assert found is not None and found.histogram is not None
    if len(told) == 1:
        # where the rank falls on the edge of two bins, fio takes the upper one and we interpolate in the lower
        key = "lat_ns" if "--lat_percentiles=1" in more else "clat_ns"
        stated = told[0]["write"][key]["percentile"]
        assert found.percentiles[0.5].value == pytest.approx(stated["50.000000"], rel=2 / 128, abs=1)
        assert found.percentiles[0.99].value == pytest.approx(stated["99.000000"], rel=2 / 128, abs=1)
        assert 0.9999 not in found.percentiles  # 1,024 samples do not support it, whatever fio prints
    assert sum(found.histogram.counts) == found.count


@pytest.mark.parametrize("ns", [0, 1, 127, 128, 129, 1000, 3522560, 2**40 + 12345])
def test_bin_is_found_by_its_middle(ns: int) -> None:
    middle = tools.fio_middle(ns)
    low = fio_bins.low_of(middle)
    width = 1 if ns < 128 else 1 << (ns.bit_length() - 7)
    assert low <= ns < low + width and (low + width // 2 == middle or width == 1)


def test_percentile_is_interpolated_and_has_no_interval() -> None:
    """10,000 samples from 10,000 ns: half of them lie below 14,999.5. One file is one repeat."""
    point = load(job()).points[0]
    assert point.latency is not None
    assert point.latency.percentiles[0.5] == Estimate(pytest.approx(14_999.5))
    assert max(point.latency.percentiles) == 0.999  # ten of 10,000 samples lie beyond it


def test_json_without_bins_has_fios_percentiles_and_no_interval() -> None:
    run = load(tools.fio(tools.fio_job("w", SAMPLES, plus=False, rw="write")))
    found = run.points[0].latency
    assert found is not None and found.histogram is None
    assert found.percentiles[0.99].value == tools.fio_middle(19_899)
    assert (found.percentiles[0.99].low, found.percentiles[0.99].high) == (None, None)
    assert distribution.distribution([run]) is None
    ladder = distribution.ladder([run])
    assert ladder is not None and len(ladder.panels[0].lines[0].marks) == 4 and not ladder.panels[0].lines[0].path


def test_clones_are_added_up() -> None:
    clones = [tools.fio_job("w", range(first, first + 5000), rw="write", numjobs="2") for first in (10_000, 15_000)]
    (point,) = load(tools.fio(*clones)).points
    whole = load(job()).points[0]
    assert point.latency is not None and whole.latency is not None
    assert point.latency.percentiles == whole.latency.percentiles
    assert point.bytes_per_s is not None and point.bytes_per_s.value == 2 * 5000 * 4096 * 10
    assert point.params["threads"] == 2 and point.ops == 10_000


def test_clones_without_bins_have_no_percentiles_and_it_is_said() -> None:
    clones = [tools.fio_job("w", range(first, first + 5000), plus=False, numjobs="2") for first in (10_000, 15_000)]
    run = load(tools.fio(*clones))
    assert run.points[0].latency is not None and run.points[0].latency.percentiles == {}
    assert [w.code for w in run.warnings] == ["FIO_NO_PERCENTILES"]


@pytest.mark.parametrize(
    "options, persist",
    [({}, "apm"), ({"mode": "gpspm"}, "gpspm"), ({"mode": "native"}, "native"), ({"flush": "none"}, "none"),
     ({"flush": "fsync"}, "none"), ({"flush": "batch"}, "apm")],
)  # fmt: skip
def test_engine_of_ours_says_how_writes_persist(options: dict[str, str], persist: str) -> None:
    run = load(job(**options))
    assert run.points[0].params["persist"] == persist
    assert run.persistence_unproven == (persist != "none")


def test_old_names_of_the_engine_say_the_method() -> None:
    run = load(tools.fio(tools.fio_job("w", SAMPLES, ioengine="librpma_gpspm_client", rw="write")))
    assert run.points[0].params["persist"] == "gpspm"


def test_other_engines_persist_nothing() -> None:
    assert load(tools.fio(tools.fio_job("w", SAMPLES, ioengine="psync"))).points[0].params["persist"] == "none"


@pytest.mark.parametrize(
    "text, direction, size",
    [("4k", "write", 4096), ("4096", "read", 4096), ("1M", "write", 1 << 20), ("4k,8k", "write", 8192),
     ("4k,8k", "trim", 8192), ("4k,8k,16k", "read", 4096), ("64kb", "read", 65536), (",8k", "write", 8192),
     ("4k-16k", "write", None), ("", "write", None), ("9" * 40, "write", None)],
)  # fmt: skip
def test_block_size(text: str, direction: str, size: int | None) -> None:
    assert fio_options.size_bytes(text, direction) == size


def test_device_is_not_known_and_said_as_loudly() -> None:
    run = load(job())
    figure = bandwidth.figure([run])
    assert figure is not None and figure.marks == "DEVICE NOT RECORDED by fio \u00b7 persistence not proven"


def test_device_that_the_engine_named_is_of_unknown_kind() -> None:
    run = load(job(librpma=FACTS.format("visibility", "dram")))
    figure = bandwidth.figure([run])
    assert figure is not None and figure.marks.startswith("KIND OF DEVICE NOT RECORDED by fio: mlx5_0 \u00b7")
    assert summary.device(run) == "mlx5_0 (kind unknown)"
    assert summary.alarms([run])[0].heading == "Kind of device not recorded."
    both = tools.fio_job("w", SAMPLES, ioengine="librpma", rw="write", librpma=FACTS.format("visibility", "dram"))
    other = load(tools.fio(both, tools.fio_job("x", SAMPLES, ioengine="librpma", rw="write")))
    assert other.device_name is None


def test_sweep_of_files_makes_a_line_each_unless_labelled() -> None:
    """fio has no label: two files are two lines, their names in the legend."""
    files = [tools.fio(tools.fio_job("w", SAMPLES, rw="write", bs=bs)) for bs in ("4k", "8k")]
    figure = latency.figure(runs(*files))
    assert figure is not None
    assert [line.label for line in figure.panels[0].lines] == ["fio psync write, r0.json", "fio psync write, r1.json"]


def test_sweep_of_jobs_in_one_file_is_a_line() -> None:
    document = tools.fio(*(tools.fio_job(f"w{bs}", SAMPLES, rw="write", bs=bs) for bs in ("4k", "8k")))
    figure = latency.figure(runs(document))
    assert figure is not None and figure.x_scale == "size"
    assert [(m.x, m.value.value) for m in figure.panels[0].lines[0].marks] == [
        (4096, 14_999.5), (8192, 14_999.5)]  # fmt: skip


def test_jobs_at_the_same_place_are_told_apart_by_name() -> None:
    jobs = (tools.fio_job(name, SAMPLES, rw="write", bs=bs) for name in ("a", "b") for bs in ("4k", "8k"))
    figure = latency.figure(runs(tools.fio(*jobs)))
    assert figure is not None
    assert [line.label for line in figure.panels[0].lines] == ["fio psync write, job a", "fio psync write, job b"]


def test_job_file_reproduces_it() -> None:
    run = load(tools.fio(tools.fio_job("w", SAMPLES, rw="write", bs="4k", group_reporting=""), ioengine="librpma"))
    assert run.commands == ("[global]\nioengine=librpma\n[w]\nrw=write\nbs=4k\ngroup_reporting",)


def test_failed_job_fails_the_run() -> None:
    run = load(tools.fio(tools.fio_job("w", SAMPLES, error=5)))
    assert (run.status, run.failure) == ("failed", "job w: error 5")


def test_remarks_around_the_json_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    text = json.dumps(job(), indent=2)
    path.write_text(f"fio: a remark\nlibrpma: {{another\n{text}\nfio: the last\n", encoding="utf-8")
    assert sources.load(path).points
    path.write_text(f"fio: a remark\n{text[:-40]}", encoding="utf-8")
    with pytest.raises(Exception, match=r"line \d+ column \d+: the file ends in mid-value"):
        sources.load(path)
    path.write_text("fio: no JSON follows\n", encoding="utf-8")
    with pytest.raises(Exception, match="line 1 column 1: not JSON"):
        sources.load(path)


@pytest.mark.skipif(FIO is None, reason="no fio")
def test_option_that_was_given_twice_is_written_twice_and_the_last_counts(tmp_path: Path) -> None:
    out = tmp_path / "fio.json"
    line = [str(FIO), "--output-format=json", f"--output={out}", "--name=t", "--ioengine=null", "--size=1M",
            "--rw=read", "--rw=write", "--percentile_list=50:50"]  # fmt: skip
    subprocess.run(line, check=True, capture_output=True, timeout=120)
    assert out.read_text(encoding="utf-8").count('"rw" : ') == 2
    assert [p.params["op"] for p in sources.load(out).points] == ["write"]


def test_anything_else_of_fio_with_two_values_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fio.json"
    path.write_text(json.dumps(job()).replace('"error": 0', '"error": 5, "error": 0'), encoding="utf-8")
    with pytest.raises(Exception, match=r'fio.json: key "error" is there twice in one object'):
        sources.load(path)


def changed(key: str, value: Any, part: str = "clat_ns") -> dict[str, Any]:
    document = copy.deepcopy(job())
    document["jobs"][0]["write"][part][key] = value
    return document


BINS = tools.fio_latency(SAMPLES)["bins"]
BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "other percentile": (changed("percentile", {"50.000000": 9}), 'jobs[0].write.clat_ns.percentile.50.000000: is 9, but its bins give'),
    "N and total_ios": (changed("N", 5), "jobs[0].write.clat_ns.N: is 5, but total_ios is 10000"),
    "bins and N": (changed("bins", {**BINS, max(BINS, key=int): 5}), "jobs[0].write.clat_ns.N: is 10000, but its bins hold "),
    "bin no time": (changed("bins", {**BINS, "<b>": 1}), "clat_ns.bins.<b>: is 1: not a bin"),
    "bin negative": (changed("bins", {**BINS, "5": -1}), "clat_ns.bins.5: is -1: not a bin"),
    "bin huge": (changed("bins", {**BINS, "9" * 25: 1}), "not a bin"),
    "bin true": (changed("bins", {**BINS, "5": True}), "clat_ns.bins.5: is true: not a bin"),
    "negative time": (changed("min", -5), "jobs[0].write.clat_ns.min: is -5, should be at least 0"),
    "min above max": (changed("min", 10**9), "jobs[0].write.clat_ns.min: is above max"),
    "percentile's name": (changed("percentile", {"<script>": 5}), "clat_ns.percentile: "),
    "huge mean": (changed("mean", 1e308), "jobs[0].write.clat_ns.mean: is 1e+308: no such measurement"),
    "bins no object": (changed("bins", [1]), "jobs[0].write.clat_ns.bins: is [1], should be of type object"),
}  # fmt: skip


@pytest.mark.parametrize("document, part", BROKEN.values(), ids=BROKEN.keys())
def test_what_fio_never_writes_is_refused(
    document: dict[str, Any], part: str, quick: Command, write: Write, tmp_path: Path
) -> None:
    refused(quick("create", write(document), "-o", tmp_path / "out.html"), "result.json: ", part)


def test_an_fdatasync_has_a_latency_and_no_count() -> None:
    """fio counts it elsewhere: fsync=0 fdatasync=3 of any engine leaves latencies of sync beside total_ios 0."""
    document = job(fdatasync="3")
    document["jobs"][0]["sync"] = {"total_ios": 0, "lat_ns": {**tools.fio_latency(SAMPLES)}}
    assert load(document).points[0].ops == len(SAMPLES)


FACTS = "mode=gpspm flush=each flush_type={} target={} device=mlx5_0 writes=10000 covered=10000 flushes=10000"


def test_what_the_engine_told_is_believed_before_the_options() -> None:
    """sync=1 makes flush=fsync flush each write, and auto is what it came to."""
    run = load(job(flush="fsync", sync="1", mode="gpspm", librpma=FACTS.format("visibility", "memfile")))
    (point,) = run.points
    assert (point.params["persist"], point.params["flush"]) == ("gpspm", "visibility")
    assert point.params["target_memory"] == {"kind": "memfile"}
    (remark,) = run.warnings
    assert remark.text == "w: 10000 writes to memfile are flushed to visibility only (mode=gpspm, flush=each, device mlx5_0)"
    assert "mlx5_0" not in run.commands[0] and "flush=fsync" in run.commands[0]  # fio takes the job back


@pytest.mark.parametrize(
    ("told", "sentence", "persist"),
    [("flush=fsync flush_type=none target=file device=x writes=20 covered=0", "none of 20 writes to file is flushed", "none"),
     ("flush=fsync flush_type=persistent target=file device=x writes=20 covered=16",
      "16 of 20 writes to file are flushed to persistence, the other 4 are not", "none"),
     ("flush=each flush_type=persistent target=file device=x", "writes to file may not be flushed", "apm"),
     ("flush=each flush_type=unproven target=file device=x", "writes to file may not be flushed", "none")],
)  # fmt: skip
def test_a_flush_is_what_the_engine_counted(told: str, sentence: str, persist: str) -> None:
    run = load(job(librpma=f"mode=apm {told}"))
    (remark,) = run.warnings
    assert remark.text.startswith(f"w: {sentence} (mode=apm")
    assert run.points[0].params["persist"] == persist


def test_what_was_reached_is_part_of_what_was_measured() -> None:
    one, other, same = (load(job(librpma=FACTS.format(reached, "file"))).points[0] for reached in ("persistent", "visibility", "persistent"))
    assert series.identity(one) == series.identity(same) != series.identity(other)


@pytest.mark.parametrize("told", ["unknown", "", "mode=apm", "= =x mode", "mode=apm flush=auto flush_type=<b> target=dram device=x"])
def test_facts_that_are_none_are_not_believed(told: str) -> None:
    run = load(job(librpma=told))
    assert run.points[0].params["flush"] is None
    assert not any("persistence" in w.text for w in run.warnings)


@pytest.mark.parametrize(
    "one, other, same",
    [({"size": "1m"}, {"size": "4g"}, False), ({"size": "1m"}, {"size": "1024k"}, True),
     ({"filename": "/mnt/a/x"}, {"filename": "/mnt/a/y"}, True), ({"filename": "/mnt/a/x"}, {"filename": "/dev/shm/x"}, False),
     ({"filename": "/dev/sda"}, {"filename": "/dev/sdb"}, False), ({"ioengine": "null"}, {"ioengine": "psync"}, False),
     ({"ioengine": "librpma", "filename": "a"}, {"ioengine": "librpma", "filename": "/b/c"}, True)],
)  # fmt: skip
def test_identity_has_engine_size_and_place(one: dict[str, str], other: dict[str, str], same: bool) -> None:
    first, second = (load(tools.fio(tools.fio_job("w", SAMPLES, rw="write", **o))).points[0] for o in (one, other))
    assert (identity(first) == identity(second)) == same


def test_engines_are_told_apart_by_name() -> None:
    jobs = (tools.fio_job(f"{e}{bs}", SAMPLES, rw="write", bs=bs, ioengine=e) for e in ("null", "librpma") for bs in ("4k", "8k"))
    figure = latency.figure(runs(tools.fio(*jobs)))
    assert figure is not None
    assert [line.label for line in figure.panels[0].lines] == ["fio null write", "fio librpma write + apm flush"]
