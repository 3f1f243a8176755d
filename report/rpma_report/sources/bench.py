# SPDX-License-Identifier: BSD-3-Clause
"""Results of rpma-bench: their checks, and the Run they become.

Values are the measuring tool's own. Intervals are those of the repeats, whichever
version wrote the file: those of older ones counted all operations as independent.
"""

import shlex
from collections.abc import Iterable, Sequence
from itertools import islice
from statistics import fmean
from typing import Any

from rpma_report import intervals
from rpma_report.model import Cpu, Estimate, Latency, Point, Remark, Reverse, Run
from rpma_report.sources import histogram, readiness, redundancies, searches, study, windows
from rpma_report.sources.document import BadResult, Source, check_numbers, nested
from rpma_report.sources.schema import BENCH, check_schema
from rpma_report.text import shown

KIND = "rpma-bench/1"
MAX_FACTS = 10_000  # both hosts together have some hundred


def check(source: Source) -> None:
    check_form(source)
    redundancies.check(source)


def check_form(source: Source) -> None:
    """Checks what must hold for it to be read at all."""
    _check_environment(source)
    spans = windows.take(source.document)
    buckets = histogram.take(source.document)
    check_schema(source, BENCH)
    check_numbers(source, source.document)
    histogram.give_back(source, buckets)
    windows.give_back(source, spans)


def _check_environment(source: Source) -> None:
    """Its keys may have any name; millions of them would take minutes to compare."""
    values = islice(nested(source.document.get("environment")), MAX_FACTS + 1)
    if sum(1 for _ in values) > MAX_FACTS:
        raise BadResult(source.name, "environment", f"has more than {MAX_FACTS:,} values, the limit for a result")


def run(source: Source) -> Run:
    document = source.document
    told, device = document["run"], document["device"] or {}
    return Run(
        program="rpma-bench",
        name=shown(told.get("label") or source.file, 60),
        label=shown(told["label"], 60) if told.get("label") else None,
        file=shown(source.file),
        sha256=source.sha256,
        run_id=told["id"],
        started=told["started"],
        ended=told["ended"],
        status=told["status"],
        failure=_failure(told["failure"]),
        commands=(command_line(told["argv"]),),
        tool=document["tool"],
        device_name=shown(device["name"], 60) if device else None,
        device_kind=device.get("kind"),
        device_transport=device.get("transport"),
        emulated_cpu=device.get("emulated_cpu"),
        clock=document["clock"] or {},
        readiness=readiness.from_document(document.get("readiness")),
        points=study.mark(document, map(_point, document["points"])),
        warnings=tuple(
            Remark(w["code"], w["severity"], w["host"], shown(w["text"], 1000))
            for w in told["warnings"]
        ),
        environment=document["environment"],
        searches=searches.from_run(told),
        slos=tuple((shown(g["slo"]), g["missed"]) for g in told.get("slos") or ()),
    )


def command_line(argv: Sequence[str | None]) -> str:
    """The command line as a shell takes it."""
    return shown(shlex.join(shown(word or "", 1000) for word in argv[:500]), 4000)


def _failure(failure: dict[str, Any] | None) -> str | None:
    return f"{shown(failure['step'])}: {shown(failure['text'], 1000)}" if failure else None


def _estimate(interval: dict[str, Any] | None, values: Sequence[float] = ()) -> Estimate | None:
    return _over(interval["mean"], values, len(values)) if interval else None


def _over(value: float, values: Sequence[float], repeats: int) -> Estimate:
    """The centre and the interval of the repeats if each has a value, else the tool's value alone."""
    found = intervals.of_repeats(values) if len(values) == repeats else None
    return found if found and found.low is not None else Estimate(value)


def _known(repeats: Iterable[dict[str, Any]], key: str) -> tuple[float, ...]:
    return tuple(r[key] for r in repeats if r.get(key) is not None)


