# SPDX-License-Identifier: BSD-3-Clause
"""The list of what a file holds twice, a row each. The checks of validate, and of every reader, are these rows.

A row is of one kind of object in one kind of file, with a sentence on what must agree and the
function that looks. Unknown contradicts nothing. What stands once in a file, such as the environment
of a host, has no row: nothing in the file can tell whether it is true.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rpma_report.sources import claims, point_sums, repeat_sums, searches, slos, sums, warning_sums
from rpma_report.sources.document import Place, Source

DOCUMENT, POINT, REPEAT, SIDE, LATENCY, SUMMARY = "document", "point", "repeat", "side", "latency", "summary"


@dataclass(frozen=True)
class At:
    """An object of a document, and what it is part of."""

    source: Source
    place: Place
    value: dict[str, Any]
    point: dict[str, Any]
    repeat: dict[str, Any]


@dataclass(frozen=True)
class Row:
    of: str  # kind of object
    keys: str
    rule: str  # what must agree
    check: Callable[[Any], None]


BENCH: tuple[Row, ...] = (
    Row(DOCUMENT, "device.kind", "warnings have DEVICE_NOT_HARDWARE exactly where the device is no hardware", claims.check_device),
    Row(DOCUMENT, "device.emulated_cpu", "warnings have EMULATED_CPU exactly where the CPU is emulated", claims.check_device),
    Row(DOCUMENT, "run.status", "a failure is told exactly of a failed run", claims.check_run),
    Row(DOCUMENT, "run.exit_code", "of a complete run 0 or a verdict, and 1 where a limit or a search was missed", claims.check_run),
    Row(DOCUMENT, "run.resumed_repeats", "none without --resume, and no more than there are", claims.check_run),
    Row(DOCUMENT, "points", "a complete run has points, or all are unsupported", claims.check_run),
    Row(DOCUMENT, "run.ended", "not before run.started, and not before the repeats had their time", claims.check_time),
    Row(DOCUMENT, "run.argv", "options that name a value are those of the points", claims.check_argv),
    Row(DOCUMENT, "points[].id", "no two points have one", point_sums.check_unique),
    Row(DOCUMENT, "repeats[].order", "from 0, and no two repeats of a run have one", point_sums.check_unique),
    Row(DOCUMENT, "run.slos", "values and verdicts follow from the points, and the limits are in run.argv", lambda at: slos.check(at.source)),
    Row(DOCUMENT, "run.warnings", "those that follow from the points are there exactly where these ask for them", warning_sums.check),
    Row(DOCUMENT, "run.searches", "trials are points with their values, and the ends of an answer are trials that were measured twice", lambda at: searches.check(at.source)),
    Row(POINT, "params.latency_kind", "follows from test, op, persist and flush_method", claims.check_kind),
    Row(POINT, "params.flush", "is there exactly where an operation flushes", claims.check_kind),
    Row(POINT, "params.mode", "open, with a rate, exactly in test rate", claims.check_mode),
    Row(POINT, "params.read_fraction", "is there exactly in test mix", claims.check_mode),
    Row(POINT, "params.op", "none exactly of connect and register", claims.check_mode),
    Row(POINT, "params.target_memory.bytes", "an operation fits into it", claims.check_mode),
    Row(POINT, "params.inline_bytes", "0, or the size of the operation or of its atomic write", claims.check_mode),
    Row(POINT, "params.signal_every", "not above depth, and 1 where each operation is answered, or the test is mix or rate", claims.check_together),
    Row(POINT, "params.batch", "not above depth, a multiple or a part of signal_every, and 1 but for bw and mix", claims.check_together),
    Row(POINT, "params.connections", "256 at most, of all threads", claims.check_together),
    Row(POINT, "params.depth", "not above connection.sq_size; 1, as threads and connections, of connect and register", claims.check_together),
    Row(POINT, "params.srq", "only where the server receives", claims.check_together),
    Row(POINT, "params.persist", "none of connect and register", claims.check_kind),
    Row(POINT, "params.pattern", "rand where zipf_theta is there", claims.check_together),
    Row(POINT, "stop", "its kind, number and time go together", point_sums.check_stop),
    Row(POINT, "warmup", "the sum of those of the repeats", point_sums.check_warmup),
    Row(POINT, "repeats[].index", "from 0, and no two repeats of a point have one", point_sums.check_indexes),
    Row(REPEAT, "used", "is not other than the params of the point", sums.check_used),
    Row(REPEAT, "threads", "as many as params.threads, numbered from 0", repeat_sums.check_threads),
    Row(REPEAT, "threads[].user_ns", "a thread has no more CPU time than there was", repeat_sums.check_threads),
    Row(REPEAT, "threads[].sys_ns", "with user_ns, not more than the process had: cpu.client.busy_fraction", repeat_sums.check_cpu),
    Row(REPEAT, "cpu_quota", "limited exactly where its periods are counted", repeat_sums.check_quota),
    Row(REPEAT, "intervals", "what completed in them is what the repeat has", repeat_sums.check_intervals),
    Row(REPEAT, "intervals[]", "end on a grid, and have latencies that the repeat has", repeat_sums.check_intervals),
    Row(REPEAT, "latency", "no more operations were under way at once than depth, threads and connections permit", repeat_sums.check_in_flight),
    Row(REPEAT, "read_ops", "reads are those of the latency, and their share is that asked for", repeat_sums.check_mix),
    Row(REPEAT, "late_ops", "the greatest lag is more than a period exactly where operations were late", repeat_sums.check_lag),
    Row(REPEAT, "response_latency", "is not shorter than the latency, and has the lag", repeat_sums.check_lag),
    Row(REPEAT, "unbegun_ops", "operations and those not begun are those of the plan", repeat_sums.check_plan),
    Row(REPEAT, "elapsed_ns", "not shorter than stop has it, or the plan of the rate", repeat_sums.check_plan),
    Row(REPEAT, "errors", "none in a complete run: the first one ends it", repeat_sums.check_errors),
    Row(REPEAT, "complete", "each repeat of a complete run is", repeat_sums.check_errors),
    Row(REPEAT, "interference", "others took no more than the CPUs had", repeat_sums.check_interference),
    Row(REPEAT, "verify.first_offset", "there is one exactly where bytes are wrong", repeat_sums.check_verify),
    Row(REPEAT, "reverse", "is there exactly where a point is bidirectional", repeat_sums.check_reverse),
    Row(SIDE, "bytes", "ops x size_bytes", sums.check_bytes),
    Row(SIDE, "ops_per_s", "ops by elapsed_ns", sums.check_rates),
    Row(SIDE, "bytes_per_s", "bytes by elapsed_ns", sums.check_rates),
    Row(SIDE, "threads[].ops", "together they are ops", sums.check_thread_ops),
    Row(LATENCY, "count", "what the histogram holds", sums.check_count),
    Row(LATENCY, "count", "the operations that were signalled", repeat_sums.check_signalled),
    Row(LATENCY, "unbegun_ops", "is that of the repeat; then maximum, mean and deviation are unknown", sums.check_unbegun),
    Row(LATENCY, "min_ns", "in the first bucket", sums.check_extremes),
    Row(LATENCY, "max_ns", "in the last bucket", sums.check_extremes),
    Row(LATENCY, "mean_ns", "what the buckets allow", repeat_sums.check_moments),
    Row(LATENCY, "stddev_ns", "what the buckets allow", repeat_sums.check_moments),
    Row(LATENCY, "percentiles", "interpolated in the histogram, with 10 samples beyond", sums.check_percentiles),
    Row(LATENCY, "histogram.buckets", "each begins where its scheme has one", repeat_sums.check_buckets),
    Row(LATENCY, "histogram.saturated", "samples of the last bucket, the longest of which is beyond it", repeat_sums.check_buckets),
    Row(SUMMARY, "n", "the complete repeats", sums.check_number),
    Row(SUMMARY, "ops_per_s, bytes_per_s", "mean, interval and cv follow from the repeats", sums.check_sides),
    Row(SUMMARY, "latencies", "count, extremes, mean, interval, cv, percentiles and histogram follow from the repeats", sums.check_sides),
    Row(SUMMARY, "steps", "the same of each step", sums.check_steps),
    Row(SUMMARY, "counts", "sums, and the greatest, of the repeats", sums.check_totals),
    Row(SUMMARY, "verify", "sums of the repeats", sums.check_totals),
    Row(SUMMARY, "flagged_repeats", "repeats that are far from the others, by the median deviation", point_sums.check_flagged),
)  # fmt: skip

# Checks that the readers of other programs' files make: kind of file, key, and the value it must agree with.
OTHERS: tuple[tuple[str, str, str], ...] = (
    ("fio", "bw_bytes", "io_bytes by runtime"),
    ("fio", "bw", "bw_bytes in KiB"),
    ("fio", "iops", "total_ios by runtime"),
    ("fio", "clat_ns.N", "total_ios, or none; and what the bins hold"),
    ("fio", "clat_ns.min, max", "ascend, and lie in the first and the last bin"),
    ("fio", "clat_ns.mean", "between min and max, and what the bins allow"),
    ("fio", "clat_ns.stddev", "not more than the samples lie apart"),
    ("fio", "clat_ns.percentile", "ascend between min and max, and are those of the bins"),
    ("fio", "lat_ns", "not shorter than clat_ns"),
    ("rpma-ping", "run.status, exit_code, ended", "go together, and give the pings their time"),
    ("rpma-ping", "steps[].name", "no two steps have one"),
    ("rpma-ping", "pings", "lost are those sent and not received; corrupt ones were received; sizes add up"),
    ("rpma-ping", "pings.loss_fraction", "lost by transmitted"),
    ("rpma-ping", "latency.rtt.count", "the pings received, and what the histogram holds"),
    ("rpma-ping", "latency.rtt.min_ns, max_ns", "in the first and the last bucket"),
    ("rpma-ping", "latency.rtt.mean_ns, mdev_ns", "what the buckets allow"),
    ("rpma-ping", "latency.rtt.p50_ns, p99_ns", "in the bucket that the histogram gives"),
    ("perftest", "t_min, t_typical, percentile_99, percentile_99.9, t_max", "ascend"),
    ("perftest", "t_avg", "between t_min and t_max"),
    ("perftest", "t_stdev", "not more than the times lie apart"),
    ("perftest", "BW_average", "MsgRate times MsgSize, in one of its units"),
    ("perftest", "BW_peak", "not below BW_average"),
    ("HdrHistogram percentiles", "rows", "values, shares and counts ascend"),
    ("HdrHistogram percentiles", "Mean", "between the first and the last row"),
    ("HdrHistogram percentiles", "Max, Total count", "those of the last row"),
)


def _functions(kind: str) -> tuple[Callable[[Any], None], ...]:
    """Several rows may share one."""
    return tuple(dict.fromkeys(row.check for row in BENCH if row.of == kind))


_CHECKS = {kind: _functions(kind) for kind in (DOCUMENT, POINT, REPEAT, SIDE, LATENCY, SUMMARY)}


def check(source: Source) -> None:
    for kind, at in _objects(source):
        for function in _CHECKS[kind]:
            function(at)


def _objects(source: Source) -> Iterator[tuple[str, At]]:
    """Parts before what is made of them, so that a changed part is named and not its sum."""
    document = source.document
    for index, point in enumerate(document["points"]):
        place: Place = ("points", index)
        for number, repeat in enumerate(point["repeats"]):
            yield from _of_repeat(source, place + ("repeats", number), point, repeat)
        yield SUMMARY, At(source, place + ("summary",), point["summary"], point, {})
        yield POINT, At(source, place, point, point, {})
    yield DOCUMENT, At(source, (), document, {}, {})


def _of_repeat(source: Source, place: Place, point: dict[str, Any], repeat: dict[str, Any]) -> Iterator[tuple[str, At]]:
    sides = [(place, repeat), *([(place + ("reverse",), repeat["reverse"])] if repeat.get("reverse") else [])]
    for at, side in sides:
        yield SIDE, At(source, at, side, point, repeat)
        for key in sums.LATENCIES:
            if side.get(key):
                yield LATENCY, At(source, at + (key,), side[key], point, side)
    for index, step in enumerate(repeat.get("steps") or ()):
        if step["latency"]:
            yield LATENCY, At(source, place + ("steps", index, "latency"), step["latency"], point, repeat)
    yield REPEAT, At(source, place, repeat, point, repeat)
