# SPDX-License-Identifier: BSD-3-Clause
"""Files of HdrHistogram, fio's logs and perftest: their figures by arithmetic, and hostile bytes."""

import base64
import bisect
import math
import random
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

import sample_foreign as foreign
from conftest import Command, Write, refused
from rpma_report.failure import Failure
from rpma_report.model import Point, Run
from rpma_report.sources import check, hdr_codec, load, read_all

THOUSAND = range(1000, 2000)  # each value once


def loaded(write: Write, content: bytes | str, name: str, unit: str | None = None) -> Run:
    return load(write(content.encode() if isinstance(content, str) else content, name), unit)


def p(point: Point, share: float) -> float:
    assert point.latency is not None
    return point.latency.percentiles[share].value


@pytest.mark.parametrize("digits, lowest", [(1, 1), (2, 1), (3, 1), (3, 1000), (5, 1)])
def test_buckets_are_those_that_an_independent_encoder_counted(digits: int, lowest: int) -> None:
    draw = random.Random(digits)
    values = sorted(round(draw.lognormvariate(9, 2)) + 1 for _ in range(3000))
    found = hdr_codec.decode(foreign.packed(foreign.encoded(values, digits, lowest)))
    assert found is not None and sum(found.counts) == 3000
    for low, count in zip(found.lows, found.counts, strict=True):
        assert bisect.bisect_left(values, low + found.width(low)) - bisect.bisect_left(values, low) == count
        assert found.width(low) <= max(low / 10**digits, lowest)


def test_published_line_of_a_log(write: Write) -> None:
    """The example line of HdrHistogram's documentation: one interval of one value of 2.769 ms."""
    line = "0.127,1.007,2.769,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI="
    run = loaded(write, foreign.hdr_log(line), "a.hlog")
    latency = run.points[0].latency
    assert latency is not None and latency.max == pytest.approx(2.769e6, rel=1e-3)
    assert latency.histogram is not None and latency.count == sum(latency.histogram.counts) > 0


def test_tags_are_points_and_their_intervals_spans(write: Write) -> None:
    lines = [foreign.hdr_line(n, [1000 * (n + 1)] * 1000, tag) for n in range(3) for tag in ("a", "b")]
    run = loaded(write, foreign.hdr_log(*lines), "a.hlog")
    assert [(point.params["op"], point.ops) for point in run.points] == [("a", 3000), ("b", 3000)]
    (windows,) = run.points[0].windows
    assert list(windows.ends_ns) == [10**9, 2 * 10**9, 3 * 10**9] and list(windows.ops_per_s) == [1000.0] * 3
    assert list(windows.p50_ns) == pytest.approx([1000, 2000, 3000], rel=2e-3)
    assert p(run.points[0], 0.5) == pytest.approx(2000, rel=2e-3) and run.started == "2015-09-09T15:24:39Z"
    assert any("records no unit" in remark.text for remark in run.warnings)


def test_percentiles_need_ten_samples_beyond(write: Write) -> None:
    run = loaded(write, foreign.hdr_log(foreign.hdr_line(0, THOUSAND)), "a.hlog")
    latency = run.points[0].latency
    assert latency is not None and list(latency.percentiles) == [0.5, 0.9, 0.99]
    assert [v.value for v in latency.percentiles.values()] == pytest.approx([1500, 1900, 1990], abs=1)
    assert latency.mean.value == pytest.approx(1499.5, abs=1)


def test_hgrm_needs_a_unit_and_knows_what_its_rows_tell(write: Write) -> None:
    with pytest.raises(Failure, match="expected --unit"):
        loaded(write, foreign.HGRM, "a.hgrm")
    latency = loaded(write, foreign.HGRM, "a.hgrm", "us").points[0].latency
    assert latency is not None and (latency.count, latency.min, latency.max) == (10_000, 1000, 12_000)
    stated = {share: v.value for share, v in latency.percentiles.items()}
    # p99 lies between two rows of one value; p99.99 is nowhere
    assert stated == {0.5: 2000, 0.9: 4000, 0.984375: 7000, 0.99: 7000, 0.9921875: 7000, 0.999: 9000}
    assert latency.mean.value == 2500 and latency.histogram is None


def test_percentile_between_rows_that_differ_is_unknown(write: Write) -> None:
    text = foreign.HGRM.replace("       7.000 0.992187500000", "       8.000 0.992187500000")
    latency = loaded(write, text, "a.hgrm", "ns").points[0].latency
    assert latency is not None and 0.99 not in latency.percentiles


