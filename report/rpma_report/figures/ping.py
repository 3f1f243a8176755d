# SPDX-License-Identifier: BSD-3-Clause
"""The figures of rpma-ping: how long each step took, and how the pings were spread."""

from collections.abc import Sequence

from rpma_report import quantity
from rpma_report.figures import tables
from rpma_report.figures.distribution import Spread, ladder_of
from rpma_report.figures.figure import MAX_LINES, Figure, Line, Mark, Panel
from rpma_report.figures.marks import marks
from rpma_report.model import Estimate, Ping, Run

_NAMES = {"rtt": "whole ping", "write_flush": "write and flush", "read": "read back"}


def _pings(runs: Sequence[Run]) -> list[tuple[Run, Ping]]:
    return [(run, run.ping) for run in runs if run.ping]


def spread(runs: Sequence[Run]) -> Figure | None:
    pings = _pings(runs)
    several = len(pings) > 1
    spreads: list[Spread] = []
    for run, ping in pings:
        for name, latency in ping.latencies.items():
            label = f"{_NAMES[name]}, {run.name}" if several else _NAMES[name]
            spreads.append(Spread(label, len(spreads), latency))
    said = marks([run for run, _ in pings], ())
    notes = _left_out(len(spreads))
    return ladder_of(spreads[:MAX_LINES], "ping", "Pings: percentile ladder", said, notes)


def sizes(ping: Ping) -> str:
    """64 B, or 64 B to 4 KiB where pings had several sizes."""
    least = min((one.size_bytes for one in ping.sizes), default=ping.size_bytes)
    of = dict.fromkeys(quantity.size(v) for v in (least, ping.size_bytes))
    return " to ".join(of)


def hosts(runs: Sequence[Run]) -> tables.Table | None:
    """A row for each host and size, if there are several, also for hosts that were not reached."""
    rows = tuple((tables.Cell(run.name), *_cells(run, one)) for run, ping in _pings(runs) for one in ping.sizes or (ping,))
    if len(rows) < 2:
        return None
    columns = ("host", "size", "sent", "came back", "lost", "corrupt", "min", "p50", "p99", "max", "mean", "failed at")
    return tables.Table("Round trips of pings", columns, (tables.RowGroup("", rows),), 2)


def _cells(run: Run, ping: Ping) -> tables.Row:
    counts = (ping.transmitted, ping.received, ping.lost, ping.corrupt)
    rtt = ping.latencies.get("rtt")
    stated = [rtt.percentiles.get(p) for p in (0.5, 0.99)] if rtt else [None, None]
    times = (rtt.min, *(v.value if v else None for v in stated), rtt.max, rtt.mean.value if rtt.mean else None) if rtt else (None,) * 5
    step = run.failure.partition(":")[0] if run.failure else ""
    return (tables.Cell(quantity.size(ping.size_bytes)), *(tables.Cell(quantity.count(n)) for n in counts),
            *(tables.Cell(quantity.time_ns(ns)) for ns in times), tables.Cell(step))  # fmt: skip


def _left_out(number: int) -> tuple[str, ...]:
    return (f"The chart shows the first {MAX_LINES} of {number} lines.",) if number > MAX_LINES else ()


def steps(runs: Sequence[Run]) -> Figure | None:
    """Bars, a place for each step; a step that was not done has none."""
    pings = _pings(runs)
    if not pings:
        return None
    names = [name for name, _ in pings[0][1].steps]
    lines = []
    for n, (run, ping) in enumerate(pings[:MAX_LINES]):
        places = tuple(Mark(i, Estimate(ns)) for i, (_, ns) in enumerate(ping.steps) if ns is not None)
        lines.append(Line(run.name, n, places))
    if not any(line.marks for line in lines):
        return None
    rows = [
        [name, *(quantity.time_ns(dict(ping.steps).get(name)) for _, ping in pings)] for name in names
    ]
    columns = ["step", *(run.name for run, _ in pings)] if len(pings) > 1 else ["step", "time"]
    sentences = []
    for run, ping in pings[:MAX_LINES]:
        done = [(name, ns) for name, ns in ping.steps if ns is not None]
        longest = max(done, key=lambda item: item[1], default=None)
        if longest:
            sentences.append(f"{run.name}: the longest is {longest[0]}, {quantity.time_ns(longest[1])}.")
    return Figure(
        id="ping-steps",
        title="Pings: steps up to the first one",
        marks=marks([run for run, _ in pings], ()),
        x_title="",
        x_scale="category",
        y_title="time",
        y_scale="time",
        panels=(Panel("", tuple(lines)),),
        alt=" ".join(["Bar chart of the time of each step.", *sentences]),
        table=tables.plain("Steps", columns, rows),
        notes=_left_out(len(pings)),
        categories=tuple(names),
    )
