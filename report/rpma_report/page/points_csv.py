# SPDX-License-Identifier: BSD-3-Clause
"""Every point as CSV: a row each repeat and one for all of them, the unit in each column's name.

Unknown is empty. A text that a spreadsheet would take for a formula gets a quote
before it.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from rpma_report.figures import connection
from rpma_report.figures.marks import marks
from rpma_report.model import PERCENTILES, Estimate, Latency, Point, Run
from rpma_report.text import shown

_PARAMS = ("test", "op", "persist", "atomic_write_method", "latency_kind", "size_bytes", "depth", "threads",
           "connections", "batch", "signal_every", "completion", "pattern", "mode", "target_rate_per_s",
           "bidirectional", "read_fraction", "server_load_fraction", "ioengine", "job")  # fmt: skip
_LINKED = frozenset(setting.key for setting in connection.SETTINGS)
_LATENCIES = ("latency", "response_latency", "read_latency")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Row = dict[str, Any]


def render(runs: Sequence[Run]) -> str:
    columns = list(_columns())
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for run in runs:
        for point in run.points:
            writer.writerows({key: _safe(value) for key, value in row.items()} for row in _rows(run, point))
    return out.getvalue()


def _safe(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = shown(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _columns() -> Iterator[str]:
    yield from ("run", "file", "program", "device_kind", "point")
    yield from (*_PARAMS, "target_kind", "repeat", "repeats")
    for name in ("ops_per_s", "bytes_per_s"):
        yield from (name, f"{name}_ci95_low", f"{name}_ci95_high")
    for name in _LATENCIES:
        yield from (f"{name}_count", f"{name}_min_ns")
        for key in _keys():
            yield from (f"{name}_{key}_ns", f"{name}_{key}_lo_ns", f"{name}_{key}_hi_ns")
        yield f"{name}_max_ns"
    yield from ("ops", "errors", "late_ops", "unbegun_ops", "client_cpu_fraction", "server_cpu_fraction",
                "server_load_measured_fraction", "verify_mismatches_bytes")  # fmt: skip
    yield from (f"connection_{setting.key}" for setting in connection.SETTINGS)
    yield "notice"


def _keys() -> list[str]:
    return ["mean", *(f"p{p * 100:.10g}" for p in PERCENTILES)]


def _rows(run: Run, point: Point) -> Iterator[Row]:
    memory = point.params.get("target_memory") or {}
    same: Row = {
        "run": run.name, "file": run.file, "program": run.program, "device_kind": run.device_kind,
        "point": point.id, **{key: point.params.get(key) for key in _PARAMS},
        "target_kind": memory.get("kind"), "notice": marks((run,), (point,)),
        **{f"connection_{key}": value for key, value in connection.of(point).items() if key in _LINKED},
    }  # fmt: skip
    yield {**same, **_whole(point)}
    for index in range(point.repeats if point.repeats > 1 else 0):
        yield {**same, "repeat": index, **_repeat(point, index)}


def _whole(point: Point) -> Row:
    row: Row = {
        "repeat": "all", "repeats": point.repeats, "ops": point.ops, "errors": point.errors,
        "late_ops": point.late_ops, "unbegun_ops": point.unbegun_ops,
        "client_cpu_fraction": point.cpu.client_busy, "server_cpu_fraction": point.cpu.server_busy,
        "server_load_measured_fraction": point.cpu.server_load,
        "verify_mismatches_bytes": point.mismatches,
    }  # fmt: skip
    for name in ("ops_per_s", "bytes_per_s"):
        row |= _estimate(name, getattr(point, name), ("", "_ci95_low", "_ci95_high"))
    for name in _LATENCIES:
        latency: Latency | None = getattr(point, name)
        if latency is None:
            continue
        row |= {f"{name}_count": latency.count, f"{name}_min_ns": latency.min, f"{name}_max_ns": latency.max}
        stated = {"mean": latency.mean, **{f"p{p * 100:.10g}": v for p, v in latency.percentiles.items()}}
        for key in _keys():
            row |= _estimate(f"{name}_{key}", stated.get(key), ("_ns", "_lo_ns", "_hi_ns"))
    return row


def _estimate(name: str, value: Estimate | None, ends: Sequence[str]) -> Row:
    if value is None:
        return {}
    return dict(zip((f"{name}{end}" for end in ends), (value.value, value.low, value.high), strict=True))


def _repeat(point: Point, index: int) -> Row:
    """The kept figures of a repeat; if not every repeat has one, it is not known which have it."""
    row: Row = {}

    def put(key: str, values: Sequence[float]) -> None:
        if len(values) == point.repeats:
            row[key] = values[index]

    put("ops_per_s", point.ops_per_s_by_repeat)
    put("bytes_per_s", point.bytes_per_s_by_repeat)
    for name in _LATENCIES:
        latency: Latency | None = getattr(point, name)
        if latency is None:
            continue
        put(f"{name}_mean_ns", latency.means_by_repeat)
        for p, values in latency.by_repeat.items():
            if p in PERCENTILES:
                put(f"{name}_p{p * 100:.10g}_ns", values)
    return row
