# SPDX-License-Identifier: BSD-3-Clause
"""The page of a history: a chart and a table each figure, and what certainly changed."""

from collections.abc import Iterator, Sequence

from rpma_report import __version__, quantity
from rpma_report.comparison import answer
from rpma_report.comparison.history import History, Step, Track, called, scale_of, value_of
from rpma_report.comparison.measures import Measure
from rpma_report.comparison.rule import RULE
from rpma_report.comparison.severity import tone
from rpma_report.comparison.words import interval
from rpma_report.figures import multiples, tables
from rpma_report.figures.choice import promise
from rpma_report.figures.figure import Figure, Line, Mark, Panel
from rpma_report.figures.marks import marks
from rpma_report.page import facts, summary
from rpma_report.page.document import Block, Document, Heading, Paragraph, Section

_MAX_STEPS = 100
_MAX_TRACKS = 24  # points that a chart shows
NOTHING_CLAIMED = ("No change is claimed: runs of a history are not interleaved, and without a stated --noise a step "
                   "may be the host's drift.")  # fmt: skip


def document(found: History) -> Document:
    charts = [figure for measure in found.measures if (figure := _figure(found, measure))]
    sections = [Section(f"section-{figure.id}", figure.title, (figure,), figure.y_title) for figure in charts]
    sections.append(Section("changes", "Changes", tuple(_changes(found))))
    sections += [facts.environment_section(found.runs), facts.warnings_section(found.runs)]
    return Document(
        title="History of remote persistent memory benchmarks",
        answer=answer.of_history(found),
        lead=(f"{len(found.runs)} runs, {_when(found)}.",),
        alarms=summary.alarms(found.runs),
        sections=tuple(sections),
        subject=f"{len(found.runs)} runs",
        footer=f"Made by rpma-report {__version__} from {len(found.runs)} files.",
    )


def lines(found: History) -> Iterator[str]:
    """For a terminal."""
    yield f"{len(found.runs)} runs, {_when(found)}; {len(found.tracks)} points in two of them or more"
    yield claim(found)
    for step in found.certain()[:_MAX_STEPS]:
        yield f"  {told(found, step)}"


def claim(found: History) -> str:
    if found.noise is None:
        return NOTHING_CLAIMED
    number, of = len(found.certain()), len(found.steps)
    return f"{number} of {of} steps are certain changes, with a noise of {quantity.fraction(found.noise)} between runs."


def told(found: History, step: Step) -> str:
    before, after = (called(found.runs[m.run]) for m in (step.before, step.after))
    return (f"{step.track.name}, {step.measure.name}: {step.verdict.word}, {quantity.signed(step.verdict.change)} "
            f"({interval(step.verdict)}), from {before} to {after}")  # fmt: skip


def _when(found: History) -> str:
    dated = [run.started for run in found.runs if run.started]
    text = f"{dated[0]} to {dated[-1]}" if dated else "at unknown times"
    return f"{text}, {found.undated} of unknown time" if dated and found.undated else text


def _changes(found: History) -> Iterator[Block]:
    yield Paragraph(claim(found))
    certain = found.certain()
    if certain:
        rows = tuple(_step(found, step) for step in sorted(certain, key=lambda step: step.verdict.word != "worse")[:_MAX_STEPS])
        columns = ("word", "figure", "point", "change", "from", "to")
        yield tables.Table("Certain changes from a run to the next", columns, (tables.RowGroup("", rows),), 3)
    if len(certain) > _MAX_STEPS:
        yield Paragraph(f"And {len(certain) - _MAX_STEPS} more.")
    if found.noise is not None:
        yield Heading("The rule")
        yield Paragraph(RULE)


def _step(found: History, step: Step) -> tables.Row:
    verdict = step.verdict
    names = (tables.Cell(verdict.word, tone=tone(verdict)), tables.Cell(step.measure.name), tables.Cell(step.track.name))
    runs = (tables.Cell(called(found.runs[moment.run])) for moment in (step.before, step.after))
    return (*names, tables.Cell(quantity.signed(verdict.change), interval(verdict)), *runs)


def _figure(found: History, measure: Measure) -> Figure | None:
    every = [track for track in found.tracks if any(value_of(m.point, measure) for m in track.moments)]
    shown = sorted(every, key=lambda track: promise(track.moments[0].point))[:_MAX_TRACKS]
    lines_ = tuple(_line(track, measure, number) for number, track in enumerate(shown))
    if not any(line.marks for line in lines_):
        return None
    notes = ["Bars are intervals over the repeats of one run; runs differ by more."]
    if len(shown) < len(every):
        rest = "; ".join(track.name for track in every if track not in shown)
        named = f" Left out: {rest}." if len(every) - len(shown) <= 6 else ""
        notes.append(f"The chart shows {len(shown)} of {len(every)} points, the table all.{named}")
    points = [m.point for track in every for m in track.moments]
    drawn = Figure(
        id=f"history-{measure.name.replace('.', '-').replace('_', '-')}",
        title=f"{measure.name} by run",
        marks=marks(found.runs, points),
        x_title="",
        x_scale="runs",
        y_title=measure.name,
        y_scale=scale_of(measure),
        panels=(Panel("", lines_),),
        alt=_alt(shown, measure),
        table=_table(found, every, measure),
        notes=tuple(notes),
        categories=tuple(called(run) for run in found.runs),
    )
    return multiples.apart(drawn)


def _line(track: Track, measure: Measure, number: int) -> Line:
    known = [(m, value_of(m.point, measure)) for m in track.moments]
    marks_ = tuple(Mark(m.run, v, tuple(measure.by_repeat(m.point))) for m, v in known if v)
    places = {mark.x for mark in marks_}
    inside = range(int(marks_[0].x), int(marks_[-1].x)) if marks_ else range(0)
    return Line(track.name, number, marks_, gaps=tuple(float(x) for x in inside if x not in places))


def _alt(shown: Sequence[Track], measure: Measure) -> str:
    sentences = []
    for track in shown:
        known = [v.value for m in track.moments if (v := value_of(m.point, measure))]
        if known:
            sentences.append(f"{track.name}: {measure.text(known[0])} in the first run, {measure.text(known[-1])} in the last.")
    return " ".join([f"Line chart of {measure.name} by run.", *sentences])


def _table(found: History, every: Sequence[Track], measure: Measure) -> tables.Table:
    groups = []
    for track in every:
        rows = []
        for moment in track.moments:
            run = found.runs[moment.run]
            cell = tables.with_interval(value_of(moment.point, measure), measure.text)
            rows.append((tables.Cell(called(run)), tables.Cell(run.started or quantity.UNKNOWN), cell))
        groups.append(tables.RowGroup(track.name, tuple(rows)))
    return tables.Table(f"{measure.name} by run", ("run", "started", measure.name), tuple(groups), 2)
