# SPDX-License-Identifier: BSD-3-Clause
"""Sorts the points of all runs into series: lines of a chart.

Points of one run that differ only in the quantity on the x axis make a series; so
do those of runs with one label, unless they were measured at the same place.
Different latency kinds, operations or ways to persist never share one. A label
has no more words than are needed to tell the series of one chart apart.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rpma_report import quantity
from rpma_report.figures import connection
from rpma_report.figures.marks import hardware_mark
from rpma_report.model import PERSISTENT, Point, Run
from rpma_report.text import shown


@dataclass(frozen=True)
class Axis:
    """A parameter that can be swept."""

    key: str
    title: str
    text: Callable[[Any], str]
    least: float = 0  # what is less has no place: a logarithmic axis has no 0

    def place(self, point: Point) -> float | None:
        value = point.params.get(self.key)
        return None if value is None or value < self.least else float(value)

    def shown(self, point: Point) -> str:
        value = point.params.get(self.key)
        return quantity.UNKNOWN if value is None else self.text(value)


SIZE = Axis("size_bytes", "size", quantity.size)
AXES = (
    SIZE,
    Axis("depth", "depth", str),
    Axis("threads", "threads", str),
    Axis("connections", "connections", str),
)
RATE = Axis("target_rate_per_s", "offered rate", lambda v: quantity.rate(v, "op"), least=1e-9)
LOAD = Axis("server_load_fraction", "server load asked for", quantity.fraction)
READS = Axis("read_fraction", "share of reads", quantity.fraction)

# Parameters that tell series apart besides operation and persistence: key, and its words.
# inline_bytes and alignment are left out: they follow the size, or the atomic write, within one sweep.
_TRAITS: tuple[tuple[str, Callable[[Any], str]], ...] = (
    ("latency_kind", str),
    ("flush_method", lambda v: f"flush by {v}" if v else "no flush"),
    ("atomic_write_method", lambda v: {"native": "native atomic write", "write": "inline atomic write"}[v]),
    *((axis.key, lambda v, a=axis: f"{a.title} {a.text(v)}") for axis in AXES),
    ("completion", lambda v: {"poll": "polling", "event": "waiting for events"}[v]),
    ("pattern", lambda v: {"seq": "sequential", "rand": "random"}[v]),
    ("size_mix", lambda v: f"sizes {v}" if v else "one size"),
    ("zipf_theta", lambda v: f"Zipf {v:g}" if v else "no Zipf"),
    ("batch", lambda v: f"batch {v}"),
    ("signal_every", lambda v: f"signal every {v}"),
    ("mode", lambda v: f"{v} loop"),
    ("arrivals", lambda v: f"{v or 'even'} arrivals"),
    ("target_rate_per_s", lambda v: f"rate {quantity.rate(v, 'op')}"),
    ("bidirectional", lambda v: "both ways" if v else "one way"),
    ("srq", lambda v: "shared receive queue" if v else "a receive queue each"),
    ("read_fraction", lambda v: f"{quantity.fraction(v)} reads"),
    ("server_load_fraction", lambda v: f"server load {quantity.fraction(v)}"),
    ("target_kind", lambda v: f"to {v}"),
    *connection.TRAITS,
    ("ioengine", lambda v: f"ioengine {v}"),
    ("file_bytes", lambda v: f"over {v if isinstance(v, str) else quantity.size(v)}"),
    ("file_place", lambda v: f"in {v}"),
    ("rest", lambda v: " ".join(f"{key}={value}" for key, value in v) or "no other option"),
)

# The order in which a reader expects them, whatever the order of the files.
_OPS = ("write", "write-imm", "atomic-write", "send", "read", "trim", "sync")
_PERSIST = ("none", "apm", "native", "gpspm", "gpspm-rt", "append", "rpmem", "rpmem-relaxed")


@dataclass(frozen=True)
class Series:
    """One line: its points in the order of the axis, a name, and the run of the first."""

    run: Run
    label: str
    points: tuple[Point, ...]
    missing: tuple[float, ...] = ()  # places on the axis of points that nothing is known of


@dataclass(frozen=True)
class SeriesSet:
    """All series of one chart and the axis they are drawn against."""

    axis: Axis | None
    series: tuple[Series, ...]
    runs: tuple[Run, ...]  # those that have a point in it

    def points(self) -> list[Point]:
        return [p for s in self.series for p in s.points]

    def named_by(self) -> tuple[Axis, ...]:
        """The axes that name a row of a table: the place on the axis, and the size."""
        return (SIZE,) if self.axis is None or self.axis is SIZE else (self.axis, SIZE)

    def where(self, point: Point) -> str:
        """4 KiB; depth 4."""
        axis = self.axis or SIZE
        text = axis.shown(point)
        return text if axis is SIZE else f"{axis.title} {text}"


def collect(
    runs: Sequence[Run], wanted: Callable[[Point], object], axes: Sequence[Axis] = AXES,
    facets: Sequence[Axis] = (),
) -> SeriesSet:  # fmt: skip
    """The axis is the first of `axes` of which the points have several values.

    A series goes over all values of `facets`, which have a panel each.
    """
    found = [(run, point) for run in runs for point in run.points if wanted(point)]
    found.sort(key=lambda item: order(item[1]))
    axis = next((a for a in axes if len({a.place(p) for _, p in found} - {None}) > 1), None)
    within = (*([axis] if axis else ()), *facets)
    groups: dict[tuple[object, ...], list[tuple[Run, Point]]] = {}
    for run, point in found:
        groups.setdefault((owner(run), *_traits(point, within)), []).append((run, point))
    parted = [part for group in groups.values() for part in _apart(group, within)]
    labels = _labels([part[0] for part in parted], within)
    missing = _missing(runs, wanted, axis)
    series = (
        Series(run, label, _sorted((p for _, p in part), axis), missing(run, point))
        for part, label in zip(parted, labels, strict=True)
        for run, point in part[:1]
    )
    return SeriesSet(axis, tuple(series), tuple({id(run): run for run, _ in found}.values()))


def what(params: dict[str, Any]) -> str:
    """write, write + apm flush, read, fio psync write…"""
    op, persist = params["op"] or params["test"], params["persist"]
    name = f"fio {params['ioengine']} {op}" if params["test"] == "fio" else str(op)
    if "source" in params:
        name = f"{params['source']} {op}"
    if persist in PERSISTENT:
        return f"{name} + {persist} flush" if persist in ("apm", "native") else f"{name} + {persist}"
    return name


def is_remote(params: dict[str, Any]) -> bool:
    """Over RDMA: all but what fio's other engines do."""
    engine = params.get("ioengine", "librpma")
    return engine.startswith("librpma") or engine == "rdma"