def _point(point: dict[str, Any]) -> Point:
    summary, repeats = point["summary"], point["repeats"]
    counted = [r for r in repeats if r["complete"]] or repeats
    verify = summary.get("verify")
    return Point(
        id=point["id"],
        params=point["params"],
        repeats=summary["n"],
        ops=sum(r["ops"] for r in counted),
        errors=sum(r["errors"] for r in repeats),
        ops_per_s=_estimate(summary["ops_per_s"], _known(counted, "ops_per_s")),
        bytes_per_s=_estimate(summary["bytes_per_s"], _known(counted, "bytes_per_s")),
        ops_per_s_by_repeat=_known(counted, "ops_per_s"),
        bytes_per_s_by_repeat=_known(counted, "bytes_per_s"),
        latency=_latency(summary.get("latency"), [r.get("latency") for r in counted]),
        read_latency=_latency(summary.get("read_latency"), [r.get("read_latency") for r in counted]),
        response_latency=_latency(
            summary.get("response_latency"), [r.get("response_latency") for r in counted]
        ),
        late_ops=summary.get("late_ops"),
        unbegun_ops=summary.get("unbegun_ops"),
        steps=_steps(summary.get("steps") or [], counted),
        windows=tuple(w for r in counted if (w := windows.from_document(r.get("intervals") or []))),
        cpu=_cpu(counted),
        reverse=_reverse(summary.get("reverse"), counted),
        mismatches=verify["mismatches"] if verify else None,
        steady=point["warmup"]["steady"],
        flagged=tuple(
            shown(f"repeat {f['index']}: {', '.join([f['reason'], *f.get('hints', [])])}", 400)
            for f in summary["flagged_repeats"]
        ),
    )


def _latency(summary: dict[str, Any] | None, of_repeats: list[dict[str, Any] | None]) -> Latency | None:
    repeats = [r for r in of_repeats if r and r["count"]]
    if not summary or not repeats:
        return None
    told = {q["p"]: q["ns"] for q in summary["percentiles"] if q["ns"] is not None}
    of_each = {p: _of_repeats(repeats, p) for p in told}
    stated = {p: _over(ns, of_each[p], len(repeats)) for p, ns in told.items()}
    means = tuple(r["mean_ns"] for r in repeats if r["mean_ns"] is not None)
    largest = [r["max_ns"] for r in repeats if r["max_ns"] is not None]
    mean = summary["mean_ns"]
    return Latency(
        count=sum(r["count"] for r in repeats),
        min=min(r["min_ns"] for r in repeats),
        max=max(largest) if len(largest) == len(repeats) else None,
        mean=_over(mean["mean"], means, len(repeats)) if mean else None,
        percentiles=dict(sorted(stated.items())),
        by_repeat=of_each,
        means_by_repeat=means,
        histogram=histogram.from_document(summary["merged_histogram"]),
    )


def _of_repeats(repeats: list[dict[str, Any]], p: float) -> tuple[float, ...]:
    found = (q["ns"] for r in repeats for q in r["percentiles"] if q["p"] == p)
    return tuple(ns for ns in found if ns is not None)


def _steps(summary: list[dict[str, Any]], repeats: list[dict[str, Any]]) -> dict[str, Latency]:
    steps = {}
    for step in summary:
        told = (s for r in repeats for s in r.get("steps") or [])
        of_repeats = [s["latency"] for s in told if s["name"] == step["name"]]
        latency = _latency(step["latency"], of_repeats)
        if latency:
            steps[shown(step["name"], 40)] = latency
    return steps


def _reverse(summary: dict[str, Any] | None, repeats: list[dict[str, Any]]) -> Reverse | None:
    if not summary:
        return None
    of_repeats = [(r.get("reverse") or {}).get("latency") for r in repeats]
    latency = _latency(summary["latency"], of_repeats)
    return Reverse(_estimate(summary["ops_per_s"]), _estimate(summary["bytes_per_s"]), latency)


def _cpu(repeats: list[dict[str, Any]]) -> Cpu:
    def mean(side: str, key: str) -> float | None:
        told = ((r.get("cpu") or {}).get(side) or {} for r in repeats)
        found = [t[key] for t in told if t.get(key) is not None]
        return fmean(found) if found else None

    return Cpu(mean("client", "busy_fraction"), mean("server", "busy_fraction"),
               mean("server", "load_fraction_measured"))  # fmt: skip
