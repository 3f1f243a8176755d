# SPDX-License-Identifier: BSD-3-Clause
"""The document that `compare` makes: the words, the charts of all runs over each other, what differs."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rpma_report import __version__, quantity
from rpma_report.comparison import answer, forest, rule, words
from rpma_report.comparison.changes import Comparison, Row
from rpma_report.comparison.limits import Findings
from rpma_report.comparison.severity import tone, worst_first
from rpma_report.figures import tables
from rpma_report.figures.marks import hardware_mark
from rpma_report.figures.tables import Cell, RowGroup, Table
from rpma_report.measurement import Measurement
from rpma_report.model import Run
from rpma_report.page import facts, report, summary
from rpma_report.page.document import Block, Document, Heading, Note, Paragraph, Section

_MAX_LINES = 50  # for limits
_COLUMNS = ("word", "figure", "place", "change", "base", "new", "values")
_NO_VALUES = "Where there are 0 values, the change is that of the whole runs, and has no interval."
_NO_WORD = "A figure without a word does not decide."


def document(found: Findings) -> Document:
    base, comparisons, runs = found.base, found.comparisons, found.runs
    return Document(
        title="Comparison of remote persistent memory benchmarks",
        answer=answer.of_comparison(base, comparisons),
        lead=tuple(filter(None, (answer.of_gate(found), _sides(base, comparisons), *summary.lead(runs)[1:]))),
        alarms=alarms(runs),
        sections=(
            *_forests(base, comparisons, runs),
            _tallies(found),
            _changes(base, comparisons),
            *report.chart_sections(runs),
            facts.environment_section(runs),
            facts.warnings_section(runs),
            facts.reproduce_section(runs),
        ),
        subject=f"{base.name} against {', '.join(c.new.name for c in comparisons[:3])}",
        files=tuple((run.sha256, run.file) for run in runs),
        footer=f"Made by rpma-report {__version__} from {len(runs)} files.",
    )


def _sides(base: Measurement, comparisons: Sequence[Comparison]) -> str:
    return f"Base: {base.name}. Compared with it: {', '.join(c.new.name for c in comparisons)}."


def alarms(runs: Sequence[Run]) -> tuple[Note, ...]:
    return (*_devices(runs), *summary.alarms(runs))


def _devices(runs: Sequence[Run]) -> Iterator[Note]:
    """A change that the device makes is none of what was meant to be compared."""
    named = ((f"{run.device_name or 'not recorded'} {hardware_mark(run)}".rstrip(), run) for run in runs)
    said = facts.by_key(((device, run) for device, run in named if run.is_measured), runs)
    if len(said) > 1:
        lines = tuple(f"{device}: {which}." for device, which in said)
        yield Note("The devices differ.", lines, alarm=True)


def _tallies(found: Findings) -> Section:
    rows = [[c.new.name, *(str(c.words()[word]) for word in rule.WORDS), str(len(c.matched.pairs))]
            for c in found.comparisons]  # fmt: skip
    columns = ["compared", *rule.WORDS, "points"]
    blocks: list[Block] = [tables.plain(f"Changes against {found.base.name}, by word", columns, rows)]
    if found.conditions:
        blocks += _gate(found)
    blocks += [Paragraph(text.strip()) for c in found.comparisons for text in words.skipped(c)]
    return Section("tallies", "Words and limits", tuple(blocks), "Words")


def _gate(found: Findings) -> Iterator[Note]:
    if found.failed:
        yield Note("Failed: a condition of --fail-if holds.", tuple(words.failed(found, _MAX_LINES)), alarm=True)
    elif not found.undetermined:
        yield Note("Passed.", (f"None of these holds anywhere: {found.asked}.",))
    if found.undetermined:
        heading = "Undetermined: a condition of --fail-if cannot be decided everywhere."
        if not found.failed:
            heading = f"{heading} Where it can, none of these holds: {found.asked}."
        yield Note(heading, tuple(words.undetermined(found, _MAX_LINES)), alarm=True)


def _forests(base: Measurement, comparisons: Sequence[Comparison], runs: Sequence[Run]) -> Iterator[Section]:
    found = [forest.figure(base, comparison, number, runs) for number, comparison in enumerate(comparisons)]
    if any(found):
        yield Section("forest-plots", "Ratios", tuple(figure for figure in found if figure))


def _changes(base: Measurement, comparisons: Sequence[Comparison]) -> Section:
    blocks: list[Block] = [_table(base, comparison) for comparison in comparisons]
    rows = (row for comparison in comparisons for row in comparison.rows)
    if any(0 in row.values and not row.itself for row in rows):
        blocks.append(Paragraph(_NO_VALUES))
    if not all(row.decides for comparison in comparisons for row in comparison.rows):
        blocks.append(Paragraph(_NO_WORD))
    blocks += [Heading("The rule"), Paragraph(rule.RULE)]
    return Section("changes", "Changes", tuple(blocks))


def _table(base: Measurement, comparison: Comparison) -> Table:
    groups = tuple(
        RowGroup(series, tuple(map(_row, rows)))
        for series, rows in groupby(worst_first(comparison.rows), lambda row: row.pair.place.series)
    )
    caption = f"{comparison.new.name} against {base.name}: {words.tally(comparison)}"
    return Table(caption, _COLUMNS, groups, 3)


def _row(row: Row) -> tuple[Cell, ...]:
    base, new = words.values(row)
    of_base, of_new = row.values
    number = str(of_base) if of_base == of_new else f"{of_base}, {of_new}"
    change = Cell(quantity.signed(row.verdict.change), words.interval(row.verdict))
    named = (Cell(row.verdict.text(), tone=tone(row.verdict)), Cell(row.measure.name), Cell(row.pair.place.where))
    return (*named, change, Cell(base), Cell(new), Cell(number))