def identity(point: Point) -> tuple[object, ...]:
    """The identity of a point, whichever run it is of: equal for equal parameters."""
    return (*_but_mtu(point), _trait(point, connection.MTU))


def identities(points: Iterable[Point]) -> Callable[[Point], tuple[object, ...]]:
    """The identity of each of these. A point without its MTU, as of older versions, is like those of the one MTU
    that else equal points have; where they have several, it is like none of them."""
    known: dict[object, set[object]] = {}
    for point in points:
        known.setdefault(_but_mtu(point), set()).add(_trait(point, connection.MTU))

    def of(point: Point) -> tuple[object, ...]:
        like, own = _but_mtu(point), _trait(point, connection.MTU)
        there = known[like] - {None}
        return (*like, next(iter(there)) if own is None and len(there) == 1 else own)

    return of


def contrast(one: Point, other: Point) -> list[tuple[str, str]]:
    """The words of both for each parameter in which they are not equal."""
    told = [(f"test {p.test}", what(p.params), "inline" if connection.posted_inline(p) else "not inline",
             f"job {p.params.get('job')}") for p in (one, other)]  # fmt: skip
    pairs = list(zip(*told, strict=True))
    for key, words in _TRAITS:
        first, second = (words(v) if v is not None else _none(key) for v in (_trait(one, key), _trait(other, key)))
        pairs.append((first, second))
    return [(first, second) for first, second in pairs if first != second]


def _none(key: str) -> str:
    return connection.unset(key) if key in connection.TRAIT_KEYS else f"no {key.replace('_', ' ')}"


def _but_mtu(point: Point) -> tuple[object, ...]:
    traits = _traits(point, (), connection.MTU)
    return (point.test, *traits, connection.posted_inline(point), point.params.get("job"))


def order(point: Point) -> tuple[int, int]:
    op, persist = point.params["op"], point.params["persist"]
    return _OPS.index(op) if op in _OPS else len(_OPS), _PERSIST.index(persist)


def _missing(
    runs: Sequence[Run], wanted: Callable[[Point], object], axis: Axis | None
) -> Callable[[Run, Point], tuple[float, ...]]:
    """The places of a line, found by its first point, that were to be measured and have no value.

    A run that did not end well may lack whole points, which other lines of it show.
    """
    lacking: dict[object, set[float]] = {}

    def line(run: Run, point: Point) -> object:
        return (owner(run), point.test, *_traits(point, (axis,) if axis else ()))

    for run in runs if axis else ():
        for point in run.points:
            x = axis.place(point) if axis else None
            if x is None:
                continue
            if not wanted(point):
                lacking.setdefault(line(run, point), set()).add(x)
            if run.status != "complete":
                lacking.setdefault((owner(run), point.test), set()).add(x)

    def of(run: Run, point: Point) -> tuple[float, ...]:
        keys = (line(run, point), (owner(run), point.test))
        return tuple(sorted(set().union(*(lacking.get(key, ()) for key in keys))))

    return of


