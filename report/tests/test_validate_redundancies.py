# SPDX-License-Identifier: BSD-3-Clause
"""Each redundancy of the list, broken in both directions; and edits by chance, of which most are caught."""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import edits
import sample
import sample_foreign as foreign
import sample_tests
import sample_tools as tools
from edits import at
from loaded import checked
from rpma_report.sources import point_sums, redundancies, warning_sums
from rpma_report.sources.document import BadResult, Content, Contradiction
from rpma_report.sources import check, recognised

MS = 1_000_000
WARNING = {"code": "DEVICE_NOT_HARDWARE", "severity": "warn", "host": "client", "text": "t"}
EMULATED = {**WARNING, "code": "EMULATED_CPU"}
CONNECTION = {"path_mtu_bytes": 4096, "gid_index": 0, "gid": "::ffff:127.0.0.1", "rq_size": 1, "buffers": "normal", "traffic_class": None,
              "ack_timeout": None, "retries": 7, "rnr_retries": 7, "inline_size_bytes": 16, "comp_vector": 0}  # fmt: skip
Value = Any
Break = tuple[str, tuple[str | int, ...], Value, Value]


def whole(document: dict[str, Any]) -> dict[str, Any]:
    """The document with what rpma-bench writes and the shared sample leaves out."""
    for point in document["points"]:
        ops = point["repeats"][0]["ops"]
        if all(repeat["ops"] == ops for repeat in point["repeats"]) and point["params"]["test"] != "rate":
            point["stop"].update(kind="ops", duration_ns=None, ops=ops)
        for repeat in point["repeats"]:
            repeat["warmup"] = {"ns": 1000, "ops": 10, "steady": True, "windows_used": 5}
            own = {"index": 0, "cpu": 2, "ops": repeat["ops"], "user_ns": 500, "sys_ns": 100}
            cpus = {"other_cpu_ns": 1000, "steal_ns": 0, "cpus": 2, "all_cpu_ns": 10 * MS}
            repeat.update(threads=[own], interference={"client": cpus, "server": dict(cpus)}, used={"flush": point["params"]["flush"]},
                          cpu={"client": {"busy_fraction": 0.01}, "server": {"busy_fraction": 0.01, "load_fraction_measured": None}},
                          cpu_quota={"client": {"limited": False}, "server": {"limited": False}})
        point["params"].update(srq=False, connection=None)
        if point["params"]["test"] not in ("connect", "register"):
            depth = point["params"]["depth"]
            point["params"]["connection"] = {**CONNECTION, "sq_size": depth, "cq_size": depth + 1}
        number = len(point["repeats"])
        point["warmup"] = {"ns": 1000 * number, "ops": 10 * number, "steady": True, "windows_used": 5}
        if number >= 3:
            for key in ("ops_per_s", "bytes_per_s"):
                add_cv(point["summary"][key], [repeat[key] for repeat in point["repeats"]])
    return document


def add_cv(interval: dict[str, Any] | None, values: list[float]) -> None:
    if interval:
        import math
        import statistics

        interval["cv"] = statistics.stdev(map(math.log, values))