def test_fio_log_by_counting(write: Write) -> None:
    values = list(THOUSAND)
    random.Random(1).shuffle(values)
    run = loaded(write, foreign.fio_log(values) + foreign.fio_log([5000] * 20, 0), "job_clat.1.log")
    assert [(point.params["op"], point.ops) for point in run.points] == [("write clat", 1000), ("read clat", 20)]
    assert [p(run.points[0], share) for share in (0.5, 0.9, 0.99)] == [1499, 1899, 1989]
    (windows,) = run.points[0].windows
    assert len(windows.ends_ns) == 100 and list(windows.ops_per_s) == [1000.0] * 100
    assert run.points[0].params["size_bytes"] == 4096 and run.points[0].params["depth"] is None


@pytest.mark.skipif(shutil.which("fio") is None, reason="no fio")
def test_log_that_fio_wrote_has_the_figures_of_its_json(tmp_path: Path) -> None:
    line = ["fio", "--name=a", "--ioengine=null", "--size=2m", "--bs=4k", "--rw=write", "--write_lat_log=a",
            "--output-format=json+", "--output=a.json"]  # fmt: skip
    subprocess.run(line, cwd=tmp_path, check=True, timeout=60)
    (point,) = load(tmp_path / "a_clat.1.log").points
    (told,) = (q for q in load(tmp_path / "a.json").points if q.params["op"] == "write")
    assert point.latency and told.latency and point.ops == told.ops == 512
    assert (point.latency.min, point.latency.max) == (told.latency.min, told.latency.max)
    assert point.latency.mean.value == pytest.approx(told.latency.mean.value, rel=1e-6)
    # a bin of fio is 1/64 of its value wide, and its middle can be half a nanosecond
    assert p(point, 0.5) == pytest.approx(p(told, 0.5), rel=1 / 64, abs=1)


def test_perftest_latency(write: Write) -> None:
    run = loaded(write, foreign.PERFTEST, "p.json")
    (point,) = run.points
    assert point.latency and (point.latency.min, point.latency.max) == (910, 53_321_900)
    # 1,000 iterations have one beyond p99.9: not enough
    assert {share: v.value for share, v in point.latency.percentiles.items()} == {0.5: 1050, 0.99: pytest.approx(16_529_340)}
    assert point.params["latency_kind"] == "perftest_half" and point.bytes_per_s is None
    assert run.device_name == "soft0" and run.device_kind is None


def test_perftest_bandwidth_is_in_the_unit_that_agrees_with_the_rate(write: Write) -> None:
    (point,) = loaded(write, foreign.PERFTEST_BW, "p.json").points
    assert point.latency is None and point.ops_per_s and point.ops_per_s.value == pytest.approx(174_400)
    assert point.bandwidth.value == 10_900 * 2**20  # MiB a second, which is 174,400 times 64 KiB
    assert (point.params["depth"], point.params["connections"]) == (128, 2)


GBIT = """{
test_info: {
test: RDMA_Write_BW_Test,
Device: "mlx5_0",
},
results: {
MsgSize: 1073741824,
n_iterations: 50,
BW_peak: 98.50,
BW_average: 98.35,
MsgRate: 0.000011,
},
}
"""


def test_perftest_bandwidth_of_large_operations_is_not_cut(write: Write) -> None:
    """98.35 Gbit/s are 12.29 GB/s; 11 operations a second of 1 GiB would be 11.8 GB/s."""
    (point,) = loaded(write, GBIT, "p.json").points
    assert point.bandwidth.value == pytest.approx(98.35e9 / 8)
    assert point.ops_per_s is not None and point.ops_per_s.value == pytest.approx(98.35e9 / 8 / 2**30)


def test_perftest_bandwidth_of_unknown_unit_is_said_and_passes_no_gate(write: Write, quick: Command) -> None:
    """A rate of 0.000000 agrees with any unit."""
    text = GBIT.replace("0.000011", "0.000000").replace("98.35", "0.35").replace("98.50", "0.40")
    run = loaded(write, text, "p.json")
    assert run.points[0].bytes_per_s is None
    assert [remark.code for remark in run.warnings] == ["NOT_IN_FILE", "NOT_READ"]
    done = quick("compare", write(text.encode(), "a.json"), write(text.replace("0.35", "0.34").encode(), "b.json"), "--fail-if", "bytes_per_s < -5%")
    assert done.returncode == 3 and "MsgRate has too few digits to tell its unit, MiB/s or Gbit/s" in done.stdout