def owner(run: Run) -> object:
    """Files of one label are parts of one measurement."""
    return (run.program, run.label) if run.label else id(run)


def _apart(group: list[tuple[Run, Point]], within: Sequence[Axis]) -> list[list[tuple[Run, Point]]]:
    """By file, if two of them measured at the same place; by job, if two of a file did."""
    parts = [group]
    for key in (lambda item: id(item[0]), lambda item: item[1].params.get("job")):
        parts = [part for whole in parts for part in _split(whole, within, key)]
    return parts


def _split(
    group: list[tuple[Run, Point]], within: Sequence[Axis], key: Callable[[tuple[Run, Point]], object]
) -> list[list[tuple[Run, Point]]]:
    places: dict[object, object] = {}
    for item in group:
        place = tuple(axis.place(item[1]) for axis in within)
        if places.setdefault(place, key(item)) != key(item):
            parts: dict[object, list[tuple[Run, Point]]] = {}
            for one in group:
                parts.setdefault(key(one), []).append(one)
            return list(parts.values())
    return [group]


def _trait(point: Point, key: str) -> object:
    if key == "target_kind":
        return (point.params["target_memory"] or {}).get("kind")
    if key in connection.TRAIT_KEYS:
        return connection.trait(point, key)
    value = point.params.get(key)
    if key == "size_mix" and value is not None:
        return ", ".join(f"{quantity.size(one['size_bytes'])} {one['percent']} %" for one in value)
    # results of earlier versions have none, and had even ones
    return None if key == "arrivals" and value == "even" else value


def traits_of(point: Point) -> tuple[tuple[str, object], ...]:
    """The traits that tell its series from others of the operation, by key."""
    return tuple((key, _trait(point, key)) for key, _ in _TRAITS)


def _traits(point: Point, within: Sequence[Axis], *but: str) -> tuple[object, ...]:
    without = {*but, *(axis.key for axis in within)}
    traits = (_trait(point, key) for key, _ in _TRAITS if key not in without)
    return (point.params["op"], point.params["persist"], *traits)


def _labels(firsts: Sequence[tuple[Run, Point]], within: Sequence[Axis]) -> list[str]:
    telling = _telling([point for _, point in firsts], within)
    plain = [", ".join(_words(point, telling[what(point.params)])) for _, point in firsts]
    taken = Counter(plain)
    marks = {hardware_mark(run) for run, _ in firsts if run.records_device}  # lines of others name their program
    in_run = Counter((label, id(run)) for (run, _), label in zip(firsts, plain, strict=True))
    labels = []
    for (run, point), label in zip(firsts, plain, strict=True):
        parts = [label]
        if in_run[label, id(run)] > 1 and "job" in point.params:
            parts.append(f"job {point.params['job']}")
        if taken[label] > in_run[label, id(run)]:
            parts.append(run.name)
        if len(marks) > 1 and hardware_mark(run) and run.records_device:
            parts.append(hardware_mark(run))
        labels.append(shown(", ".join(parts), 120))
    return labels


def _telling(firsts: Sequence[Point], within: Sequence[Axis]) -> dict[str, set[str]]:
    """By operation, the traits in which its series differ."""
    seen: dict[str, dict[str, set[object]]] = {}
    for point in firsts:
        of_it = seen.setdefault(what(point.params), {})
        for key, _ in _TRAITS:
            of_it.setdefault(key, set()).add(_trait(point, key))
    without = {axis.key for axis in within}
    return {
        name: {key for key, values in traits.items() if len(values) > 1} - without
        for name, traits in seen.items()
    }


def _words(point: Point, telling: set[str]) -> Iterator[str]:
    """The operation, and the traits that tell it from others of the same operation."""
    yield what(point.params)
    for key, words in _TRAITS:
        value = _trait(point, key)
        if value is not None and key in telling:
            yield words(value)


def _sorted(points: Iterable[Point], axis: Axis | None) -> tuple[Point, ...]:
    if axis is None:
        return tuple(points)
    there = axis

    def place(point: Point) -> float:
        x = there.place(point)
        return -1.0 if x is None else x

    return tuple(sorted(points, key=place))
