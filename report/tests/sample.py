# SPDX-License-Identifier: BSD-3-Clause
"""Results for the tests: what rpma-bench would write, with samples drawn here.

Not measurements.
"""

import copy
import itertools
import math
import random
import statistics
import uuid
from collections import Counter
from collections.abc import Sequence
from typing import Any

SIZES = (64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)
PERCENTILES = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
T95 = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764}
SUB_BITS = 7


def bucket_low(ns: int) -> int:
    shift = ns.bit_length() - 1 - SUB_BITS
    return ns >> shift << shift if shift > 0 else ns


def histogram(samples: Sequence[int]) -> dict[str, Any]:
    counts = Counter(map(bucket_low, samples))
    return {"scheme": "loglinear", "sub_bits": SUB_BITS, "unit": "ns", "saturated": 0,
            "buckets": [list(pair) for pair in sorted(counts.items())]}  # fmt: skip


def width(low: int) -> int:
    return 1 << max(low.bit_length() - 1 - SUB_BITS, 0)


def percentile(samples: Sequence[int], buckets: Sequence[Sequence[int]], p: float) -> float | None:
    """Interpolated inside its bucket, by the rule in the schema."""
    n, least, most, below = len(samples), min(samples), max(samples), 0
    if n * (1 - p) < 10 - 1e-6:
        return None
    for low, count in buckets:
        if below + count >= n * p - 1e-6:
            break
        below += count
    begin, end = max(low, least) - 0.5, min(low + width(low) - 1, most) + 0.5
    ns = begin + (end - begin) * min((n * p - below) / count, 1)
    return round(min(max(ns, least), most), 3)


