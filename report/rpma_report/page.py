# SPDX-License-Identifier: BSD-3-Clause
"""Puts figures, tables and facts of the runs together into one HTML page.

The template escapes everything; only two things are marked safe: our own style
sheet, and the SVG that svg.for_page wrote from a parsed document.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import jinja2
from markupsafe import Markup

from rpma_report import __version__, chart, facts, quantity
from rpma_report.figures import Figure, bandwidth_figure, latency_figure
from rpma_report.result import Point, Run
from rpma_report.series import (
    AXES,
    SeriesSet,
    bandwidth_series,
    hardware_mark,
    latency_series,
    order,
    other_series,
    what,
)
from rpma_report.tables import Table, other_table
from rpma_report.text import shown

CHARTED_TESTS = ("lat", "bw")
MAX_CARDS = 8

KINDS = {
    "post_to_cqe": "from posting the operation until its completion: the peer's RDMA device has the "
    "data, its memory perhaps not yet",
    "write_flush": "from posting the write until the completion of the flush after it",
    "write_flush_native": "from posting the write until the completion of the native flush after "
    "it",
    "gpspm_rtt": "from posting the write until the target's answer that the data is persistent",
    "read": "from posting the read until its completion",
    "atomic_write_commit": "from posting the write until the completion of the atomic write that "
    "commits it",
    "send_rtt": "from posting the message until the answer has arrived",
    "connect": "from starting the connection until it is established",
    "mr_reg": "registering the memory region",
}


@dataclass(frozen=True)
class Card:
    """One of the figures that matter."""

    subject: str
    value: str
    what: str
    detail: str


@dataclass(frozen=True)
class Block:
    """A figure with its drawings, or the reason why there is none."""

    title: str
    figure: Figure | None
    drawings: tuple[Markup, ...]
    missing: str


def render(runs: Sequence[Run]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rpma_report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["shown"] = shown
    style = environment.loader.get_source(environment, "page.css")[0]  # type: ignore[union-attr]
    return environment.get_template("page.html").render(
        version=__version__,
        style=Markup(style),
        runs=runs,
        devices=facts.by_key((((_device(run), run.started[:10]), run) for run in runs), runs),
        soft=facts.by_key(((hardware_mark(r), r) for r in runs if not r.is_hardware), runs),
        unproven=facts.by_key(((r.verdict, r) for r in runs if r.persistence_unproven), runs),
        unfinished=[run for run in runs if run.status != "complete"],
        cards=_cards(runs),
        subjects=_subjects(runs),
        blocks=(_latency_block(runs), _bandwidth_block(runs)),
        kinds=_kinds(runs, "lat"),
        others=_others(runs),
        warnings=facts.warnings(runs),
        environment=facts.environment(runs),
        commands=[(run, _command(run.argv)) for run in runs],
        device=_device,
        clock=_clock,
    )


def _subjects(runs: Sequence[Run]) -> list[str]:
    """What was measured: latency of write, write + apm flush, read; bandwidth of…"""
    done: dict[str, dict[str, None]] = {test: {} for test in CHARTED_TESTS}
    for point in sorted((p for run in runs for p in run.points), key=order):
        done.setdefault(point.params["test"], {})[what(point.params)] = None
    names = {"lat": "latency", "bw": "bandwidth"}
    return [
        test if list(ops) == [test] else f"{names.get(test, test)} of {', '.join(ops)}"
        for test, ops in done.items()
        if ops
    ]


def _cards(runs: Sequence[Run]) -> list[Card]:
    latency, bandwidth = latency_series(runs), bandwidth_series(runs)
    cards = [card for s in latency.series if (card := _latency_card(latency, s.label, s.points[0]))]
    for series in bandwidth.series:
        best = max(series.points, key=lambda p: p.bandwidth.value)
        cards.append(_bandwidth_card(bandwidth, series.label, best))
    return cards[:MAX_CARDS]


def _setting(group: SeriesSet, point: Point) -> str:
    axis = group.axis
    text = quantity.size(point.params["size_bytes"])
    if axis is not None and axis != AXES[0]:
        text += f", {axis.title} {axis.text(point.params[axis.key])}"
    return text


def _latency_card(group: SeriesSet, label: str, point: Point) -> Card | None:
    latency = point.latency
    if latency is None or 0.5 not in latency.percentiles:
        return None
    parts = [
        f"{quantity.percentile(p)} {quantity.time_ns(latency.percentiles[p].value)}"
        for p in (0.99, 0.999)
        if p in latency.percentiles
    ]
    parts = [*parts[-1:], f"slowest {quantity.time_ns(latency.max)}"]
    value = quantity.time_ns(latency.percentiles[0.5].value)
    return Card(label, value, f"median latency, {_setting(group, point)}", ", ".join(parts))


def _bandwidth_card(group: SeriesSet, label: str, point: Point) -> Card:
    rate = point.bandwidth
    parts = [quantity.rate(rate.value * 8, "bit")]
    if rate.low is not None and rate.high is not None:
        bounds = (quantity.rate(bound, "B") for bound in (rate.low, rate.high))
        parts.append(f"95 % interval {quantity.span(*bounds)}")
    value = quantity.rate(rate.value, "B")
    return Card(label, value, f"highest bandwidth, {_setting(group, point)}", ", ".join(parts))


def _latency_block(runs: Sequence[Run]) -> Block:
    missing = "No latency was measured. rpma-bench --test lat measures it."
    return _block("Latency", latency_figure(runs), missing)


def _bandwidth_block(runs: Sequence[Run]) -> Block:
    missing = "No bandwidth was measured. rpma-bench --test bw measures it."
    return _block("Bandwidth", bandwidth_figure(runs), missing)


def _block(title: str, figure: Figure | None, missing: str) -> Block:
    if figure is None:
        return Block(title, None, (), missing)
    drawings = tuple(Markup(chart.draw(figure, shape)) for shape in chart.SHAPES)
    return Block(title, figure, drawings, "")


def _kinds(runs: Sequence[Run], test: str) -> list[tuple[str, str, str]]:
    """What the latency of each operation spans."""
    points = [p for run in runs for p in run.points if p.params["test"] == test]
    named = ((what(p.params), p.params["latency_kind"]) for p in sorted(points, key=order))
    used = dict.fromkeys(named)
    return [(subject, kind, KINDS[kind]) for subject, kind in used]


def _others(runs: Sequence[Run]) -> list[tuple[Table, list[tuple[str, str, str]]]]:
    """Points that no chart of this page takes: a table each test, and what its latency spans."""
    tests = dict.fromkeys(p.params["test"] for run in runs for p in run.points)
    return [
        (other_table(other_series(runs, test), f"Test {test}"), _kinds(runs, test))
        for test in tests
        if test not in CHARTED_TESTS
    ]


def _command(argv: Sequence[str]) -> str:
    """The command line as a shell takes it."""
    return shown(shlex.join(shown(word, 1000) for word in argv[:500]), 4000)


def _device(run: Run) -> str:
    if run.device_name is None:
        return "none"
    kinds = {"hardware": "hardware", "rxe": "kernel soft-RoCE", "siw": "kernel soft-iWARP",
             "soft": "software device"}  # fmt: skip
    parts = [kinds.get(run.device_kind or "", "unknown"), run.device_transport]
    if run.emulated_cpu:
        parts.append("emulated CPU")
    return f"{run.device_name} ({', '.join(p for p in parts if p)})"


def _clock(run: Run) -> str:
    clock = run.clock
    if not clock:
        return quantity.UNKNOWN
    text = f"{clock['source']}, {clock['overhead_ns']:.4g} ns per reading"
    drift = clock["drift_ppm"]
    return text if drift is None else f"{text}, drift {drift:.3g} ppm"
