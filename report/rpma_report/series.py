# SPDX-License-Identifier: BSD-3-Clause
"""Sorts the points of all runs into series: lines of a chart.

Points of one run that differ only in the quantity on the x axis make a series.
Different latency kinds, operations or ways to persist never share one. A label
says as little as is needed to tell the series of one chart apart.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rpma_report import quantity
from rpma_report.result import PERSISTENT, Point, Run
from rpma_report.text import shown


@dataclass(frozen=True)
class Axis:
    """A parameter that can be swept."""

    key: str
    title: str
    text: Callable[[int], str]


AXES = (
    Axis("size_bytes", "size", quantity.size),
    Axis("depth", "depth", str),
    Axis("threads", "threads", str),
    Axis("connections", "connections", str),
)

# What tells series apart besides operation and persistence: key, and its words.
# inline_bytes and alignment are left out: they follow the size within one sweep.
_TRAITS: tuple[tuple[str, Callable[[Any], str]], ...] = (
    ("latency_kind", lambda v: str(v)),
    ("flush_method", lambda v: f"flush by {v}" if v else "no flush"),
    *((axis.key, lambda v, a=axis: f"{a.title} {a.text(v)}") for axis in AXES),
    ("completion", lambda v: {"poll": "polling", "event": "waiting for events"}[v]),
    ("pattern", lambda v: {"seq": "sequential", "rand": "random"}[v]),
    ("batch", lambda v: f"batch {v}"),
    ("signal_every", lambda v: f"signal every {v}"),
    ("mode", lambda v: f"{v} loop"),
    ("target_rate_per_s", lambda v: f"rate {quantity.rate(v, 'op')}"),
    ("bidirectional", lambda v: "both ways" if v else "one way"),
    ("srq", lambda v: "shared receive queue" if v else "a receive queue each"),
    ("read_fraction", lambda v: f"{v:.0%} reads"),
    ("server_load_fraction", lambda v: f"server load {v}"),
    ("target_kind", lambda v: f"to {v}"),
)


# The order in which a reader expects them, whatever the order of the files.
_OPS = ("write", "write-imm", "atomic-write", "send", "read")
_PERSIST = ("none", "apm", "native", "gpspm", "gpspm-rt", "append")


@dataclass(frozen=True)
class Series:
    """One line: a run, its points in the order of the axis, and a name."""

    run: Run
    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class SeriesSet:
    """All series of one chart and the axis they are drawn against."""

    axis: Axis | None
    series: tuple[Series, ...]

    def all_points(self) -> list[tuple[Series, Point]]:
        return [(s, p) for s in self.series for p in s.points]


def collect(runs: Sequence[Run], wanted: Callable[[Point], bool]) -> SeriesSet:
    found = [(run, point) for run in runs for point in run.points if wanted(point)]
    found.sort(key=lambda item: order(item[1]))
    axis = next((a for a in AXES if len({p.params[a.key] for _, p in found}) > 1), None)
    groups: dict[tuple[object, ...], list[tuple[Run, Point]]] = {}
    for run, point in found:
        groups.setdefault((id(run), *_identity(point, axis)), []).append((run, point))
    labels = _labels([group[0] for group in groups.values()], axis)
    return SeriesSet(
        axis,
        tuple(
            Series(group[0][0], label, _sorted((p for _, p in group), axis))
            for group, label in zip(groups.values(), labels, strict=True)
        ),
    )


def latency_series(runs: Sequence[Run]) -> SeriesSet:
    return collect(runs, lambda p: p.params["test"] == "lat" and p.latency is not None)


def bandwidth_series(runs: Sequence[Run]) -> SeriesSet:
    return collect(runs, lambda p: p.params["test"] == "bw" and p.bytes_per_s is not None)


def other_series(runs: Sequence[Run], test: str) -> SeriesSet:
    """Of a test that no chart takes."""
    return collect(runs, lambda p: p.params["test"] == test)


def styles(runs: Sequence[Run]) -> dict[str, int]:
    """A series looks alike in every chart of a page: its number by its label."""
    groups = (latency_series(runs), bandwidth_series(runs))
    labels = dict.fromkeys(s.label for group in groups for s in group.series)
    return {label: number for number, label in enumerate(labels)}


def what(params: dict[str, Any]) -> str:
    """write, write + apm flush, read…"""
    op, persist = params["op"] or params["test"], params["persist"]
    if persist in PERSISTENT:
        return f"{op} + {persist} flush" if persist in ("apm", "native") else f"{op} + {persist}"
    return str(op)


def hardware_mark(run: Run) -> str:
    """Empty for hardware; else why its figures say nothing of hardware."""
    if run.is_hardware:
        return ""
    if run.device_kind is None:
        return "no device"
    kind = "" if run.device_kind == "hardware" else f"software device {run.device_kind}"
    return ", ".join(filter(None, (kind, "emulated CPU" if run.emulated_cpu else "")))


def order(point: Point) -> tuple[int, int]:
    op, persist = point.params["op"], point.params["persist"]
    return _OPS.index(op) if op in _OPS else len(_OPS), _PERSIST.index(persist)


def _trait(point: Point, key: str) -> object:
    if key == "target_kind":
        return (point.params["target_memory"] or {}).get("kind")
    return point.params.get(key)


def _identity(point: Point, axis: Axis | None) -> tuple[object, ...]:
    traits = (_trait(point, key) for key, _ in _TRAITS if axis is None or key != axis.key)
    return (point.params["op"], point.params["persist"], *traits)


def _labels(firsts: Sequence[tuple[Run, Point]], axis: Axis | None) -> list[str]:
    plain = [", ".join(_words([p for _, p in firsts], point, axis)) for _, point in firsts]
    marks = {hardware_mark(run) for run, _ in firsts}
    labels = []
    for (run, _), label in zip(firsts, plain, strict=True):
        parts = [label]
        if plain.count(label) > 1:
            parts.append(run.name)
        if len(marks) > 1 and hardware_mark(run):
            parts.append(hardware_mark(run))
        labels.append(shown(", ".join(parts), 120))
    return labels


def _words(firsts: Sequence[Point], point: Point, axis: Axis | None) -> Iterator[str]:
    """The operation, and the traits that tell it from others of the same operation."""
    yield what(point.params)
    alike = [other for other in firsts if what(other.params) == what(point.params)]
    for key, words in _TRAITS:
        value = _trait(point, key)
        if value is None or (axis is not None and key == axis.key):
            continue
        if len({_trait(other, key) for other in alike}) > 1:
            yield words(value)


def _sorted(points: Iterable[Point], axis: Axis | None) -> tuple[Point, ...]:
    if axis is None:
        return tuple(points)
    key = axis.key
    return tuple(sorted(points, key=lambda p: p.params[key]))
