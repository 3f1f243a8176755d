# SPDX-License-Identifier: BSD-3-Clause
"""The top of a page: what was measured, on which device, the verdict, the figures that matter."""

from collections.abc import Iterator, Sequence

from rpma_report import quantity
from rpma_report.figures import ping
from rpma_report.figures.choice import drawn, rank
from rpma_report.figures.groups import bandwidth_series, latency_series
from rpma_report.figures.marks import hardware_mark
from rpma_report.figures.series import SeriesSet, is_remote, order, what
from rpma_report.figures.tables import Cell, RowGroup, Table
from rpma_report.intervals import MIN_VALUES
from rpma_report.model import PERSISTENT, Point, Run
from rpma_report.page import cards, facts
from rpma_report.page.cards import place
from rpma_report.page.document import Block, Cards, Note, Paragraph, Section

_GLANCE = 24  # rows
_FLUSHED = "are flushed to persistence"  # as sources.fio words it
_KINDS = {"hardware": "hardware", "rxe": "kernel soft-RoCE", "siw": "kernel soft-iWARP",
          "soft": "software device"}  # fmt: skip
_TESTS = {"lat": "latency", "bw": "bandwidth", "rate": "response under load", "mix": "mix",
          "fio": "latency and bandwidth"}  # fmt: skip
_WHOLE = {"connect": "connections", "register": "registration of memory"}  # have no operation
_SAID = {
    "APM_READY": "ready: a read after the write makes it persistent",
    "APM_READY_EADR": "ready: its caches belong to what survives a power failure",
    "NATIVE_FLUSH_READY": "ready: its device flushes natively",
    "GPSPM_ONLY": "ready only where its own processor writes the data back (gpspm)",
    "NOT_READY": "not ready",
    "UNDETERMINED": "undetermined, which is not ready",
}


def subject(runs: Sequence[Run]) -> str:
    return "; ".join(_subjects(runs)) or "no measurement"


def lead(runs: Sequence[Run]) -> tuple[str, ...]:
    subjects = _subjects(runs)
    first = f"Measured: {'; '.join(subjects)}." if subjects else "Nothing was measured."
    measured = [run for run in runs if run.is_measured]
    keyed = (((device(run), (run.started or "")[:10]), run) for run in measured)
    devices = facts.by_key(keyed, measured)
    lines = []
    for (name, day), which in devices:
        text = f"Device: {', '.join(filter(None, (name, day)))}"
        lines.append(f"{text} ({which})." if len(devices) > 1 else f"{text}.")
    return (first, *lines)


def _subjects(runs: Sequence[Run]) -> list[str]:
    """latency of write, write + apm flush, read; bandwidth of…"""
    done: dict[str, dict[str, None]] = {test: {} for test in _TESTS}
    for point in sorted((p for run in runs for p in run.points), key=order):
        done.setdefault(point.test, {})[what(point.params)] = None
    said = [
        _WHOLE.get(test) or f"{_TESTS.get(test, test)} of {', '.join(ops)}"
        for test, ops in done.items()
        if ops
    ]
    pinged = dict.fromkeys(run.ping.server for run in runs if run.ping)
    return said + ([f"pings to {', '.join(pinged)}"] if pinged else [])


def device(run: Run) -> str:
    if run.device_name is None:
        if not run.is_measured:
            return "none looked at"
        return "none" if run.records_device else f"not recorded by {run.program}"
    parts = [_KINDS.get(run.device_kind or "", "kind unknown"), run.device_transport]
    if run.emulated_cpu:
        parts.append("emulated CPU")
    return f"{run.device_name} ({', '.join(p for p in parts if p)})"


def alarms(runs: Sequence[Run]) -> tuple[Note, ...]:
    return tuple((*_not_hardware(runs), *_unfinished(runs), *_unproven(runs)))


def _not_hardware(runs: Sequence[Run]) -> Iterator[Note]:
    every_measured = [run for run in runs if run.is_measured]
    measured = [run for run in every_measured if not run.is_hardware]
    local = [run for run in measured if run.points and not any(is_remote(p.params) for p in run.points)]
    unknown = [run for run in measured if not run.records_device and run.device_kind is None and run not in local]
    known = [run for run in measured if run not in unknown and run not in local]
    if known:
        marks = facts.by_key(((hardware_mark(run), run) for run in known), runs)
        reasons = "; ".join(mark for mark, _ in marks)
        told = len(marks) > 1 or len(known) < len(every_measured)
        said = tuple(f"{mark[:1].upper()}{mark[1:]}: {which}." for mark, which in marks) if told else ()
        yield Note(f"NOT HARDWARE: {reasons}. These figures say nothing about RDMA hardware.", said, alarm=True)
    if unknown:
        named = all(run.device_name for run in unknown)
        what = "what kind of device" if named else "the device"
        programs = ", ".join(dict.fromkeys(run.program for run in unknown))
        text = (f"{programs} does not record {what} it ran on. Unless it is known to be hardware, take "
                f"these figures for those of a software device: {facts.names(unknown)}.")  # fmt: skip
        yield Note(f"{'Kind of device' if named else 'Device'} not recorded.", (text,), alarm=True)
    if local:
        text = f"These figures are of fio's own engines, which use no RDMA: {facts.names(local)}."
        yield Note("Not RDMA.", (text,), alarm=True)


def _unfinished(runs: Sequence[Run]) -> Iterator[Note]:
    for run in runs:
        if run.status != "complete":
            ended = "was interrupted" if run.status == "interrupted" else "failed"
            why = run.failure or "Points may be missing."
            yield Note(f"{run.name}: the run {ended}.", (why,), alarm=True)
        for point in run.points:
            if point.mismatches:
                many = quantity.count(point.mismatches)
                text = f"{many} bytes at the target are not what was written ({point.id})."
                yield Note(f"{run.name}: wrong data.", (text,), alarm=True)


