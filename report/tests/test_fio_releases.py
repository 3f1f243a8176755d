# SPDX-License-Identifier: BSD-3-Clause
"""fio 3.0 to 3.42: each release as it writes itself, and figures by arithmetic on the file.

Written by hand after fio's history: 3.0 and 3.1 have neither bw_bytes nor N, and shares that were not
asked for are "0.00": 0; 3.2 has bw_bytes; until then json+ has bins by number beside three constants,
from 3.3 on by time; lat_percentiles=1 filled clat_ns at first, and lat_ns later; N is there from 3.17 on;
the least of no samples was the highest 64-bit number; later ones have more keys, such as job_start.
Compared with stat.c of Debian's source packages: 3.33 and 3.41. The others, 3.42 among them, were not compared
with their sources.
"""

import json
import math
from typing import Any

import pytest

from conftest import Command, Write, refused
from loaded import load
from rpma_report import model, sources
from rpma_report.model import Run

RUNTIME = 5000
BLOCK = 4096
# 10,000 samples: by the number of a bin, by the middle that fio writes of it (below 128 ns each value
# has a bin; from 128 on a bin is 2 ns wide, from 256 on 4 ns), and how many.
BINS = ((100, 100, 6000), (128, 129, 3000), (192, 258, 950), (200, 290, 50))
TOTAL = sum(count for *_, count in BINS)
LEAST, MOST, MEAN = 100, 291, 124.5
TOLD = {"50.000000": 100, "90.000000": 129, "99.000000": 258, "99.900000": 290}
NONE = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0}
UNSET = {**NONE, "min": 2**64 - 1}

# release: bw_bytes, bins by number, N, the least of nothing, key of lat_percentiles=1, more keys of a job
RELEASES: dict[str, tuple[bool, bool, bool, dict[str, Any], str, dict[str, Any]]] = {
    "3.0": (False, True, False, NONE, "clat_ns", {}),
    "3.1": (False, True, False, NONE, "clat_ns", {"eta": 0, "elapsed": 6}),
    "3.2": (True, True, False, NONE, "clat_ns", {"eta": 0, "elapsed": 6}),
    "3.3": (True, False, False, NONE, "clat_ns", {"eta": 0, "elapsed": 6}),
    "3.7": (True, False, False, UNSET, "lat_ns", {"eta": 0, "elapsed": 6}),
    "3.12": (True, False, False, UNSET, "lat_ns", {"eta": 0, "elapsed": 6, "latency_window": 0}),
    "3.17": (True, False, True, UNSET, "lat_ns", {"latency_depth": 1, "latency_target": 0}),
    "3.28": (True, False, True, NONE, "lat_ns", {"latency_depth": 1, "latency_target": 0}),
    "3.33": (True, False, True, NONE, "lat_ns", {"job_runtime": RUNTIME, "latency_depth": 1, "latency_target": 0}),
    "3.41": (True, False, True, NONE, "lat_ns", {"job_start": 1755327879838, "job_runtime": RUNTIME, "latency_depth": 1}),
    "3.42": (True, False, True, NONE, "lat_ns", {"job_start": 1755327879838, "latency_depth": 1}),
}


def latency(release: str, plus: bool) -> dict[str, Any]:
    _, by_number, counts, *_ = RELEASES[release]
    made: dict[str, Any] = {"min": LEAST, "max": MOST, "mean": MEAN, "stddev": 35.5, "percentile": TOLD}
    if counts:
        made["N"] = TOTAL
    if plus:
        made["bins"] = {str(number if by_number else middle): count for number, middle, count in BINS}
        if by_number:
            made["bins"] |= {"FIO_IO_U_PLAT_BITS": 6, "FIO_IO_U_PLAT_VAL": 64, "FIO_IO_U_PLAT_NR": 1856}
    return made


