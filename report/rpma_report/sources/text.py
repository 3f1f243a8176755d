# SPDX-License-Identifier: BSD-3-Clause
"""A file of lines from another program, before it is known to be sound.

Such formats lack much that a result has. What a reader of them makes is a Run like any
other: what the file does not tell is None there, and a remark names it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from rpma_report.model import Estimate, Histogram, Latency, Point, Remark
from rpma_report.sources import histogram
from rpma_report.sources.document import BadResult, LineContradiction, quoted

PERCENTILES = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
MIN_BEYOND = 10  # samples beyond a percentile that is stated
MAX_LINES = 8_000_000
MAX_NS = 2**62


@dataclass(frozen=True)
class TextSource:
    """A file that is text, one line after the other."""

    name: str  # as it was given, for messages
    file: str  # without its folder, for the page
    sha256: str
    text: str = field(repr=False)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Numbered from 1."""
        count = self.text.count("\n")
        if count > MAX_LINES:
            raise BadResult(self.name, "", f"has more than {MAX_LINES:,} lines, the limit for a log")
        for number, line in enumerate(self.text.split("\n"), 1):
            yield number, line.rstrip("\r")

    def refuse(self, line: int, text: str) -> NoReturn:
        raise BadResult(self.name, f"line {line}", text)

    def contradicts(self, line: int, text: str) -> NoReturn:
        raise LineContradiction(self.name, line, text)

    def expected(self, line: int, what: str, found: str) -> NoReturn:
        self.refuse(line, f"expected {what}, found {quoted(found)}")


def is_supported(count: int, share: float) -> bool:
    return count * (1 - share) >= MIN_BEYOND - 1e-6


def latency_of(counts: Histogram, least: int, most: int, mean: float) -> Latency:
    """Percentiles are interpolated inside their buckets, those that the samples support."""
    total = sum(counts.counts)
    wanted = [p for p in PERCENTILES if is_supported(total, p)]
    stated = dict(zip(wanted, histogram.percentiles(counts, wanted, least, most), strict=True))
    return Latency(
        count=total,
        min=least,
        max=most,
        mean=Estimate(mean),
        percentiles={p: Estimate(ns) for p, ns in stated.items()},
        by_repeat={p: (ns,) for p, ns in stated.items()},
        means_by_repeat=(mean,),
        histogram=counts,
    )


def point(id: str, source: str, op: str, latency: Latency | None, ops: int | None, **more: Any) -> Point:
    """A point of a program that records no depth, threads or persistence."""
    own = more.pop("params", {})
    params = {
        "test": source, "source": source, "op": op, "persist": "none", "latency_kind": source, "size_bytes": None,
        "depth": None, "threads": None, "connections": None, "target_memory": None, **own,
    }  # fmt: skip
    return Point(id=id, params=params, repeats=1, ops=ops, errors=0, latency=latency, **more)


def unknown(text: str) -> Remark:
    return Remark("NOT_IN_FILE", "info", "client", text)
