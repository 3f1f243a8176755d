# SPDX-License-Identifier: BSD-3-Clause
"""A file of lines from another program, before it is known to be sound.

Such formats lack much that a result has. What a reader of them makes is a Run like any
other: what the file does not tell is None there, and a remark names it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from rpma_report.model import PERCENTILES, Histogram, Latency, Point, Remark, Run
from rpma_report.sources import histogram
from rpma_report.sources.document import BadResult, LineContradiction, quoted
from rpma_report.text import shown

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


def latency_of(parts: Sequence[Histogram]) -> Latency:
    """Percentiles are interpolated inside their buckets, those that the samples support; the mean is of their middles."""
    whole = Histogram.sum_of(parts)
    total = sum(whole.counts)
    wanted = [p for p in PERCENTILES if is_supported(total, p)]
    stated = dict(zip(wanted, histogram.percentiles(whole, wanted, *whole.ends()), strict=True))
    middles = sum(whole.middle(low) * count for low, count in zip(whole.lows, whole.counts, strict=True))
    return Latency.once(total, *whole.ends(), middles / total, stated, whole)


def point(id: str, source: str, op: str, latency: Latency | None, ops: int | None, **more: Any) -> Point:
    """A point of a program that records no depth, threads or persistence."""
    own = more.pop("params", {})
    params = {
        "test": source, "source": source, "op": op, "persist": "none", "latency_kind": source, "size_bytes": None,
        "depth": None, "threads": None, "connections": None, "target_memory": None, **own,
    }  # fmt: skip
    return Point(id=id, params=params, repeats=1, ops=ops, errors=0, latency=latency, **more)


def run_of(source: TextSource, program: str, tool: str, points: Sequence[Point], note: str, **more: Any) -> Run:
    """Makes that of a program that records neither its command nor its version; the note tells what else it does not."""
    unknown = Remark("NOT_IN_FILE", "info", "client", note)
    return Run(program=program, name=shown(source.file, 60), file=shown(source.file), sha256=source.sha256, commands=(),
               tool={"name": tool, "version": None}, points=tuple(points), warnings=(unknown,), **more)  # fmt: skip
