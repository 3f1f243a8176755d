# SPDX-License-Identifier: BSD-3-Clause
"""Latency logs of fio, from write_lat_log=: a line each operation, or each average of some.

Which figure a log has stands in its name alone, which fio makes: NAME_lat.1.log, _clat, _slat.
Of log_avg_msec= a line is a window, its value the mean or the highest of the operations in it; fio
then writes block size 0, which no operation has. How many operations a window had stands nowhere.
"""

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from math import ceil, nan

from rpma_report.model import PERCENTILES, Estimate, Histogram, Latency, Point, Run, Windows
from rpma_report.sources.document import BadResult
from rpma_report.sources.text import MAX_NS, TextSource, is_supported, point, run_of

KIND = "fio's latency log"
SOURCE = "fio-log"
SUB_BITS = 7
_LINE = re.compile(r"([0-9]{1,15}), ?([0-9]{1,19}), ?([0-9]), ?([0-9]{1,15})(?:, ?(0x[0-9a-fA-F]{1,16}|[0-9]{1,19}))?(?:, ?(?:0x[0-9a-fA-F]{1,8}|[0-9]{1,10}))?(?:, ?[0-9]{1,19})?", re.ASCII)
_BEGIN = re.compile(r"[0-9]{1,15}, ?[0-9]{1,19}, ?[0-9],", re.ASCII)
_NAME = re.compile(r".*_(lat|clat|slat|bw|iops)(?:\.[0-9]+)?\.log(?:\.gz)?")
_EXPECTED = "time in ms, value, direction, block size, and perhaps offset, priority and time of issue, with commas between"
_OPS = ("read", "write", "trim")
_SPANS = 100
_UNKNOWN = (
    "A log of fio records neither device, engine, depth nor options. Times are taken as ns (fio 3). {}"
)
_WINDOWS = (
    "Its values are those of windows (log_avg_msec), means or with log_max_value the highest: how many operations they "
    "had, and the percentiles of operations, are not known."
)
_SINGLE = "Its values are single operations."


def is_one(text: str) -> bool:
    return bool(_BEGIN.match(text.lstrip()[:60]))


def check(source: TextSource) -> None:
    _figure(source)
    _is_windowed(source, _directions(source))


def run(source: TextSource) -> Run:
    figure, found = _figure(source), _directions(source)
    windowed = _is_windowed(source, found)
    points = [(_window_point if windowed else _point)(op, figure, *of) for op, of in found.items()]
    return run_of(source, "fio's log", "fio", points, _UNKNOWN.format(_WINDOWS if windowed else _SINGLE))


def _figure(source: TextSource) -> str:
    match = _NAME.fullmatch(source.file)
    if match is None:
        raise BadResult(source.name, "", "is a log of fio, but which figure it has is told by a name alone: "
                        "expected one such as NAME_lat.1.log")  # fmt: skip
    if match[1] in ("bw", "iops"):
        raise BadResult(source.name, "", f"is fio's log of {match[1]}, expected one of latency: _lat, _clat or _slat")
    return match[1]


def _directions(source: TextSource) -> dict[str, tuple[list[int], list[int], set[int]]]:
    """By operation: times in ms, values in ns, block sizes."""
    found: dict[str, tuple[list[int], list[int], set[int]]] = {}
    number = 1
    for number, line in source.lines():
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            source.expected(number, _EXPECTED, line[:60])
        direction, value = int(match[3]), int(match[2])
        if direction >= len(_OPS):
            source.refuse(number, f"expected direction 0, 1 or 2, found {direction}")
        if value >= MAX_NS:
            source.refuse(number, f"expected a time in ns below 2^62, found {value}")
        times, values, sizes = found.setdefault(_OPS[direction], ([], [], set()))
        times.append(int(match[1]))
        values.append(value)
        sizes.add(int(match[4]))
    if not found:
        source.refuse(number, "expected an operation, there is none")
    if source.text and not source.text.endswith("\n"):
        source.refuse(number, "expected the end of a line, the file is cut off")
    return found


def _is_windowed(source: TextSource, found: dict[str, tuple[list[int], list[int], set[int]]]) -> bool:
    every = set().union(*(sizes for _, _, sizes in found.values()))
    if 0 in every and len(every) > 1:
        raise BadResult(source.name, "", "has block size 0 in some lines only, expected windows (log_avg_msec) or operations")
    return every == {0}


def _window_point(op: str, figure: str, times: list[int], values: list[int], sizes: set[int]) -> Point:
    """No percentile of windows is one of operations, and no mean is theirs: they are shown by their own name."""
    params = {"latency_kind": f"fio_{figure}_windows"}
    latency = Latency(len(values), min(values), max(values), Estimate(sum(values) / len(values)), {}, {}, (), None)
    return point(op, SOURCE, f"{op} {figure} of windows", latency, None, params=params)


def _point(op: str, figure: str, times: list[int], values: list[int], sizes: set[int]) -> Point:
    size = next(iter(sizes)) if len(sizes) == 1 else None
    params = {"size_bytes": size, "latency_kind": f"fio_{figure}"}
    return point(op, SOURCE, f"{op} {figure}", _latency(values), len(values), params=params, windows=_windows(times, values))


def _latency(values: list[int]) -> Latency:
    ordered, mean = sorted(values), sum(values) / len(values)
    stated = {p: float(_at(ordered, p)) for p in PERCENTILES if is_supported(len(ordered), p)}
    return Latency.once(len(ordered), ordered[0], ordered[-1], mean, stated, _histogram(ordered))


def _at(ordered: Sequence[int], share: float) -> int:
    """The first up to which that share lies."""
    return ordered[max(ceil(share * len(ordered) - 1e-9) - 1, 0)]


def _histogram(ordered: Sequence[int]) -> Histogram:
    shifts = (max(ns.bit_length() - 1 - SUB_BITS, 0) for ns in ordered)
    return Histogram.of(Counter(ns >> shift << shift for ns, shift in zip(ordered, shifts, strict=True)), SUB_BITS)


def _windows(times: list[int], values: list[int]) -> tuple[Windows, ...]:
    """Equal spans; none where all was done within a few ms."""
    first, last = min(times), max(times)
    length = max(ceil((last - first + 1) / _SPANS), 1)
    number = (last - first) // length + 1
    if number < 3:
        return ()
    spans: list[list[int]] = [[] for _ in range(number)]
    for ms, ns in zip(times, values, strict=True):
        spans[(ms - first) // length].append(ns)
    for span in spans:
        span.sort()
    share = {p: array("d", (float(_at(s, p)) if is_supported(len(s), p) else nan for s in spans)) for p in (0.5, 0.99)}
    return (Windows(
        array("q", (length * (n + 1) * 1_000_000 for n in range(number))),
        array("d", (len(span) * 1000 / length for span in spans)),
        share[0.5], share[0.99], array("d", (float(span[-1]) if span else nan for span in spans)),
        tuple(_histogram(span) if span else None for span in spans),
    ),)  # fmt: skip
