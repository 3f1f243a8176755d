# SPDX-License-Identifier: BSD-3-Clause
"""Documents of the other tools, for the tests: rpma-ping, rpma-ddio-check and fio.

The numbers are drawn up here; fio's bins and percentiles by the rules in its stat.c.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sample import histogram, latency

STEPS = ("parse", "resolve", "device", "request", "connect", "handshake", "region", "register", "write",
         "flush", "read", "compare", "disconnect")  # fmt: skip


def ping(samples: Sequence[int], kind: str = "soft", **changes: Any) -> dict[str, Any]:
    figures = latency(samples)
    told = {
        "count": len(samples), "min_ns": min(samples), "mean_ns": figures["mean_ns"],
        "p50_ns": sorted(samples)[len(samples) // 2], "p99_ns": sorted(samples)[len(samples) * 99 // 100],
        "max_ns": max(samples), "mdev_ns": figures["stddev_ns"], "histogram": histogram(samples),
    }  # fmt: skip
    return {
        "schema": "rpma-ping/1",
        "tool": {"name": "rpma-ping", "version": "1.4.0"},
        "run": {"started": "2026-08-21T10:00:00.123Z", "ended": "2026-08-21T10:00:01.123Z",
                "argv": ["rpma-ping", "192.0.2.7"], "status": "complete", "exit_code": 1},
        "failure": None,
        "device": {"name": "soft0", "kind": kind, "transport": "roce"},
        "server": {"host": "target", "address": "192.0.2.7", "port": 7205, "slot_bytes": 4096,
                   "flush_types": ["visibility"], "direct_write_to_pmem": False},
        "settings": {"count": 10, "interval_ns": 0, "size_bytes": 64, "deadline_ns": None,
                     "timeout_ns": 5_000_000_000, "flood": True, "flush": "auto", "wait": "poll"},
        "steps": [{"name": name, "ns": 1000 * (i + 1)} for i, name in enumerate(STEPS)],
        "pings": {"transmitted": len(samples) + 1, "received": len(samples), "lost": 1, "corrupt": 0,
                  "loss_fraction": 1 / (len(samples) + 1), "flush": "visibility", "flush_by": "read", "elapsed_ns": 10**9,
                  "first": []},
        "latency": {"rtt": told, "write_flush": None, "read": None},
        **changes,
    }  # fmt: skip


def ddio_check(verdict: str = "GPSPM_ONLY", assumed: bool = False) -> dict[str, Any]:
    def check(id: str, status: str) -> dict[str, Any]:
        return {"id": id, "title": f"title of {id}", "status": status, "value": "0x1", "source": "sysfs",
                "meaning": f"meaning of {id}", "fix": None}  # fmt: skip

    return {
        "schema": "rpma-ddio-check/1",
        "tool": {"name": "rpma-ddio-check", "version": "1.4.0"},
        "run": {"started": "2026-08-21T09:00:00.000Z", "argv": ["rpma-ddio-check", "--json"],
                "sysroot": None, "refused": None, "exit_code": 1},
        "device": {"name": "mlx5_0", "kind": "hardware", "asked": None},
        "target": {"path": "/dev/dax0.0", "shape": "devdax"},
        "checks": [check("PM-01", "PASS"), check("DDIO-04", "FAIL"), check("SYS-01", "WARN")],
        "ddio": {"state": "ON", "evidence": "registers", "root_port": "0000:16:00.0", "registers": None,
                 "low_confidence": False, "why": None},
        "verdict": verdict,
        "judgement": {"row": "ddio-on", "exit_code": 1, "reason": "writes go into the cache",
                      "because": "DDIO-04", "assumed": assumed, "lenient": False},
        "direct_write_to_pmem": {"value": False, "why": "DDIO is on"},
    }  # fmt: skip


def fio_middle(ns: int) -> int:
    """plat_idx_to_val(plat_val_to_idx(ns)): 64 bins each power of two, exact below 128."""
    if ns < 128:
        return ns
    error_bits = ns.bit_length() - 7
    return (ns >> error_bits << error_bits) + (1 << error_bits) // 2


def fio_latency(samples: Sequence[int], plus: bool = True) -> dict[str, Any]:
    bins = Counter(map(fio_middle, samples))
    ordered, n = sorted(map(fio_middle, samples)), len(samples)
    stated = {}
    for text in ("50.000000", "90.000000", "99.000000", "99.900000", "99.990000"):
        due = float(text) / 100 * n
        stated[text] = next(v for i, v in enumerate(ordered) if i + 1 >= due - 1e-9)
    made = {"min": min(samples), "max": max(samples), "mean": sum(samples) / n, "stddev": 1.0, "N": n,
            "percentile": stated}  # fmt: skip
    if plus:
        made["bins"] = {str(k): bins[k] for k in sorted(bins)}
    return made


_NOTHING = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}


def fio_direction(samples: Sequence[int] = (), size: int = 4096, plus: bool = True) -> dict[str, Any]:
    lat = fio_latency(samples, plus) if samples else dict(_NOTHING)
    n = len(samples)
    return {"io_bytes": n * size, "bw_bytes": n * size * 10, "iops": n * 10.0, "runtime": 100,
            "total_ios": n, "slat_ns": dict(_NOTHING), "clat_ns": lat, "lat_ns": dict(_NOTHING)}  # fmt: skip


def fio_job(name: str, write: Sequence[int] = (), read: Sequence[int] = (), plus: bool = True,
            error: int = 0, **options: str) -> dict[str, Any]:  # fmt: skip
    return {"jobname": name, "groupid": 0, "error": error, "job options": {"name": name, **options},
            "read": fio_direction(read, plus=plus), "write": fio_direction(write, plus=plus),
            "trim": fio_direction(), "sync": {"total_ios": 0, "lat_ns": dict(_NOTHING)},
            "usr_cpu": 40.0, "sys_cpu": 10.0}  # fmt: skip


def fio(*jobs: dict[str, Any], **shared: str) -> dict[str, Any]:
    return {"fio version": "fio-3.33", "timestamp": 1795327879, "timestamp_ms": 1795327879838,
            "time": "Sun Nov 22 06:11:19 2026", "global options": shared, "jobs": list(jobs)}  # fmt: skip
