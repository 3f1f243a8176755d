# SPDX-License-Identifier: BSD-3-Clause
"""A forest plot: the ratio of every deciding figure with its interval, the worst first."""

from collections.abc import Sequence

from rpma_report import quantity
from rpma_report.comparison import words
from rpma_report.comparison.changes import Comparison, Row
from rpma_report.comparison.severity import ranked
from rpma_report.figures import tables
from rpma_report.figures.figure import Figure, Line, Mark, Panel, Reference
from rpma_report.figures.marks import marks
from rpma_report.measurement import Measurement
from rpma_report.model import Estimate, Run

MAX_ROWS = 24
_STYLES = ("worse", "better", "unclear", "not seen", "same")  # a colour each


def figure(base: Measurement, comparison: Comparison, number: int, runs: Sequence[Run]) -> Figure | None:
    """None where no deciding figure has a change; `number` tells those of one page apart."""
    every = [row for row in ranked(comparison.rows) if row.decides and _ratio(row) is not None]
    shown = every[:MAX_ROWS]
    if not shown:
        return None
    several = len({row.pair.place.series for row in shown}) > 1
    names = tuple(f"{row.measure.name} {row.pair.place if several else row.pair.place.where}" for row in shown)
    by_word: dict[str, list[Mark]] = {}
    for place, row in enumerate(shown):
        ratio = _ratio(row)
        if ratio:
            by_word.setdefault(row.verdict.word, []).append(Mark(place, ratio))
    lines = tuple(Line(word, _STYLES.index(word), tuple(by_word[word])) for word in _STYLES if word in by_word)
    return Figure(
        id=f"forest-{number}" if number else "forest",
        title=f"Changes of {comparison.new.name} against {base.name}, the worst first",
        marks=marks(runs, [p for row in shown for p in row.pair.base]),
        x_title="",
        x_scale="category",
        y_title="new / base",
        y_scale="ratio",
        panels=(Panel("", lines),),
        alt=_alt(shown),
        table=_table(shown, comparison),
        notes=_notes(shown, every, comparison),
        categories=names,
        reference=Reference("no change", 1.0),
    )


def _ratio(row: Row) -> Estimate | None:
    verdict = row.verdict
    if verdict.change is None or verdict.change <= -1:
        return None
    low, high = (None if v is None else max(1 + v, 0.0) for v in (verdict.low, verdict.high))
    return Estimate(1 + verdict.change, low, high)


def _notes(shown: Sequence[Row], every: Sequence[Row], comparison: Comparison) -> tuple[str, ...]:
    notes = ["Latency above the line of no change is slower, a rate above it is higher."]
    if len(shown) < len(every):
        notes.append(f"Drawn are the worst {len(shown)} of {len(every)} figures; the table of changes has all.")
    without = sum(1 for row in comparison.rows if row.decides) - len(every)
    if without:
        notes.append(f"Left out: {without} without a ratio.")
    return tuple(notes)


def _alt(shown: Sequence[Row]) -> str:
    sentences = [f"{row.pair.place}, {row.measure.name}: {quantity.signed(row.verdict.change)}, {row.verdict.text()}."
                 for row in shown[:6]]  # fmt: skip
    return " ".join(["Forest plot of the ratio of new to base.", *sentences, "The table below has every value."])


def _table(shown: Sequence[Row], comparison: Comparison) -> tables.Table:
    rows = tuple(
        (tables.Cell(str(row.pair.place)), tables.Cell(row.measure.name),
         tables.Cell(quantity.signed(row.verdict.change), words.interval(row.verdict)), tables.Cell(row.verdict.text()))
        for row in shown
    )  # fmt: skip
    caption = f"{comparison.new.name}: the worst first"
    return tables.Table(caption, ("point", "figure", "change", "word"), (tables.RowGroup("", rows),), 2)