def test_indented_end_of_percentiles_is_read(write: Write) -> None:
    text = foreign.HGRM.replace("#[", "    #[")
    latency = loaded(write, text, "a.hgrm", "us").points[0].latency
    assert latency is not None and (latency.count, latency.mean.value) == (10_000, 2500)


def test_percentiles_within_the_output_of_wrk2_are_read(write: Write) -> None:
    text = ("Running 30s test @ http://127.0.0.1:80/index.html\n  2 threads and 100 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
            "    Latency     6.46ms    1.93ms  12.34ms   67.66%\n  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%    6.67ms\n\n"
            f"  Detailed Percentile spectrum:\n{foreign.HGRM}----------------------------------------------------------\n"
            "  10000 requests in 30.00s, 19.81MB read\nRequests/sec:   2000.28\n")  # fmt: skip
    run = loaded(write, text, "wrk2.txt", "ms")
    latency = run.points[0].latency
    assert latency is not None and (latency.count, latency.max, latency.mean.value) == (10_000, 12_000_000, 2_500_000)


FILES = {
    "a.hlog": foreign.hdr_log(foreign.hdr_line(0, THOUSAND, "x"), foreign.hdr_line(1, THOUSAND, "x")),
    "a.hgrm": foreign.HGRM.encode(),
    "a_lat.1.log": foreign.fio_log(THOUSAND),
    "perftest.json": foreign.PERFTEST.encode(),
    "bw.json": foreign.PERFTEST_BW.encode(),
}
KINDS = {"a.hlog": "HdrHistogram log", "a.hgrm": "HdrHistogram percentiles, unit unknown", "a_lat.1.log": "fio's latency log",
         "perftest.json": "perftest's output", "bw.json": "perftest's output"}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_each_is_named_by_validate(name: str, quick: Command, write: Write) -> None:
    path = write(FILES[name], name)
    done = quick("validate", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{path}: {KINDS[name]}, sound\n", "")


@pytest.mark.drawn
def test_a_page_of_all_says_what_is_unknown(quick: Command, write: Write, tmp_path: Path) -> None:
    paths = [write(content, name) for name, content in FILES.items()]
    done = quick("create", *paths, "-o", tmp_path / "p.html", "--unit", "us")
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "p.html").read_text()
    for text in ("records no unit", "no unit of BW_average", "single operations", "Device not recorded."):
        assert text in page
    done = quick("verify", tmp_path / "p.html", *paths, "--unit", "us")
    assert (done.returncode, done.stderr) == (0, "")


PAYLOAD = foreign.encoded(list(THOUSAND))
BAD_LINES = [
    ("0,1,2,!!!", "base64"),
    ("0,1,2,AAAA", "cookie"),
    ("0,1,2," + base64.b64encode(struct.pack(">ii", 1, 0)).decode(), "cookie"),
    ("0,1,2," + base64.b64encode(struct.pack(">ii", 0x1C849314, 50) + b"x").decode(), "50 compressed bytes"),
    ("0,1,2," + base64.b64encode(struct.pack(">ii", 0x1C849314, 3) + b"xyz").decode(), "zlib"),
    ("0,1,2," + foreign.packed(PAYLOAD[:30]), "header of 40 bytes"),
    ("0,1,2," + foreign.packed(bytes(40)), "cookie of a V2 histogram"),
    ("0,1,2," + foreign.packed(struct.pack(">iiiiqqd", 0x1C849313, 99, 0, 3, 1, 10, 1.0)), "99 bytes of counts"),
    ("0,1,2," + foreign.packed(struct.pack(">iiiiqqd", 0x1C849313, 0, 0, 9, 1, 10, 1.0)), "significant digits"),
    ("0,1,2," + foreign.packed(struct.pack(">iiiiqqd", 0x1C849313, 0, 0, 3, 0, 10, 1.0)), "range of values"),
    ("0,1,2," + foreign.packed(struct.pack(">iiiiqqd", 0x1C849313, 0, 7, 3, 1, 10, math.nan)), "not shifted"),
    ("0,1,2," + foreign.packed(PAYLOAD[:4] + struct.pack(">i", 1) + PAYLOAD[8:40] + b"\x80"), "cut off"),
    ("0,1,2," + foreign.packed(struct.pack(">iiiiqqd", 0x1C849313, 9, 0, 3, 1, 10, 1.0) + b"\xff" * 9), "empty ones"),
    ("0,1,2," + foreign.packed(struct.pack(">iiiiqqd", 0x1C849313, 9, 0, 3, 1, 10, 1.0) + b"\xfe" + b"\xff" * 8), "2^62"),
    ("0,1,2", "commas between"),
    ("x,1,2,AAAA", "commas between"),
    (foreign.hdr_line(0, []), "an interval with samples"),
]  # fmt: skip