def _unproven(runs: Sequence[Run]) -> Iterator[Note]:
    said = facts.by_key(((run.verdict, run) for run in runs if run.persistence_unproven), runs)
    if said:
        lines = ["Whether the flushed data would survive a power failure of the target is not known."]
        for verdict, which in said:
            told = "The readiness verdict of the target is" if verdict else "No readiness verdict of the target"
            lines.append(f"{told} {verdict}: {which}." if verdict else f"{told}: {which}.")
        yield Note("Persistence is not proven.", tuple(lines))


def section(runs: Sequence[Run]) -> Section:
    blocks: list[Block] = []
    shown = tuple(cards.cards_of(runs))
    blocks.append(Cards(shown) if shown else Paragraph("No latency and no bandwidth was measured."))
    if left := cards.without_card(runs):
        blocks.append(Paragraph(f"Not on a card, but in the charts: {facts.names(left)}."))
    if pinged := ping.hosts(runs):
        blocks.append(pinged)
    return Section("summary", "Summary", tuple(blocks))


def basis(runs: Sequence[Run]) -> Section:
    """The basis of the figures, and what each series costs."""
    blocks: list[Block] = [Paragraph(text) for text in (*verdicts(runs), *intervals(runs))]
    if table := _glance(runs):
        blocks.append(table)
    return Section("basis", "What the figures rest on", tuple(blocks), "Basis")


def intervals(runs: Sequence[Run]) -> Iterator[str]:
    """Sentences on what an interval covers and what it does not, and why some have none."""
    points = [p for run in runs for p in run.points]
    few = [p for p in points if p.repeats < MIN_VALUES]
    enough = [p for p in points if p.repeats >= MIN_VALUES]
    if enough:
        yield ("Intervals: Student's t on the logarithms of the repeats. They cover 95 % of what this host does "
               "within these minutes; the next hour, a restart or another host may differ.")  # fmt: skip
    if few:
        which = "all points have" if not enough else f"{len(few)} of {len(points)} points have"
        yield f"No interval: {which} fewer than three repeats."
    short = sorted({p for point in enough if point.latency for p, v in point.latency.percentiles.items() if v.low is None})
    if short:
        yield (f"No interval of {', '.join(map(quantity.percentile, short))} at some points: not every repeat has "
               "the ten slower operations that a percentile needs; longer repeats have.")  # fmt: skip


def verdicts(runs: Sequence[Run]) -> Iterator[str]:
    """On persistence: what was claimed, and what backs it."""
    for verdict, which in facts.by_key(
        ((run.readiness.verdict, run) for run in runs if run.readiness), runs
    ):
        assumed = any(r.readiness.assumed for r in runs if r.readiness and r.verdict == verdict)
        text = f"Persistence: the target is {_SAID.get(verdict, 'judged')} ({verdict}; {which})."
        yield text + (" This rests on a statement of the operator, not on what was seen." if assumed else "")
    claims = {claim for run in runs for claim in run.claims}
    if claims and not any(run.readiness for run in runs):
        yield ("Persistence: not proven, no file has a readiness verdict of the target. "
               "rpma-ddio-check gives one.")  # fmt: skip
    elif any(run.points for run in runs) and not claims:
        engines = dict.fromkeys(p.params["ioengine"] for run in runs for p in run.points if not is_remote(p.params))
        if engines:
            yield f"Persistence: not judged for fio's ioengine {', '.join(engines)}."
        if all(not is_remote(p.params) for run in runs for p in run.points):
            return
        flushed = [w.text for run in runs for w in run.warnings if w.code == "FIO_FLUSHES" and _FLUSHED in w.text]
        yield from (f"Persistence: {text}." for text in dict.fromkeys(flushed[:_GLANCE]))
        if not flushed:
            yield "Persistence: nothing here was made persistent, and nothing claims it."


def _glance(runs: Sequence[Run]) -> Table | None:
    """A table of the cost of each series at the size nearest to 4 KiB, and its highest bandwidth."""
    rows: dict[str, list[Cell]] = {}
    latency, bandwidth = latency_series(runs), bandwidth_series(runs)
    for series in latency.series:
        point = min(series.points, key=rank)
        rows[series.label] = [*_latency_cells(latency, point), *[Cell(quantity.UNKNOWN)] * 2]
    for series in bandwidth.series:
        best = max(series.points, key=lambda p: p.bandwidth.value)
        row = rows.setdefault(series.label, [Cell(quantity.UNKNOWN)] * 6)
        row[4:] = [Cell(quantity.rate(best.bandwidth.value, "B")), Cell(place(bandwidth, best))]
    if len(rows) < 2:
        return None
    kept = {s.label for group in (latency, bandwidth) for s in drawn(group.series, _GLANCE // 2)}
    cells = tuple((Cell(label), *row) for label, row in rows.items() if label in kept or len(rows) <= _GLANCE)
    columns = ("operation", "p50", "p99", "p99.9", "at", "highest bandwidth", "at")
    more = len(rows) - len(cells)
    caption = "At a glance" + (f" ({len(cells)} of {len(rows)} series; the tables of the charts have all)" if more else "")
    return Table(caption, columns, (RowGroup("", cells),))


def _latency_cells(group: SeriesSet, point: Point) -> list[Cell]:
    stated = point.latency.percentiles if point.latency else {}
    known = (stated.get(p) for p in (0.5, 0.99, 0.999))
    times = [Cell(quantity.time_ns(v.value if v else None)) for v in known]
    return [*times, Cell(place(group, point))]