def percentiles(samples: Sequence[int], buckets: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    return [{"p": p, "ns": percentile(samples, buckets, p), "lo_ns": None, "hi_ns": None} for p in PERCENTILES]


def summary_percentiles(repeats: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    stated = []
    for at, p in enumerate(PERCENTILES):
        own = [r["latency"]["percentiles"][at]["ns"] for r in repeats]
        found = {"mean": None, "ci95_low": None, "ci95_high": None} if None in own else interval(own)
        stated.append(dict(zip(("p", "ns", "lo_ns", "hi_ns"), (p, *found.values()), strict=True)))
    return stated


def latency(samples: Sequence[int]) -> dict[str, Any]:
    made, mean = histogram(samples), statistics.fmean(samples)
    return {
        "count": len(samples), "min_ns": min(samples), "max_ns": max(samples),
        "mean_ns": mean, "stddev_ns": math.dist(samples, [mean] * len(samples)) / math.sqrt(len(samples)),
        "percentiles": percentiles(samples, made["buckets"]), "histogram": made,
    }  # fmt: skip


def interval(values: Sequence[float]) -> dict[str, Any]:
    """Over repeats: the geometric mean, Student's t over logarithms."""
    if min(values) == 0:
        return {"mean": 0.0, "ci95_low": None, "ci95_high": None}
    logs, n = [math.log(v / values[0]) for v in values], len(values)
    mean = values[0] * math.exp(statistics.fmean(logs))
    if n < 3:
        return {"mean": mean, "ci95_low": None, "ci95_high": None}
    half = math.exp(T95[n - 1] * statistics.stdev(logs) / math.sqrt(n))
    return {"mean": mean, "ci95_low": mean / half, "ci95_high": mean * half}


def params(test: str, size: int, **changes: Any) -> dict[str, Any]:
    return {
        "test": test, "op": "write", "persist": "apm", "flush": "persistent",
        "flush_method": "read", "latency_kind": "write_flush", "size_bytes": size,
        "depth": 1 if test in ("lat", "connect", "register") else 32, "threads": 1, "connections": 1,
        "batch": 1, "signal_every": 1, "inline_bytes": 0, "completion": "poll",
        "pattern": "seq", "align_bytes": 64, "mode": "closed", "target_rate_per_s": None,
        "bidirectional": False, "read_fraction": None, "server_load_fraction": None,
        "target_memory": {"kind": "devdax", "bytes": 1 << 30}, **changes,
    }  # fmt: skip


def repeat(index: int, size: int, per_s: float, ops: int, samples: Sequence[int]) -> dict[str, Any]:
    return {
        "index": index, "order": index, "complete": True, "elapsed_ns": round(ops / per_s * 1e9),
        "ops": ops, "errors": 0, "bytes": ops * size, "ops_per_s": per_s,
        "bytes_per_s": per_s * size, "latency": latency(samples) if samples else None,
        "response_latency": None, "late_ops": None, "max_lag_ns": None,
        "threads": [{"index": 0, "cpu": 2, "ops": ops}],
    }  # fmt: skip


def outliers(values: Sequence[float]) -> list[dict[str, Any]]:
    """Further from the median than three scaled median deviations, of four values or more."""
    middle = statistics.median(values)
    away = [abs(value - middle) for value in values]
    return [{"index": i, "reason": "mean_mad>3"} for i, far in enumerate(away)
            if len(values) >= 4 and far > 3 * 1.4826 * statistics.median(away)]  # fmt: skip


def point(number: int, settings: dict[str, Any], repeats: list[dict[str, Any]],
          samples: Sequence[int] = ()) -> dict[str, Any]:  # fmt: skip
    summary = {
        "n": len(repeats),
        "ops_per_s": interval([r["ops_per_s"] for r in repeats]),
        "bytes_per_s": interval([r["bytes_per_s"] for r in repeats]),
        "latency": None,
        "flagged_repeats": outliers([r["latency"]["mean_ns"] if samples else r["ops_per_s"] for r in repeats]),
    }
    if samples:
        summary["latency"] = {
            "mean_ns": interval([r["latency"]["mean_ns"] for r in repeats]),
            "merged_histogram": histogram(samples),
            "percentiles": summary_percentiles(repeats),
        }
    return {
        "id": f"p{number:04}", "params": settings,
        "stop": {"kind": "duration", "duration_ns": max(min(r["elapsed_ns"] for r in repeats), 1), "ops": None, "ci": None},
        "warmup": {"ns": 100_000_000, "ops": 10_000, "steady": True},
        "repeats": repeats, "summary": summary,
    }  # fmt: skip


def lat_point(number: int, size: int, seed: int = 1, base_ns: float = 9000, count: int = 12_000,
              repeats: int = 3, **changes: Any) -> dict[str, Any]:  # fmt: skip
    draw = random.Random(f"{seed} {size} {sorted(changes)}")
    made, everything = [], []
    for index in range(repeats):
        shift = base_ns * draw.uniform(0.97, 1.05) + size * 0.35
        samples = [round(shift * (1 + draw.lognormvariate(-3, 1))) for _ in range(count)]
        everything += samples
        per_s = 1e9 / statistics.fmean(samples)
        made.append(repeat(index, size, per_s, count, samples))
    return point(number, params("lat", size, **changes), made, everything)


def bw_point(number: int, size: int, seed: int = 1, top: float = 2.8e9, **changes: Any) -> dict[str, Any]:
    draw = random.Random(f"{seed} {size} {sorted(changes)}")
    rates = [top / (size + 6000) * draw.uniform(0.9, 1.1) for _ in range(5)]
    made = [repeat(i, size, per_s, round(per_s), ()) for i, per_s in enumerate(rates)]
    return point(number, params("bw", size, **changes), made)


def host(name: str) -> dict[str, Any]:
    return {
        "host": {"hostname": name, "virtualised": True},
        "os": {"kernel": "6.1.0-40-amd64", "distro": "Debian GNU/Linux 12 (bookworm)", "lockdown": None},
        "cpu": {"model": "QEMU Virtual CPU", "sockets": 1, "cores": 2, "llc_bytes": 16777216},
        "nic": {"ibdev": "rxe0", "netdev": "eth0", "mtu": 1024, "odp": False},
        "software": {"librpma": "1.4.0", "libibverbs": "44.0", "loadavg": [0.2, 0.1, 0.05]},
    }  # fmt: skip


_KINDS = {"gpspm": "gpspm_rtt", "gpspm-rt": "gpspm_rtt", "append": "atomic_write_commit", "rpmem": "rpmem_persist",
          "rpmem-relaxed": "rpmem_persist"}  # fmt: skip


def settle(point: dict[str, Any]) -> None:
    """Sets what follows from other settings, where a test changed those alone."""
    settings, persist = point["params"], point["params"]["persist"]
    if settings["test"] in ("connect", "register"):
        return
    if settings["op"] not in ("write", None):
        persist = settings["persist"] = "none"
    flushing = persist in ("apm", "native", "append")
    if not flushing:
        settings.update(flush=None, flush_method=None)
    settings["flush"] = settings["flush"] or ("persistent" if flushing else None)
    by_op = {"read": "read", "send": "send_rtt"}.get(settings["op"], "post_to_cqe")
    by_flush = "write_flush_native" if settings["flush_method"] == "native" else "write_flush"
    settings["latency_kind"] = _KINDS.get(persist) or (by_flush if flushing else by_op)
    for repeat in point["repeats"]:
        repeat["threads"] = repeat["threads"] and [
            {"index": i, "cpu": 2, "ops": repeat["ops"] if i == 0 else 0} for i in range(settings["threads"])]  # fmt: skip


def given(option: str, key: str, points: list[dict[str, Any]]) -> list[str]:
    """An option with what the points have of it."""
    values = dict.fromkeys(str(point["params"][key]) for point in points if point["params"][key])
    return [option, ",".join(values)] if values else []


def device_warnings(kind: str) -> list[dict[str, Any]]:
    """rpma-bench warns of each device that is not hardware, and of an emulated CPU."""
    codes = ([] if kind == "hardware" else ["DEVICE_NOT_HARDWARE"]) + (["EMULATED_CPU"] if kind == "rxe" else [])
    return [{"code": code, "severity": "warn", "host": "client", "text": f"the device is {kind}"} for code in codes]


def point_warnings(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The warnings of rpma-bench on what the points of the samples may have."""
    latencies = [p["summary"]["latency"] for p in points if p["summary"]["latency"]]
    short = any(q["ns"] is None and q["p"] in (0.5, 0.99, 0.999) for told in latencies for q in told["percentiles"])
    codes = {
        "LATE_OPS": any(p["summary"].get("late_ops") for p in points), "RATE_NOT_REACHED": any(p["summary"].get("unbegun_ops") for p in points),
        "REPEAT_FLAGGED": any(p["summary"]["flagged_repeats"] for p in points), "TOO_FEW_SAMPLES": short,
    }  # fmt: skip
    told = [{"code": code, "severity": "warn", "host": "client", "text": "as the points have it"} for code, due in codes.items() if due]
    if any(p["params"]["persist"] != "none" for p in points):
        told.append({"code": "PERSISTENCE_UNPROVEN", "severity": "warn", "host": "server",
                     "text": "the target is not known to keep flushed data"})  # fmt: skip
    return told


def warnings_of(points: list[dict[str, Any]], kind: str, status: str) -> list[dict[str, Any]]:
    cut = [{"code": "INTERRUPTED", "severity": "warn", "host": "client", "text": "by a signal"}] if status == "interrupted" else []
    return [*device_warnings(kind), *cut, *point_warnings(points)]


def warn_again(document: dict[str, Any]) -> None:
    """After a change of what warnings follow from."""
    run = document["run"]
    run["warnings"] = warnings_of(document["points"], document["device"]["kind"], run["status"])


_numbers = itertools.count(1)


def run_id() -> str:
    """Another one for each run, and the same again in the next process."""
    return str(uuid.UUID(int=next(_numbers), version=4))


def result(points: list[dict[str, Any]], label: str | None = None, kind: str = "rxe",
           **run_changes: Any) -> dict[str, Any]:  # fmt: skip
    """A document; points may be in several, each of which has an order of its own."""
    points = copy.deepcopy(points)
    for point in points:
        settle(point)
    if not points:  # the run was ended before its first point
        run_changes = {"status": "interrupted", "exit_code": 130, **run_changes}
    if "started" in run_changes:
        run_changes = {"ended": run_changes["started"].replace("T10:00", "T10:02"), **run_changes}
    repeats = [repeat for point in points for repeat in point["repeats"]]
    for order, one in enumerate(repeats):
        one["order"] = order
    return {
        "schema": "rpma-bench/1",
        "tool": {"name": "rpma-bench", "version": "1.4.0", "librpma": "1.4.0", "git": None},
        "run": {
            "id": run_id(), "label": label,
            "started": "2026-08-21T10:00:00.123Z", "ended": "2026-08-21T10:02:00.456Z",
            "argv": ["rpma-bench", "client", "192.0.2.7", *given("--op", "op", points), *given("--persist", "persist", points),
                     "--size", "64:1M:*4", "-o", "result file.json"],
            "seed": 42, "status": "complete", "exit_code": 0, "failure": None,
            "warnings": warnings_of(points, kind, run_changes.get("status", "")), **run_changes,
        },
        "device": {"name": "rxe0" if kind == "rxe" else "mlx5_0", "kind": kind, "transport": "roce",
                   "emulated_cpu": kind == "rxe"},
        "clock": {"source": "tsc", "hz": 2.4e9, "calibration_ns": 200000000, "drift_ppm": 3.1,
                  "overhead_ns": 18.2, "resolution_ns": 1},
        "points": points,
        "environment": {"client": host("client"), "server": host("server")},
    }  # fmt: skip
