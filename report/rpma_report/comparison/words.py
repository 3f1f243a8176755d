# SPDX-License-Identifier: BSD-3-Clause
"""Changes in words: cells of tables, lines for a terminal, and CSV."""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from rpma_report import quantity
from rpma_report.comparison import evidence, rule
from rpma_report.comparison.changes import Comparison, Row
from rpma_report.comparison.limits import Failed, Findings, Undetermined
from rpma_report.comparison.match import Alone, difference
from rpma_report.comparison.severity import worst_first
from rpma_report.figures.marks import marks
from rpma_report.model import Run
from rpma_report.page import facts
from rpma_report.text import shown

_COLUMNS = ("new", "series", "place", "figure", "decides", "base", "value", "base_values", "values",
            "change_fraction", "ci95_low_fraction", "ci95_high_fraction", "word", "why", "notice")  # fmt: skip


def interval(verdict: rule.Verdict) -> str:
    if verdict.low is None or verdict.high is None:
        return ""
    return f"{quantity.signed(verdict.low)} to {quantity.signed(verdict.high)}"


def values(row: Row) -> tuple[str, str]:
    base, new = (quantity.UNKNOWN if v is None else row.measure.text(v) for v in (row.base, row.new))
    return base, new


def tally(comparison: Comparison) -> str:
    """2 worse, 1 better, 0 unclear, 3 not seen, 9 the same"""
    counted = comparison.words()
    return ", ".join(f"{counted[word]} {'the same' if word == 'same' else word}" for word in rule.WORDS)


def lines(comparison: Comparison) -> Iterator[str]:
    """For a terminal: a line each series, point and figure, the worst first."""
    series = None
    for row in worst_first(comparison.rows):
        if row.pair.place.series != series:
            series = row.pair.place.series
            yield f"  {series}"
        base, new = values(row)
        where = f"{row.pair.place.where} {row.measure.name}"
        span = interval(row.verdict)
        text = f"    {where:<26} {base:>10} \u2192 {new:<10} {quantity.signed(row.verdict.change):>8}"
        yield f"{text} {f'({span})' if span else '':<24} {row.verdict.text()}".rstrip()


def failed(found: Findings, limit: int) -> list[str]:
    """A line for each place where a condition of --fail-if holds."""
    return _cut(map(_failed, found.failed), len(found.failed), limit)


def undetermined(found: Findings, limit: int) -> list[str]:
    """A line for each place where that cannot be decided."""
    return _cut(map(_undetermined, found.undetermined), len(found.undetermined), limit)


def _cut(lines: Iterator[str], number: int, limit: int) -> list[str]:
    return [*islice(lines, limit), *([f"and {number - limit:,} more"] if number > limit else [])]


def _failed(found: Failed) -> str:
    row = found.row
    told = ", ".join(filter(None, (interval(row.verdict), row.verdict.text())))
    return shown(f"{found.condition.text}: {found.new.name}, {row.pair.place}: {row.measure.name} "
                 f"{quantity.signed(row.verdict.change)}{f' ({told})' if told else ''}", 400)  # fmt: skip


def _undetermined(found: Undetermined) -> str:
    where = "" if found.new is None else ", ".join(str(name) for name in (found.new.name, found.place) if name) + ": "
    return shown(f"{found.condition.text}: {where}{found.why}", 400)


def table(comparisons: Sequence[Comparison], runs: Sequence[Run]) -> str:
    """All changes as CSV, each with the notice of the runs."""
    notice = marks(runs, [point for run in runs for point in run.points])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for comparison in comparisons:
        for row in comparison.rows:
            v = row.verdict
            numbers = (int(row.decides), row.base, row.new, *row.values, v.change, v.low, v.high)
            names = (comparison.new.name, row.pair.place.series, row.pair.place.where, row.measure.name)
            told = (*numbers, v.word, v.why, notice)
            writer.writerow([*map(_inert, names), *("" if value is None else value for value in told)])
    return text.getvalue()


def _inert(text: str) -> str:
    """A spreadsheet takes none of these for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def differing(runs: Sequence[Run], limit: int = 40) -> Iterator[str]:
    """Facts of the environments that are not the same in all runs."""
    found = facts.environment(runs).differing
    for (fact, host), values in groupby(found[:limit], lambda row: row[:2]):
        told = (f"{shown(value, 60)} ({which})" for _, _, value, which in values)
        yield f"  {host} {fact}: {', '.join(told)}"
    if len(found) > limit:
        yield f"  and {len(found) - limit} more: the page has them"


def skipped(comparison: Comparison) -> tuple[str, ...]:
    """Points that only one side has, what is not known to be equal, and disturbed pairs."""
    matched, new, number = comparison.matched, comparison.new.name, _disturbed(comparison)
    said = [f"  {where}: {_some(alone)}" for alone, where in (
        (matched.only_base, f"only in the base, not in {new}"), (matched.only_new, f"only in {new}")) if alone]  # fmt: skip
    sides = ([point for alone in only for point in alone.points] for only in (matched.only_base, matched.only_new))
    if told := difference(*sides):
        said.append(f"  the closest differ in {told}")
    if lacking := sum(pair.lacks_mtu() for pair in matched.pairs):
        said.append(f"  {lacking} of {len(matched.pairs)} points: one side does not record the MTU of its path, taken as equal")
    if number:
        said.append(f"  left out: {number} {'pair' if number == 1 else 'pairs'} during which other programs took CPU time")
    return tuple(said)


def _disturbed(comparison: Comparison) -> int:
    points = [point for pair in comparison.matched.pairs for point in (*pair.base, *pair.new)]
    return len(evidence.disturbed(points))


def _some(points: Sequence[Alone], limit: int = 20) -> str:
    more = len(points) - limit
    return "; ".join(str(p.place) for p in points[:limit]) + (f"; and {more} more" if more > 0 else "")
