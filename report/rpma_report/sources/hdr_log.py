# SPDX-License-Identifier: BSD-3-Clause
"""Interval logs of HdrHistogram (jHiccup, wrk2 and many others): a histogram each interval.

A tag makes a point; all its intervals are one repeat. The file does not record the unit of
its values: they are nanoseconds by the convention of its writers.
"""

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from math import nan

from rpma_report.model import Histogram, Point, Run, Windows
from rpma_report.sources import hdr_codec, histogram
from rpma_report.sources.text import TextSource, is_supported, latency_of, point, run_of
from rpma_report.text import shown

KIND = "HdrHistogram log"
SOURCE = "hdr"
_NUMBER = r"([0-9]{1,12}(?:\.[0-9]{1,9})?)"
_LINE = re.compile(rf"(?:Tag=([^,\s]{{1,100}}),)?{_NUMBER},{_NUMBER},({_NUMBER[1:-1]}|NaN),(.*)", re.ASCII)
_START = re.compile(r"#\[StartTime: ([0-9]{1,11}(?:\.[0-9]{1,9})?)", re.ASCII)
_TITLES = '"StartTimestamp"'
_EXPECTED = "start, length, maximum and a histogram in base64, with commas between"
MAX_BUCKETS = 4_000_000
MAX_SAMPLES = 2**62
_UNKNOWN = (
    "An HdrHistogram log records no unit: values are taken as ns, as its writers use it. Not in the file: operation, "
    "size, depth, device, errors, whether data was persistent, and repeats."
)


@dataclass
class _Interval:
    begin_s: float
    length_s: float
    counts: Histogram | None


def is_one(text: str) -> bool:
    """By its first line that is not empty and not a comment."""
    for line in text[:100_000].split("\n"):
        if line.startswith(("#[StartTime", "#[BaseTime", "#[Histogram log", _TITLES)):
            return True
        if line.strip() and not line.startswith("#"):
            return bool(_LINE.fullmatch(line.rstrip("\r")) or line.startswith("Tag="))
    return False


def check(source: TextSource) -> None:
    _tags(source)


def run(source: TextSource) -> Run:
    points = [_point(number, tag, intervals) for number, (tag, intervals) in enumerate(_tags(source).items())]
    return run_of(source, "HdrHistogram", "HdrHistogram", points, _UNKNOWN, started=_started(source.text))


def _started(text: str) -> str | None:
    match = _START.search(text[:100_000])
    if match is None:
        return None
    try:
        return datetime.fromtimestamp(float(match[1]), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return None


def _tags(source: TextSource) -> dict[str, list[_Interval]]:
    tags: dict[str, list[_Interval]] = {}
    schemes: dict[str, tuple[int, int]] = {}
    buckets = samples = 0
    for number, tag, interval in _intervals(source):
        if counts := interval.counts:
            buckets, samples = buckets + len(counts.lows), samples + sum(counts.counts)
            scheme = (counts.sub_bits, counts.unit_bits)
            if schemes.setdefault(tag, scheme) != scheme:
                source.refuse(number, "expected the digits and the lowest value of the histograms before it")
        if buckets > MAX_BUCKETS or samples > MAX_SAMPLES:
            source.refuse(number, f"expected at most {MAX_BUCKETS:,} buckets and 2^62 samples")
        known = tags.setdefault(tag, [])
        if known and interval.begin_s < known[-1].begin_s:
            source.refuse(number, "expected an interval that begins after the one before it")
        known.append(interval)
    if not any(interval.counts for intervals in tags.values() for interval in intervals):
        source.refuse(source.text.count("\n") + 1, "expected an interval with samples, there is none")
    return {tag: intervals for tag, intervals in tags.items() if any(i.counts for i in intervals)}


def _intervals(source: TextSource) -> Iterator[tuple[int, str, _Interval]]:
    for number, line in source.lines():
        if not line.strip() or line.startswith(("#", _TITLES)):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            source.expected(number, _EXPECTED, line[:60])
        try:
            counts = hdr_codec.decode(match[5])
        except hdr_codec.Malformed as error:
            source.refuse(number, str(error))
        yield number, match[1] or "", _Interval(float(match[2]), float(match[3]), counts)


def _point(number: int, tag: str, intervals: list[_Interval]) -> Point:
    latency = latency_of([i.counts for i in intervals if i.counts])
    return point(f"tag {number}", SOURCE, shown(tag, 60) or "all", latency, latency.count, windows=_windows(intervals))


def _windows(intervals: list[_Interval]) -> tuple[Windows, ...]:
    begin, last = intervals[0].begin_s, 0
    ends_ns, rates, medians, tails, most = array("q"), array("d"), array("d"), array("d"), array("d")
    counts: list[Histogram | None] = []
    for interval in intervals:
        end = round((interval.begin_s - begin + interval.length_s) * 1e9)
        if end <= last or interval.length_s <= 0:
            continue
        last = end
        count = sum(interval.counts.counts) if interval.counts else 0
        ends_ns.append(end)
        counts.append(interval.counts)
        rates.append(count / interval.length_s)
        for values, share in ((medians, 0.5), (tails, 0.99)):
            values.append(_percentile(interval.counts, count, share))
        most.append(float(interval.counts.ends()[1]) if interval.counts else nan)
    return (Windows(ends_ns, rates, medians, tails, most, tuple(counts)),) if len(ends_ns) > 1 else ()


def _percentile(counts: Histogram | None, count: int, share: float) -> float:
    if counts is None or not is_supported(count, share):
        return nan
    return histogram.percentile(counts, share, *counts.ends())
