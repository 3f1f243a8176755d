# SPDX-License-Identifier: BSD-3-Clause
"""The document that `create` makes of runs: summary, charts, warnings, environment, commands."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rpma_report import __version__, quantity
from rpma_report.figures import (
    bands,
    bandwidth,
    cost,
    distribution,
    groups,
    latency,
    load,
    methods,
    mix,
    multiples,
    ping,
    rate,
    search,
    setup,
    tables,
    throughput,
    windows,
)
from rpma_report.figures.figure import Figure
from rpma_report.figures.series import is_remote, order, what
from rpma_report.model import FOREIGN, Run, listed
from rpma_report.page import facts, readiness, summary
from rpma_report.page.document import Block, Document, Facts, Paragraph, Section

# The span of a latency, by its kind.
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
    "rpmem_persist": "from calling rpmem_persist() until it returns, when the data is persistent",
    "send_rtt": "from posting the message until the answer has arrived",
    "connect": "from starting the connection until it is established",
    "mr_reg": "registering the memory region",
    "fio_clat": "fio's completion latency: from when the engine has the operation until it is done",
    "fio_lat": "fio's total latency: from when fio makes the operation until it is done",
    "fio_slat": "fio's submission latency: from when fio makes the operation until the engine has it",
    "fio_slat_windows": "the mean or the highest of a window of log_avg_msec, of fio's submission latency",
    "fio_clat_windows": "the mean or the highest of a window of log_avg_msec, of fio's completion latency",
    "fio_lat_windows": "the mean or the highest of a window of log_avg_msec, of fio's whole latency",
    "fio_sync": "fio's latency of fsync and the like",
    "hdr": "not recorded in the file",
    "perftest_half": "perftest's: half the time until the peer's answer is seen; the data is visible there, not persistent",
    "perftest_whole": "perftest's: from posting the operation until its completion",
}
_NO_PERCENTILES = "The files have no percentiles of a latency, so there is no chart: the warnings say why."
_MISSING = "No latency and no bandwidth was measured. rpma-bench client --test lat and --test bw do."

_One = Callable[[Sequence[Run]], Figure | None]
# Sections with the figures they may have, in the order of the page.
_CHARTS: tuple[tuple[str, str, tuple[_One, ...]], ...] = (
    ("latency", "Latency", (latency.figure, distribution.ladder, distribution.distribution)),
    ("bandwidth", "Bandwidth", (bandwidth.figure,)),
    ("persistence", "Ways to persist", (methods.figure, methods.ladder, cost.figure)),
    ("rate", "Response", (rate.figure,)),
    ("throughput", "Throughput", (throughput.figure,)),
    ("mix", "Mix", (mix.figure,)),
    ("load", "Load", (load.figure,)),
    ("time", "Time series", (windows.figure, bands.figure)),
    ("setup", "Set-up", (setup.connect, setup.register)),
    ("ping", "Ping", (ping.spread, ping.steps)),
)
# Sections that say what a latency spans, with the tests it is of.
_LATENCIES = {
    "latency": ("lat", "fio", *sorted(FOREIGN)),
    "rate": ("rate",),
    "mix": ("mix",),
    "setup": ("connect", "register"),
}


@dataclass(frozen=True)
class Words:
    """The user's own title, name and notes; empty: none."""

    title: str = ""
    author: str = ""
    notes: tuple[Block, ...] = ()


def document(runs: Sequence[Run], words: Words = Words()) -> Document:
    """The first chart comes before all that has to be read."""
    charts, files = list(chart_sections(runs)), len({(run.file, run.sha256) for run in runs})
    sections = [summary.section(runs), *charts[:1]]
    if words.notes:
        sections.append(Section("notes", "Notes", words.notes, own=True))
    sections += [section for section in (summary.basis(runs),) if section.blocks]
    sections += charts[1:]
    if not charts and any(run.is_measured for run in runs):
        sections.append(Section("charts", "Charts", tuple(_undrawn(runs))))
    sections += [s for s in (readiness.section(runs),) if s]
    sections += [facts.warnings_section(runs), facts.environment_section(runs)]
    sections.append(facts.reproduce_section(runs))
    return Document(
        title=words.title or title(runs),
        author=words.author,
        lead=summary.lead(runs),
        alarms=summary.alarms(runs),
        sections=tuple(sections),
        subject=summary.subject(runs),
        footer=f"Made by rpma-report {__version__} from {files} file{'s' if files != 1 else ''}.",
        files=tuple((run.sha256, run.file) for run in runs),
        results=listed(runs),
    )


def _undrawn(runs: Sequence[Run]) -> Iterator[Block]:
    """Points without percentiles are in a table alone."""
    group = groups.latency_series(runs)
    if not group.series:
        yield Paragraph(_MISSING)
        return
    yield Paragraph(_NO_PERCENTILES)
    yield tables.of_points(group, "Latency without percentiles", [*tables.latency_columns(group.points()), tables.samples()])
    if spans := _kinds(runs, _LATENCIES["latency"]):
        yield spans


def title(runs: Sequence[Run]) -> str:
    """fio's other engines measure no remote memory."""
    points = [point for run in runs for point in run.points]
    local = bool(points) and not any(is_remote(point.params) for point in points)
    others = any(run.program != "fio" for run in runs)
    return "fio benchmark" if local and not others else "Remote persistent memory benchmark"


def chart_sections(runs: Sequence[Run]) -> Iterator[Section]:
    """Those that have something to draw; compare has them too."""
    for id, short, makers in _CHARTS:
        found = [multiples.apart(figure) for make in makers if (figure := make(runs))]
        if not found:
            continue
        blocks: list[Block] = list(found)
        if id == "rate":
            blocks += search.trials(runs)
        if spans := _kinds(runs, _LATENCIES.get(id, ())):
            blocks.append(spans)
        title = found[0].title if len(found) == 1 else short
        yield Section(f"section-{id}", title, tuple(blocks), short)


def _kinds(runs: Sequence[Run], tests: Sequence[str]) -> Facts | None:
    """The span of the latency of each operation."""
    points = [p for run in runs for p in run.points if p.test in tests and p.latency]
    named = ((what(p.params), p.params["latency_kind"]) for p in sorted(points, key=order))
    pairs = tuple(
        (f"Latency of {subject}", f"{kind}: {KINDS.get(kind, quantity.UNKNOWN)}.")
        for subject, kind in dict.fromkeys(named)
    )
    return Facts(pairs) if pairs else None