def lat() -> dict[str, Any]:
    document = whole(sample.result([sample.lat_point(0, 64, count=2000), sample.lat_point(1, 4096, count=2000)], kind="hardware"))
    point = document["points"][0]
    for repeat in point["repeats"]:
        most, end = repeat["latency"]["max_ns"], repeat["elapsed_ns"]
        lows = [low for low, _ in repeat["latency"]["histogram"]["buckets"]]
        p50, p99, longest = (lows[len(lows) * share // 10] for share in (2, 6, 8))
        repeat["intervals"] = [{"t_ns": end // 2, "ops": 900, "bytes": 900 * 64, "p50_ns": p50, "p99_ns": p99, "max_ns": longest},
                               {"t_ns": end, "ops": 1100, "bytes": 1100 * 64, "p50_ns": None, "p99_ns": None, "max_ns": most}]  # fmt: skip
        repeat["verify"] = {"checked_bytes": 64000, "mismatches": 0, "overwritten_bytes": 0, "first_offset": None, "method": None}
    point["summary"].update(verify={"checked_bytes": 192000, "mismatches": 0, "overwritten_bytes": 0})
    p50 = point["summary"]["latency"]["percentiles"][0]["ns"]
    judged = [{"id": p["id"], "value": p["summary"]["latency"]["percentiles"][0]["ns"], "missed": False} for p in document["points"]]
    document["run"].update(slos=[{"slo": "lat.p50<1s", "missed": False, "points": judged}], resumed_repeats=0)
    document["run"]["argv"] += ["--depth", "1", "--completion=poll", "--seed", "42", "--slo=lat.p50<1s"]
    assert p50
    return document


def rate() -> dict[str, Any]:
    """1,000 a second for 1.9 s; one in the middle was 5 ms late."""
    service = range(3000, 4900)
    point = sample_tests.rate_point(0, 1000.0, 1000.0, [*range(5000, 6899), 8 * MS], service, late=7)
    point["stop"].update(kind="duration", duration_ns=1_900_000_000)
    point["repeats"][0].update(max_lag_ns=5 * MS, unbegun_ops=0)
    point["summary"].update(max_lag_ns=5 * MS, unbegun_ops=0)
    document = whole(sample.result([point], kind="soft", exit_code=1))
    told = {q["p"]: q["ns"] for q in document["points"][0]["summary"]["response_latency"]["percentiles"]}
    trial = {"point": "p0000", "rate_per_s": 1000, "kept": True, "achieved": True, "value": told[0.99], "again": True}
    missed = {**trial, "kept": False}
    document["run"]["searches"] = [
        {"limit": "response.p99<1ms", "name": None, "verdict": "kept", "highest_kept_per_s": 1000, "lowest_missed_per_s": None,
         "gap_fraction": None, "needed_samples": 1000, "trials": [trial]},
        {"limit": "response.p99<1us", "name": None, "verdict": "missed", "highest_kept_per_s": None, "lowest_missed_per_s": 1000,
         "gap_fraction": None, "needed_samples": 1000, "trials": [missed]}]  # fmt: skip
    return document


def mix() -> dict[str, Any]:
    document = whole(sample.result([sample_tests.mix_point(0, 0.5, range(1000, 3000), range(2000, 4000))], kind="soft"))
    point = document["points"][0]
    repeat = point["repeats"][0]
    repeat.update(ops=4000, read_ops=2000, bytes=4000 * 4096, ops_per_s=1e5, bytes_per_s=1e5 * 4096, elapsed_ns=40 * MS)
    repeat["threads"][0]["ops"] = 4000
    point["stop"]["ops"] = 4000
    return document


def both() -> dict[str, Any]:
    point = sample.bw_point(0, 64, bidirectional=True)
    for repeat in point["repeats"]:
        repeat["reverse"] = {key: repeat[key] for key in ("elapsed_ns", "ops", "bytes", "ops_per_s", "bytes_per_s", "latency", "threads")}
    point["summary"]["reverse"] = {key: point["summary"][key] for key in ("ops_per_s", "bytes_per_s", "latency")}
    return whole(sample.result([point], kind="soft"))


def connect() -> dict[str, Any]:
    made = sample_tests.stepped_point(0, "connect", {"prepare": range(100, 1200)}, range(200, 1300))
    return whole(sample.result([made], kind="soft"))


def interrupted() -> dict[str, Any]:
    document = whole(sample.result([sample.bw_point(0, 64)], status="interrupted", exit_code=130))
    document["run"]["warnings"].append({**WARNING, "code": "INTERRUPTED"})
    return document


def deep() -> dict[str, Any]:
    """100,000 a second, each of which takes 288 us: 28.8 of 32 slots are taken."""
    made = sample_tests.with_latency(0, "latency", [range(278_000, 298_000, 10)] * 4, test="bw")
    return whole(sample.result([made], kind="soft"))


SOUND: dict[str, Callable[[], dict[str, Any]]] = {"lat": lat, "rate": rate, "mix": mix, "both": both, "connect": connect,
                                                  "interrupted": interrupted, "deep": deep}  # fmt: skip
POINT = ("points", 0)
REPEAT = (*POINT, "repeats", 0)
SUMMARY = (*POINT, "summary")
LATENCY = (*REPEAT, "latency")


def times(factor: float) -> Callable[[Any], Any]:
    return lambda value: type(value)(value * factor)


def plus(number: int) -> Callable[[Any], Any]:
    return lambda value: value + number


# for each row, by its object and keys: the document, a place, and two values that break it, to either side
BREAKS: dict[str, Break] = {
    "document device.kind": ("lat", ("run", "warnings"), [WARNING], [EMULATED, WARNING]),
    "document device.emulated_cpu": ("lat", ("device", "emulated_cpu"), True, True),
    "document run.status": ("lat", ("run", "status"), "failed", "interrupted"),
    "document run.exit_code": ("lat", ("run", "exit_code"), 1, 2),
    "document run.resumed_repeats": ("lat", ("run", "resumed_repeats"), 1, 1000),
    "document points": ("lat", ("points",), [], []),
    "document run.ended": ("lat", ("run", "ended"), "2026-08-21T09:59:59.000Z", "2026-08-21T10:00:00.122Z"),
    "document run.argv": ("lat", (*POINT, "params", "depth"), 2, 32),
    "document points[].id": ("lat", ("points", 1, "id"), "p0000", "p0000"),
    "document repeats[].order": ("lat", (*REPEAT, "order"), 1, 5),
    "document run.slos": ("lat", ("run", "slos", 0, "points", 0, "value"), plus(1), plus(-1)),
    "document run.warnings": ("rate", ("run", "warnings"), lambda told: told[:1], lambda told: [*told, {**WARNING, "code": "NOT_STEADY"}]),
    "document run.searches": ("rate", ("run", "searches", 0, "highest_kept_per_s"), 999, 1001),
    "point params.latency_kind": ("lat", (*POINT, "params", "latency_kind"), "post_to_cqe", "write_flush_native"),
    "point params.flush": ("mix", (*POINT, "params", "flush"), None, None),
    "point params.mode": ("lat", (*POINT, "params", "mode"), "open", "open"),
    "point params.read_fraction": ("lat", (*POINT, "params", "read_fraction"), 0.5, 1),
    "point params.op": ("lat", (*POINT, "params", "op"), None, "read"),
    "point params.target_memory.bytes": ("lat", (*POINT, "params", "target_memory", "bytes"), 63, 1),
    "point params.inline_bytes": ("lat", (*POINT, "params", "inline_bytes"), 1, 63),
    "point params.signal_every": ("lat", (*POINT, "params", "signal_every"), 2, 100),
    "point params.batch": ("mix", (*POINT, "params", "batch"), 33, 64),
    "point params.connections": ("lat", (*POINT, "params", "connections"), 257, 1000),
    "point params.depth": ("connect", (*POINT, "params", "depth"), 2, 32),
    "point params.srq": ("lat", (*POINT, "params", "srq"), True, True),
    "point params.persist": ("connect", (*POINT, "params", "persist"), "gpspm", "rpmem"),
    "point params.pattern": ("lat", (*POINT, "params"), lambda told: {**told, "zipf_theta": 0.5}, lambda told: {**told, "zipf_theta": 0.99}),
    "point stop": ("lat", (*POINT, "stop", "kind"), "duration", "ci"),
    "point warmup": ("lat", (*POINT, "warmup", "ns"), plus(1), plus(-1)),
    "point repeats[].index": ("lat", (*REPEAT, "index"), 1, 3),
    "repeat used": ("lat", (*REPEAT, "used", "flush"), "visibility", "other"),
    "repeat threads": ("lat", (*POINT, "params", "threads"), 2, 8),
    "repeat threads[].user_ns": ("lat", (*REPEAT, "threads", 0, "user_ns"), times(1e7), times(1e9)),
    "repeat threads[].sys_ns": ("lat", (*REPEAT, "threads", 0, "sys_ns"), 1010 * MS, 1020 * MS),
    "repeat cpu_quota": ("lat", (*REPEAT, "cpu_quota", "client"), {"limited": True}, {"limited": False, "cpus": 1.0, "periods": 5, "throttled_periods": 0, "throttled_ns": 0}),
    "repeat intervals": ("lat", (*REPEAT, "intervals", 0, "ops"), 901, 899),
    "repeat intervals[]": ("lat", (*REPEAT, "intervals", 0, "p50_ns"), times(0.5), times(0.25)),
    "repeat latency": ("deep", (*POINT, "params", "depth"), 16, 1),
    "repeat read_ops": ("mix", (*REPEAT, "read_ops"), 2001, 1999),
    "repeat late_ops": ("rate", (*REPEAT, "max_lag_ns"), 0, 9 * MS),
    "repeat response_latency": ("rate", (*REPEAT, "response_latency", "min_ns"), 2999, 2500),
    "repeat unbegun_ops": ("rate", (*POINT, "stop", "duration_ns"), times(1.1), times(0.9)),
    "repeat elapsed_ns": ("rate", (*REPEAT, "elapsed_ns"), times(0.9), times(1.1)),
    "repeat errors": ("lat", (*REPEAT, "errors"), 1, 10),
    "repeat complete": ("lat", (*REPEAT, "complete"), False, False),
    "repeat interference": ("lat", (*REPEAT, "interference", "client", "other_cpu_ns"), 60 * MS, 10**12),
    "repeat verify.first_offset": ("lat", (*REPEAT, "verify", "first_offset"), 0, 64),
    "repeat reverse": ("both", (*POINT, "params", "bidirectional"), False, False),
    "side bytes": ("lat", (*REPEAT, "bytes"), plus(1), plus(-1)),
    "side ops_per_s": ("lat", (*REPEAT, "ops_per_s"), times(1.001), times(0.999)),
    "side bytes_per_s": ("both", (*REPEAT, "reverse", "bytes_per_s"), times(1.001), times(0.999)),
    "side threads[].ops": ("lat", (*REPEAT, "threads", 0, "ops"), plus(1), plus(-1)),
    "latency count": ("lat", (*LATENCY, "count"), plus(1), plus(-1)),
    "latency unbegun_ops": ("rate", (*REPEAT, "unbegun_ops"), 1, 100),
    "latency min_ns": ("lat", (*LATENCY, "min_ns"), times(1.05), times(0.95)),
    "latency max_ns": ("lat", (*LATENCY, "max_ns"), times(1.05), times(0.95)),
    "latency mean_ns": ("lat", (*LATENCY, "mean_ns"), times(1.05), times(0.95)),
    "latency stddev_ns": ("lat", (*LATENCY, "stddev_ns"), times(1.2), times(0.8)),
    "latency percentiles": ("lat", (*LATENCY, "percentiles", 2, "ns"), plus(1), plus(-1)),
    "latency histogram.buckets": ("lat", (*LATENCY, "histogram", "buckets", 5, 0), plus(1), plus(-1)),
    "latency histogram.saturated": ("lat", (*LATENCY, "histogram", "saturated"), 1, 10**6),
    "summary n": ("lat", (*SUMMARY, "n"), 4, 2),
    "summary ops_per_s, bytes_per_s": ("lat", (*SUMMARY, "ops_per_s", "cv"), times(1.01), times(0.99)),
    "summary latencies": ("lat", (*SUMMARY, "latency", "mean_ns", "ci95_high"), times(1.001), times(0.999)),
    "summary steps": ("connect", (*SUMMARY, "steps", 0, "latency", "percentiles", 0, "ns"), plus(1), plus(-1)),
    "summary counts": ("rate", (*SUMMARY, "late_ops"), plus(1), plus(-1)),
    "summary verify": ("lat", (*SUMMARY, "verify", "checked_bytes"), plus(1), plus(-1)),
    "summary flagged_repeats": ("both", (*SUMMARY, "flagged_repeats"), [{"index": 0, "reason": "mean_mad>3"}], [{"index": 9, "reason": "mean_mad>3"}]),
}
# the other side of a row that has two values only
ACROSS: list[Break] = [
    ("rate", ("run", "warnings"), [EMULATED], []),
    ("interrupted", ("device", "emulated_cpu"), False, None),
    ("interrupted", ("run", "exit_code"), 0, 1),
    ("rate", (*POINT, "params", "mode"), "closed", "closed"),
    ("mix", (*POINT, "params", "read_fraction"), None, None),
    ("connect", (*POINT, "params", "op"), "write", "read"),
    ("connect", (*POINT, "params", "flush"), "persistent", "visibility"),
    ("rate", ("run", "searches", 1, "verdict"), "found", "kept"),
    ("rate", ("run", "searches", 0, "needed_samples"), 900, 10000),
    ("lat", (*POINT, "params", "persist"), "none", "gpspm"),
    ("lat", (*REPEAT, "intervals", 0, "p99_ns"), 8999, 20000),
    ("lat", (*REPEAT, "intervals", 1, "max_ns"), times(2), times(3)),
    ("lat", (*POINT, "stop", "ops"), 1999, 2001),
    ("lat", (*POINT, "warmup", "steady"), False, None),
    ("lat", ("run", "seed"), 41, 43),
    ("rate", (*REPEAT, "late_ops"), 0, 1901),
]


@pytest.mark.parametrize("name", SOUND)
def test_unbroken_documents_are_sound(name: str) -> None:
    checked(SOUND[name]())


def early(document: dict[str, Any]) -> None:
    """A burst of 1,900 operations is done at once, and has the time that its plan has for them."""
    document["points"][0]["params"]["arrivals"] = "burst:1900"
    document["run"]["ended"] = document["run"]["started"]


def bracket(document: dict[str, Any]) -> None:
    """A search takes its highest rate from a closed loop, before its first trial."""
    found = sample.bw_point(1, 64, persist="none", flush=None, flush_method=None, latency_kind="post_to_cqe")
    document["points"].append(found)
    for order, repeat in enumerate(repeat for point in document["points"] for repeat in point["repeats"]):
        repeat["order"] = order
    document["run"]["argv"] += ["--test", "rate", "--find-rate", "response.p99<1ms", "--find-rate", "response.p99<1us"]


def argv(*words: str) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        document["run"]["argv"] = ["rpma-bench", "local", *words]

    return change


def stalled(document: dict[str, Any]) -> None:
    """The second thread began long after the first."""
    for repeat in document["points"][0]["repeats"]:
        repeat["intervals"] = repeat["intervals"][:1]
        repeat["threads"] = [{**repeat["threads"][0], "index": i, "ops": repeat["ops"] // 2} for i in range(2)]
        repeat["intervals"][0]["t_ns"] = repeat["elapsed_ns"] // 4
    document["points"][0]["params"]["threads"] = 2


@pytest.mark.parametrize("name, change", [
    ("rate", early), ("rate", bracket), ("lat", stalled), ("lat", argv("--depth", "0x1")), ("lat", argv("--depth", "1k")),
    ("lat", argv("--depth", "4", "--depth", "1")), ("lat", argv("--depth", "4", "--dep", "1")), ("lat", argv("--plan", "p.json", "--depth", "4")),
])  # fmt: skip
def test_what_rpma_bench_may_write_is_sound(name: str, change: Callable[[dict[str, Any]], None]) -> None:
    document = SOUND[name]()
    change(document)
    checked(document)


@pytest.mark.parametrize("op, other", [("write", "read"), ("write-imm", "read"), ("atomic-write", "read"), ("send", "post_to_cqe"),
                                       ("read", "post_to_cqe")])  # fmt: skip
def test_a_latency_is_of_the_kind_of_its_operation(op: str, other: str) -> None:
    document = sample.result([sample.lat_point(0, 8, op=op)])
    checked(document)
    document["points"][0]["params"]["latency_kind"] = other
    with pytest.raises(BadResult, match="latency_kind"):
        checked(document)


def test_each_row_of_the_list_has_its_break() -> None:
    assert list(BREAKS) == list(dict.fromkeys(f"{row.of} {row.keys}" for row in redundancies.BENCH))


@pytest.mark.parametrize("one", [*BREAKS.values(), *ACROSS], ids=[*BREAKS, *(edits.path_of(one[1]) for one in ACROSS)])
@pytest.mark.parametrize("side", [2, 3], ids=["up", "down"])
def test_break_is_caught(one: Break, side: int) -> None:
    document = SOUND[one[0]]()
    holder, key, value = at(document, one[1][:-1]), one[1][-1], one[side]
    if callable(value):
        value = value(holder[key])
    assert value != holder[key]
    holder[key] = value
    with pytest.raises(Contradiction):
        checked(document)


def lines(text: str, old: str, new: str) -> None:
    assert text.count(old) == 1
    for source in recognised(Content("p", "p", "0" * 64, text)):
        check(source)
    for source in recognised(Content("p", "p", "0" * 64, text.replace(old, new))):
        with pytest.raises(Contradiction):
            check(source)


@pytest.mark.parametrize(
    "text, old, new",
    [(foreign.PERFTEST, "percentile_99: 16529.34", "percentile_99: 0.5"), (foreign.PERFTEST, "percentile_99: 16529.34", "percentile_99: 60000"),
     (foreign.PERFTEST, "t_typical: 1.05", "t_typical: 0.9"), (foreign.PERFTEST, "t_typical: 1.05", "t_typical: 20000"),
     (foreign.PERFTEST, "t_avg: 324.11", "t_avg: 0.1"), (foreign.PERFTEST, "t_stdev: 2943.13", "t_stdev: 99999"),
     (foreign.PERFTEST_BW, '"BW_average": 10900.000000', '"BW_average": 5450.000000'),
     (foreign.PERFTEST_BW, '"BW_peak": 11000.000000', '"BW_peak": 10899.000000'), (foreign.PERFTEST_BW, '"MsgSize": 65536', '"MsgSize": 4096'),
     (foreign.HGRM, "Total count    =        10000", "Total count    =        20000"), (foreign.HGRM, "[Max     =       12.000", "[Max     =       24.000"),
     (foreign.HGRM, "[Mean    =        2.500", "[Mean    =       12.500")],
)  # fmt: skip
def test_lines_of_other_programs_that_contradict_each_other_are_caught(text: str, old: str, new: str) -> None:
    lines(text, old, new)


FIO = tools.fio(tools.fio_job("w", range(10_000, 20_000), rw="write"))
WRITE = ("jobs", 0, "write")
CLAT = (*WRITE, "clat_ns")


@pytest.mark.parametrize(
    "place", [(*WRITE, "bw_bytes"), (*WRITE, "iops"), (*WRITE, "runtime"), (*WRITE, "io_bytes"), (*WRITE, "total_ios"), (*CLAT, "N"),
              (*CLAT, "min"), (*CLAT, "max"), (*CLAT, "mean"), (*CLAT, "percentile", "50.000000"), (*CLAT, "bins", "15040")],
    ids=edits.path_of,
)  # fmt: skip
@pytest.mark.parametrize("factor", [2, 0.5])
def test_fio_figures_that_contradict_each_other_are_caught(place: tuple[str | int, ...], factor: float) -> None:
    document = copy.deepcopy(FIO)
    holder = at(document, place[:-1])
    holder[place[-1]] = type(holder[place[-1]])(holder[place[-1]] * factor)
    with pytest.raises(Contradiction):
        checked(document)


PING = tools.ping(range(1000, 3000))


@pytest.mark.parametrize(
    "place", [("pings", "lost"), ("pings", "received"), ("pings", "transmitted"), ("latency", "rtt", "count"),
              ("latency", "rtt", "mdev_ns"), ("latency", "rtt", "mean_ns"), ("latency", "rtt", "p50_ns"), ("latency", "rtt", "max_ns")],
    ids=edits.path_of,
)  # fmt: skip
@pytest.mark.parametrize("factor", [2, 0.5])
def test_ping_figures_that_contradict_each_other_are_caught(place: tuple[str | int, ...], factor: float) -> None:
    document = copy.deepcopy(PING)
    holder = at(document, place[:-1])
    value = holder[place[-1]]
    holder[place[-1]] = value * factor if isinstance(value, float) else round(value * factor)
    with pytest.raises(BadResult):
        checked(document)


# Random edits that stay unseen, by the reason why nothing else in the file contradicts them.
UNSEEN = re.compile("|".join([
    # a choice of the user, which argv names where it was given, or what was asked for
    r"points\[\]\.params\.(completion|pattern|batch|depth|connections|inline_bytes|align_bytes|signal_every|server_load_fraction|flush|test)",
    r"run\.seed|pings\.flush",
    # a fact of a server, host, job or thread that stands once
    r"points\[\]\.params\.target_memory\.(bytes|kind)|points\[\]\.repeats\[\]\.(errors|threads\[\]\.(user_ns|sys_ns|cpu))",
    r"jobs\[\]\.(usr_cpu|sys_cpu|error|groupid|jobname)|pings\.(corrupt|elapsed_ns)|steps\[\]\.ns|device\.kind|run\.exit_code",
    r"run\.warnings\[\]\.code|run\.searches\[\]\.trials\[\]\.(again|achieved|value)|points\[\]\.summary\.flagged_repeats\[\]\.(reason|index)",
    # within its bucket or bin, what the buckets allow, or the order of spans and percentiles
    r"points\[\]\.repeats\[\]\.(intervals\[\]\.(p50_ns|p99_ns|max_ns|t_ns)|latency\.(stddev_ns|max_ns)|max_lag_ns|warmup\.windows_used)",
    r"jobs\[\]\.write\.clat_ns\.(stddev|min)|latency\.rtt\.(histogram\.buckets\[\]\[\]|(min|max|mean|mdev|p50|p99)_ns)",
    # less than its digits, or those of Student's t
    r"points\[\]\.summary\.(reverse\.)?(bytes|ops)_per_s\.ci95_(high|low)|points\[\]\.repeats\[\]\.(reverse\.)?elapsed_ns",
    r"pings\.loss_fraction|jobs\[\]\.write\.bw_bytes",
    # what may be missing, unknown or longer: of an interrupted run, of a pause, of operations that were not timed
    r"points\[\]\.repeats\[\]\.(index|order|verify\.checked_bytes)|run\.(started|ended)|points\[\]\.stop\.duration_ns",
    r"jobs\[\]\.sync\.(total_ios|lat_ns\.N)|jobs\[\]\.(read|trim)\.runtime",
]))  # fmt: skip


def test_thresholds_of_warnings_are_those_of_rpma_bench() -> None:
    """Another threshold there would make files contradictory here."""
    sources = Path(__file__).resolve().parents[2]
    files = ("tools/rpma-bench/result/warnings_points.c", "tools/rpma-bench/result/warnings_cpu.c", "tools/rpma-bench/result/summary.c",
             "common/host/clock.h")  # fmt: skip
    text = "".join((sources / file).read_text(encoding="utf-8") for file in files)
    defined = {name: float(value) for name, value in re.findall(r"^#define (\w+)\s+([0-9.e]+)", text, re.MULTILINE)}
    here = {"STALL_NS": warning_sums._STALL_NS, "STALL_FACTOR": warning_sums._STALL_FACTOR, "LOAD_MISSED": warning_sums._LOAD_MISSED,
            "LEAST_SHARE": warning_sums._TAKEN, "LEAST_NS": warning_sums._TAKEN_NS, "CLOCK_DRIFT_PPM": warning_sums._DRIFT_PPM,
            "MAD_SCALE": point_sums._MAD_SCALE}  # fmt: skip
    assert {name: defined[name] for name in here} == here


def seen(edit: edits.Edit) -> bool:
    try:
        checked(json.loads(json.dumps(edit.document)))
    except BadResult:
        return True
    return False


def test_of_100_edits_by_chance_85_are_caught_in_the_mean_and_the_others_have_a_reason() -> None:
    """A seed has a few more or less: the mean is of three. The documents are of six tests of rpma-bench, of fio and rpma-ping."""
    documents = [*(SOUND[name]() for name in ("lat", "rate", "mix", "both", "connect", "interrupted")), FIO, PING]
    unseen = [[edit for edit in edits.edits(documents, 100, seed) if not seen(edit)] for seed in range(3)]
    caught = [100 - len(of_seed) for of_seed in unseen]
    every = [edit for of_seed in unseen for edit in of_seed]
    print(f"caught of 100: {caught}, mean {sum(caught) / len(caught):.1f}")
    assert sum(caught) / len(caught) >= 85, "\n".join(map(str, every))
    unexplained = [str(edit) for edit in every if not UNSEEN.fullmatch(edit.path)]
    assert unexplained == [], "\n".join(unexplained)
