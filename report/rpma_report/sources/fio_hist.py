# SPDX-License-Identifier: BSD-3-Clause
"""Histogram logs of fio, from write_hist_log=: a line each log_hist_msec and direction, with its bins.

A line is time in ms, direction, block size, and how many operations each bin had since the line
before. The bins are those of json+ (fio_bins.py); log_hist_coarseness= adds 2^c neighbours into one.
"""

import re
from dataclasses import dataclass, field

from rpma_report.model import Histogram, Point, Run
from rpma_report.sources import fio_bins
from rpma_report.sources.text import TextSource, latency_of, point, run_of

KIND = "fio's histogram log"
SOURCE = "fio-log"
_COARSENESS = {fio_bins.NUMBER >> c: c for c in range(7)}
_LINE = re.compile(r"[0-9]{1,15}, ?[0-9]{1,10}, ?[0-9]{1,19}(?:, ?[0-9]{1,18}){19,2000}", re.ASCII)
_OPS = ("read", "write", "trim")
_UNKNOWN = (
    "A histogram log of fio records neither device, engine, depth nor options. Times are taken as ns (fio 3); operations "
    "after its last line are not in it, and a bin is {:.3g} % of its value wide."
)


@dataclass
class _Direction:
    ends_ms: list[int] = field(default_factory=list)
    spans: list[Histogram | None] = field(default_factory=list)
    sizes: set[int] = field(default_factory=set)


def is_one(text: str) -> bool:
    return bool(_LINE.fullmatch(text.lstrip()[:50_000].partition("\n")[0].rstrip()))


def check(source: TextSource) -> None:
    _directions(source)


def run(source: TextSource) -> Run:
    found = _directions(source)
    coarseness = next(span.unit_bits for of in found.values() for span in of.spans if span)
    width = 100 / (1 << fio_bins.SUB_BITS - coarseness)
    return run_of(source, "fio's log", "fio", [_point(op, of) for op, of in found.items()], _UNKNOWN.format(width))


def _directions(source: TextSource) -> dict[str, _Direction]:
    found: dict[str, _Direction] = {}
    number, bins = 1, 0
    for number, line in source.lines():
        if not line.strip():
            continue
        if not _LINE.fullmatch(line):
            source.expected(number, "time in ms, direction, block size and the counts of bins, with commas between", line[:60])
        ms, direction, size, *counts = map(int, line.split(","))
        bins = bins or len(counts)
        if len(counts) != bins or bins not in _COARSENESS:
            source.refuse(number, f"expected {fio_bins.NUMBER} bins of fio 3, halved by each step of log_hist_coarseness, found {len(counts)}")
        if direction >= len(_OPS):
            source.refuse(number, f"expected direction 0, 1 or 2, found {direction}")
        of = found.setdefault(_OPS[direction], _Direction())
        if of.ends_ms and ms < of.ends_ms[-1]:
            source.refuse(number, "expected a time not before that of the line before")
        of.ends_ms.append(ms)
        of.spans.append(_histogram(counts, _COARSENESS[bins]))
        of.sizes.add(size)
    if source.text and not source.text.endswith("\n"):
        source.refuse(number, "expected the end of a line, the file is cut off")
    found = {op: of for op, of in found.items() if any(of.spans)}
    if not found:
        source.refuse(number, "expected an operation, there is none")
    return found


def _histogram(counts: list[int], coarseness: int) -> Histogram | None:
    held = {fio_bins.low_at(index << coarseness): count for index, count in enumerate(counts) if count}
    return Histogram.of(held, fio_bins.SUB_BITS - coarseness, coarseness) if held else None


def _point(op: str, of: _Direction) -> Point:
    latency = latency_of([span for span in of.spans if span])
    params = {"size_bytes": next(iter(of.sizes)) if len(of.sizes) == 1 else None, "latency_kind": "fio_clat"}
    return point(op, SOURCE, f"{op} clat", latency, latency.count, params=params)