def direction(release: str, lat: dict[str, Any] | None, total: dict[str, Any] | None = None) -> dict[str, Any]:
    bandwidth, _, counts, unset, *_ = RELEASES[release]
    none = {**unset, "N": 0} if counts else unset
    count = TOTAL if lat else 0
    made = {"io_bytes": count * BLOCK, "io_kbytes": count * 4, "bw": count * 4 * 1000 // RUNTIME,
            "iops": count * 1000 / RUNTIME, "runtime": RUNTIME if count else 0, "total_ios": count, "short_ios": 0, "drop_ios": 0,
            "slat_ns": none, "clat_ns": lat or none, "lat_ns": total or none, "bw_min": 2**64 - 1, "bw_max": 0}  # fmt: skip
    return {**made, "bw_bytes": count * BLOCK * 1000 // RUNTIME} if bandwidth else made


def document(release: str, plus: bool = True, ops: str = "read", total: bool = False, **options: str) -> dict[str, Any]:
    *_, unset, key, more = RELEASES[release]
    told = latency(release, plus)
    lat, whole = (told, None) if not total else (told, dict(NONE, min=LEAST, max=400, mean=MEAN))
    if total and key == "lat_ns":
        lat, whole = {k: v for k, v in told.items() if k not in ("percentile", "bins")}, told
    job = {"jobname": "j", "groupid": 0, "error": 0, **more, "job options": {"name": "j", "bs": "4k", **options},
           **{op: direction(release, lat if op == ops else None, whole if op == ops else None) for op in ("read", "write", "trim")},
           "sync": {"total_ios": 0, "lat_ns": unset}, "usr_cpu": 40.0, "sys_cpu": 10.0}  # fmt: skip
    return {"fio version": f"fio-{release}", "timestamp": 1550000000, "time": "Tue Feb 12 19:33:20 2019", "jobs": [job]}


def older(text: str) -> str:
    """Shares that were not asked for, as releases before today's fill the list."""
    return text.replace('"99.900000": 290', '"99.900000": 290, "0.00": 0, "0.00": 0')


@pytest.mark.parametrize("release", RELEASES)
def test_json_plus_of_a_release_gives_the_arithmetic_of_its_bins(release: str) -> None:
    (point,) = load(document(release)).points
    found = point.latency
    assert (point.ops, point.ops_per_s_by_repeat, point.bytes_per_s_by_repeat) == (10_000, (2000.0,), (8_192_000.0,))
    assert found is not None and (found.count, found.min, found.max, found.mean.value) == (10_000, 100, 291, 124.5)
    # half of the samples: 5,000 of the 6,000 of the bin that is 100 alone
    assert found.percentiles[0.5].value == pytest.approx(100 - 0.5 + 5000 / 6000)
    # 9,900 of 10,000: 900 of the 950 in the bin from 256 to 259
    assert found.percentiles[0.99].value == pytest.approx(256 - 0.5 + 4 * 900 / 950)
    assert found.histogram is not None and list(found.histogram.lows) == [100, 128, 256, 288]
    assert list(found.histogram.counts) == [count for *_, count in BINS]


@pytest.mark.parametrize("release", RELEASES)
def test_json_of_a_release_gives_the_percentiles_it_wrote(release: str, write: Write, quick: Command) -> None:
    path = write(older(json.dumps(document(release, plus=False))).encode(), f"{release}.json")
    done = quick("validate", path)
    assert (done.returncode, done.stderr) == (0, "")
    found = load(document(release, plus=False)).points[0].latency
    assert found is not None and {p: e.value for p, e in found.percentiles.items()} == {0.5: 100, 0.9: 129, 0.99: 258, 0.999: 290}
    assert found.count == 10_000


@pytest.mark.parametrize("release", RELEASES)
def test_percentiles_of_the_whole_latency_are_called_so(release: str) -> None:
    """Wherever the release put them, they stand beside the extremes of the whole latency."""
    (point,) = load(document(release, plus=False, total=True, lat_percentiles="1")).points
    assert point.params["latency_kind"] == "fio_lat"
    whole = 400 if RELEASES[release][4] == "clat_ns" else MOST
    assert point.latency is not None and point.latency.max == whole and point.latency.percentiles[0.99].value == 258


def test_bandwidth_without_a_runtime_is_refused_by_name(write: Write, quick: Command) -> None:
    told = document("3.1")
    del told["jobs"][0]["read"]["runtime"]
    refused(quick("validate", write(told)), 'jobs[0].read: has no "bw_bytes", and no "runtime"')


def test_bin_by_number_is_a_bin_of_fio() -> None:
    """64 bins each power of two from 64 ns on, the last ending at 2^34 ns."""
    from rpma_report.sources import fio_bins

    ends = [fio_bins.low_at(index) for index in range(fio_bins.NUMBER)]
    assert ends[:130] == [*range(129), 130] and fio_bins.LAST == 2**34 - 1
    assert all(math.log2(ends[64 + 64 * n]) == 6 + n for n in range(28)) and len(ends) == 1856
    assert all(fio_bins.low_of(low) == low for low in ends)


def without_latency(of: dict[str, Any]) -> dict[str, Any]:
    """gtod_reduce=1 by the environment of the job: it counts, and takes no time."""
    made = json.loads(json.dumps(of))
    read = made["jobs"][0]["read"]
    read["clat_ns"] = read["lat_ns"] = {**NONE, "N": 0}
    return made


def remarks(run: Run) -> list[str]:
    return [remark.text for remark in run.warnings if isinstance(remark, model.Remark)]


def test_latency_that_the_file_does_not_have_is_said() -> None:
    assert remarks(load(without_latency(document("3.33")))) == ["j: the file has no latency (gtod_reduce or disable_clat)"]
    told = document("3.33", plus=False)
    del told["jobs"][0]["read"]["clat_ns"]["percentile"]
    assert "no percentiles: fio left them out" in remarks(load(told))[0]


def interval_of(share: float) -> str:
    """A document of --status-interval, with what was done until then."""
    told = document("3.33", plus=False)
    read = told["jobs"][0]["read"]
    count = round(TOTAL * share)
    runtime = round(RUNTIME * share)
    read.update(total_ios=count, io_bytes=count * BLOCK, runtime=runtime, iops=count * 1000 / runtime, bw_bytes=count * BLOCK * 1000 // runtime)
    read["bw"] = read["bw_bytes"] // 1024
    read["clat_ns"]["N"] = count
    return json.dumps(told, indent=2) + "\n"


def test_last_of_several_documents_is_the_result(write: Write) -> None:
    """Each document of --status-interval has all that was done until then."""
    run = sources.load(write((interval_of(0.5) + "fio: a remark\n" + interval_of(1.0)).encode(), "fio.json"))
    assert run.points[0].ops == TOTAL and run.dropped == ()
    assert [w.text for w in run.warnings] == ["the last of 2 documents is used (--status-interval)"]


def test_documents_of_several_runs_are_said_to_be_left_out(write: Write, quick: Command) -> None:
    """A shell may have appended them: what was done first is more than what was done last."""
    path = write((interval_of(1.0) + interval_of(0.5)).encode(), "fio.json")
    run = sources.load(path)
    assert run.dropped == ("1 documents of other runs before the last one are not read: give each run a file",)
    assert quick("compare", path, path, "--fail-if", "worse").returncode == 3