@pytest.mark.parametrize("line, why", BAD_LINES)
def test_damaged_histogram_names_line_and_expectation(line: str, why: str, quick: Command, write: Write) -> None:
    refused(quick("validate", write(foreign.hdr_log(line), "a.hlog")), "a.hlog: line ", "expected", why)


def test_what_unpacks_to_too_much_is_not_unpacked() -> None:
    with pytest.raises(hdr_codec.Malformed, match="8 MiB"):
        hdr_codec.decode(foreign.packed(bytes(200 << 20)))


def test_cut_stream_and_bytes_behind_it() -> None:
    stream = zlib.compress(PAYLOAD)
    for data, why in ((stream[:-5], "cut off"), (stream + b"x", "behind")):
        with pytest.raises(hdr_codec.Malformed, match=why):
            hdr_codec.decode(base64.b64encode(struct.pack(">ii", 0x1C849314, len(data)) + data).decode())


BAD_FILES = [
    ("a.hlog", foreign.hdr_log(foreign.hdr_line(1, [5]), foreign.hdr_line(0, [5])), "begins after"),
    ("a.hlog", foreign.hdr_log(foreign.hdr_line(0, [5]), foreign.hdr_line(1, [5], digits=2)), "the digits"),
    ("a.hgrm", foreign.HGRM.replace("9.000 0.999", "1.000 0.999").encode(), "not below"),
    ("a.hgrm", foreign.HGRM.replace("12.000 1.0", "12.000 0.9999").encode(), "percentile 1"),
    ("a.hgrm", foreign.HGRM.replace("2.000 0.5", "x 0.5").encode(), "total count"),
    ("a.hgrm", foreign.HGRM.partition("#")[0].encode(), "Mean"),
    ("a_lat.1.log", b"0, 9, 0, 4096, 0\n1, 12", "commas between"),
    ("a_lat.1.log", b"0, 9, 0, 4096, 0\n1, 12, 0, 4096, 0", "cut off"),
    ("a_lat.1.log", b"0, 9, 7, 4096, 0\n", "direction"),
    ("a_lat.1.log", b"0, 9999999999999999999, 0, 4096, 0\n", "2^62"),
    ("a_bw.1.log", b"0, 9, 0, 4096, 0\n", "log of bw"),
    ("other.txt", b"0, 9, 0, 4096, 0\n", "NAME_lat.1.log"),
    ("p.json", foreign.PERFTEST.replace("t_avg: 324.11", "t_avg: x").encode(), "t_avg to be a number"),
    ("p.json", foreign.PERFTEST.replace("MsgSize: 64,\n", "").encode(), "MsgSize"),
    ("p.json", foreign.PERFTEST[:-3].encode(), "cut off"),
    ("p.json", foreign.PERFTEST.replace("results", "test_info").encode(), "test_info once"),
]


@pytest.mark.parametrize("name, content, why", BAD_FILES)
def test_damaged_file_is_one_line(name: str, content: bytes, why: str, quick: Command, write: Write) -> None:
    refused(quick("validate", write(content, name)), f"{name}: ", "expected", why)


@pytest.mark.parametrize("name", FILES)
def test_mutated_bytes_are_refused_or_read_and_nothing_else(name: str, write: Write) -> None:
    draw, good = random.Random(name), FILES[name]
    for _ in range(150):
        data = bytearray(good)
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(data))
            match draw.randrange(4):
                case 0:
                    data[at] = draw.randrange(256)
                case 1:
                    del data[at : at + draw.randint(1, 30)]
                case 2:
                    data[at:at] = data[max(at - 20, 0) : at] * draw.randint(1, 3)
                case _:
                    data[at:at] = draw.choice([b"9" * 25, b"-", b"\n", b"{", b"NaN", b"\xff", b",", b"1e999"])
            if not data:
                break
        path = write(bytes(data), name)
        try:
            check(read_all(path)[0])
            load(path, "us")
        except Failure as failure:
            assert "\n" not in str(failure) and len(str(failure)) < 600
