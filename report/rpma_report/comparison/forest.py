# SPDX-License-Identifier: BSD-3-Clause
"""A forest plot: in each row the word, the figure by its whole name, and its ratio with the interval, the worst first."""

from collections.abc import Sequence

from rpma_report import quantity
from rpma_report.comparison import words
from rpma_report.comparison.changes import Comparison, Row
from rpma_report.comparison.severity import ranked, tone
from rpma_report.figures import tables
from rpma_report.figures.figure import Figure, Line, Mark, Panel
from rpma_report.figures.figure import Row as Printed
from rpma_report.figures.marks import marks
from rpma_report.measurement import Measurement
from rpma_report.model import Estimate, Run
from rpma_report.text import shown as shorten

MAX_ROWS = 24
_MAX_NAME = 160
_ROOM = 900  # characters of all names, each in lines of some 30: what a sheet of paper has room for
_WORDS = ("worse", "better", "unclear", "not seen", "same", "")


def figure(base: Measurement, comparison: Comparison, number: int, runs: Sequence[Run]) -> Figure | None:
    """None where no deciding figure has a change; `number` tells those of one page apart."""
    every = [row for row in ranked(comparison.rows) if row.decides and _ratio(row) is not None]
    shown = every[:MAX_ROWS]
    if not shown:
        return None
    names = _named(shown)
    shown = shown[: max(1, _ROOM // max(map(len, names)))]
    series = {row.pair.place.series for row in every[:MAX_ROWS]}
    by_word: dict[str, list[Mark]] = {}
    for place, row in enumerate(shown):
        ratio = _ratio(row)
        if ratio:
            by_word.setdefault(row.verdict.word, []).append(Mark(place, ratio))
    lines = tuple(Line(word, number, tuple(by_word[word])) for number, word in enumerate(_WORDS) if word in by_word)
    return Figure(
        id=f"forest-{number}" if number else "forest",
        title=f"Changes of {comparison.new.name} against {base.name}, the worst first",
        marks=marks(runs, [p for row in shown for p in row.pair.base]),
        x_title="",
        x_scale="rows",
        y_title="new / base",
        y_scale="ratio",
        panels=(Panel(next(iter(series)) if len(series) == 1 else "", lines),),
        alt=_alt(shown),
        table=_table(shown, comparison),
        notes=_notes(shown, every, comparison),
        categories=names[: len(shown)],
        rows=tuple(map(_printed, shown)),
    )


def _named(rows: Sequence[Row]) -> tuple[str, ...]:
    """The names of the rows, with the series if there are several."""
    several = len({row.pair.place.series for row in rows}) > 1
    places = (row.pair.place if several else row.pair.place.where for row in rows)
    return tuple(shorten(f"{row.measure.name} {place}", _MAX_NAME) for row, place in zip(rows, places, strict=True))


def _printed(row: Row) -> Printed:
    verdict = row.verdict
    return Printed(verdict.word or "no word", tone(verdict), quantity.signed(verdict.change), words.interval(verdict))


def _ratio(row: Row) -> Estimate | None:
    verdict = row.verdict
    if verdict.change is None or verdict.change <= -1:
        return None
    low, high = (None if v is None else max(1 + v, 0.0) for v in (verdict.low, verdict.high))
    return Estimate(1 + verdict.change, low, high)


def _notes(shown: Sequence[Row], every: Sequence[Row], comparison: Comparison) -> tuple[str, ...]:
    notes = ["Right of 1\u00d7 a latency is longer and a rate higher; twice and half are equally far from it."]
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
        (tables.Cell(row.verdict.text(), tone=tone(row.verdict)), tables.Cell(f"{row.measure.name} {row.pair.place}"),
         tables.Cell(quantity.signed(row.verdict.change), words.interval(row.verdict)))
        for row in shown
    )  # fmt: skip
    caption = f"{comparison.new.name}: the worst first"
    return tables.Table(caption, ("word", "figure", "change"), (tables.RowGroup("", rows),), 2)
