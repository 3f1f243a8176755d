# SPDX-License-Identifier: BSD-3-Clause
"""What a result file says, as the report uses it.

Built from a document that result_file has checked; keeps the summaries and drops
the histograms of the single repeats, so that many files fit in memory. The
statistics are the measuring tool's own: nothing here is computed anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rpma_report.text import shown

PERSISTENT = frozenset({"apm", "native", "gpspm", "gpspm-rt", "append"})
PROVEN = frozenset({"APM_READY", "APM_READY_EADR", "NATIVE_FLUSH_READY"})
# where the target's processor writes the data back, it does not matter that devices cannot
BY_PROCESSOR = {"gpspm": {"GPSPM_ONLY"}, "gpspm-rt": {"GPSPM_ONLY"}}


@dataclass(frozen=True)
class Estimate:
    """A value and its 95 % interval; None where the file has none."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Latency:
    """Latency over all complete repeats of a point, times in ns."""

    count: int
    min: int
    max: int
    mean: Estimate
    percentiles: dict[float, Estimate]  # only those the samples support
    by_repeat: dict[float, tuple[int, ...]]  # the same of each repeat
    buckets: tuple[tuple[int, int], ...]  # ascending (low, count)
    sub_bits: int

    def bucket_width(self, low: int) -> int:
        return 1 if low < 1 << self.sub_bits else 1 << (low.bit_length() - 1 - self.sub_bits)


@dataclass(frozen=True)
class Point:
    """One set of parameters with what was measured for it."""

    id: str
    params: dict[str, Any]
    repeats: int  # complete ones
    ops: int
    errors: int
    ops_per_s: Estimate | None
    bytes_per_s: Estimate | None  # None: nothing is transferred
    bytes_per_s_by_repeat: tuple[float, ...]
    latency: Latency | None
    read_latency: Latency | None  # of a mix
    response_latency: Latency | None  # of an open loop
    late_ops: int | None
    steady: bool | None
    flagged: tuple[str, ...]

    @property
    def bandwidth(self) -> Estimate:
        """Of a point that bandwidth_series has taken."""
        assert self.bytes_per_s is not None
        return self.bytes_per_s


@dataclass(frozen=True)
class Warning_:
    """A remark of the tool, or of the report about a file."""

    code: str
    severity: str
    host: str
    text: str


@dataclass(frozen=True)
class Run:
    """One result file."""

    name: str  # unique among the runs of a page
    file: str
    sha256: str
    run_id: str
    started: str
    ended: str
    status: str
    failure: str | None
    argv: tuple[str, ...]
    tool: dict[str, Any]
    device_name: str | None
    device_kind: str | None
    device_transport: str | None
    emulated_cpu: bool | None
    clock: dict[str, Any]
    verdict: str | None
    points: tuple[Point, ...]
    warnings: tuple[Warning_, ...]
    environment: dict[str, Any]

    @property
    def is_hardware(self) -> bool:
        """Only such figures say something of hardware."""
        return self.device_kind == "hardware" and self.emulated_cpu is not True

    @property
    def persistence_unproven(self) -> bool:
        """It claims persistence and no positive verdict of the target backs it."""
        claims = {p.params["persist"] for p in self.points} & PERSISTENT
        return any(self.verdict not in PROVEN | BY_PROCESSOR.get(claim, set()) for claim in claims)


def run_from(file: str, document: dict[str, Any], sha256: str) -> Run:
    run, device = document["run"], document["device"] or {}
    verdict = (document.get("readiness") or {}).get("verdict")
    return Run(
        name=shown(run.get("label") or file, 60),
        file=shown(file),
        sha256=sha256,
        run_id=run["id"],
        started=run["started"],
        ended=run["ended"],
        status=run["status"],
        failure=_failure(run["failure"]),
        argv=tuple(run["argv"]),
        tool=document["tool"],
        device_name=shown(device["name"], 60) if device else None,
        device_kind=device.get("kind"),
        device_transport=device.get("transport"),
        emulated_cpu=device.get("emulated_cpu"),
        clock=document["clock"] or {},
        verdict=shown(verdict, 40) if isinstance(verdict, str) else None,
        points=tuple(_point(p) for p in document["points"]),
        warnings=tuple(
            Warning_(w["code"], w["severity"], w["host"], shown(w["text"], 1000))
            for w in run["warnings"]
        ),
        environment=document["environment"],
    )


def name_apart(runs: Sequence[Run]) -> list[Run]:
    """Runs of the same label get a number."""
    taken: dict[str, int] = {}
    named = []
    for run in runs:
        taken[run.name] = taken.get(run.name, 0) + 1
        number = taken[run.name]
        named.append(run if number == 1 else replace(run, name=f"{run.name} ({number})"))
    return named


def _failure(failure: dict[str, Any] | None) -> str | None:
    return f"{shown(failure['step'])}: {shown(failure['text'], 1000)}" if failure else None


def _estimate(interval: dict[str, Any]) -> Estimate:
    return Estimate(interval["mean"], interval["ci95_low"], interval["ci95_high"])


def _known(interval: dict[str, Any] | None) -> Estimate | None:
    return _estimate(interval) if interval else None


def _point(point: dict[str, Any]) -> Point:
    summary, repeats = point["summary"], point["repeats"]
    counted = [r for r in repeats if r["complete"]] or repeats
    return Point(
        id=point["id"],
        params=point["params"],
        repeats=summary["n"],
        ops=sum(r["ops"] for r in counted),
        errors=sum(r["errors"] for r in repeats),
        ops_per_s=_known(summary["ops_per_s"]),
        bytes_per_s=_known(summary["bytes_per_s"]),
        bytes_per_s_by_repeat=tuple(
            r["bytes_per_s"] for r in counted if r["bytes_per_s"] is not None
        ),
        latency=_latency(summary, counted, "latency"),
        read_latency=_latency(summary, counted, "read_latency"),
        response_latency=_latency(summary, counted, "response_latency"),
        late_ops=summary.get("late_ops"),
        steady=point["warmup"]["steady"],
        flagged=tuple(
            shown(f"repeat {f['index']}: {', '.join([f['reason'], *f.get('hints', [])])}", 400)
            for f in summary["flagged_repeats"]
        ),
    )


def _latency(point: dict[str, Any], counted: list[dict[str, Any]], key: str) -> Latency | None:
    summary = point.get(key)
    repeats = [r[key] for r in counted if r.get(key)]
    if not summary or not repeats or not sum(r["count"] for r in repeats):
        return None
    stated = {
        q["p"]: Estimate(q["ns"], q["lo_ns"], q["hi_ns"])
        for q in summary["percentiles"]
        if q["ns"] is not None
    }
    return Latency(
        count=sum(r["count"] for r in repeats),
        min=min(r["min_ns"] for r in repeats if r["count"]),
        max=max(r["max_ns"] for r in repeats if r["count"]),
        mean=_estimate(summary["mean_ns"]),
        percentiles=dict(sorted(stated.items())),
        by_repeat={p: _of_repeats(repeats, p) for p in stated},
        buckets=tuple((low, count) for low, count in summary["merged_histogram"]["buckets"]),
        sub_bits=summary["merged_histogram"]["sub_bits"],
    )


def _of_repeats(repeats: list[dict[str, Any]], p: float) -> tuple[int, ...]:
    found = (q["ns"] for r in repeats for q in r["percentiles"] if q["p"] == p)
    return tuple(ns for ns in found if ns is not None)
