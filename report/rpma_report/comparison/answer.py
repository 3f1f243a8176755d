# SPDX-License-Identifier: BSD-3-Clause
"""The first line of a comparison or a history: which figure, by how much, how certain. One sentence."""

from collections import Counter
from collections.abc import Sequence

from rpma_report import quantity
from rpma_report.comparison import rule
from rpma_report.comparison.changes import Comparison, Row
from rpma_report.comparison.history import History, Step, called
from rpma_report.comparison.limits import Findings
from rpma_report.comparison.match import has
from rpma_report.comparison.measures import Measure
from rpma_report.comparison.rule import Verdict
from rpma_report.comparison.severity import harm, ranked
from rpma_report.measurement import Measurement
from rpma_report.text import some

_TIMES = 2.0  # from here on, and below its inverse, a change is told as a multiple


def of_comparison(base: Measurement, comparisons: Sequence[Comparison]) -> str:
    """The worst figure that is certain; else the best; else that nothing is."""
    every = [(c, row) for c in comparisons for row in c.rows if row.decides]
    counted: Counter[str] = Counter(row.verdict.word for _, row in every)
    missing = _missing(comparisons)
    for word in ("worse", "better"):
        found = [(c, row) for c, row in every if row.verdict.word == word]
        if found:
            chosen = ranked([row for _, row in found])[0 if word == "worse" else -1]
            where = next(c for c, row in found if row is chosen).new.name
            return f"Certainly {word}: {where} against {base.name}, {_told(chosen)}; {_tally(counted, len(every))}{missing}."
    sides = f"{some([c.new.name for c in comparisons], 3)} against {base.name}"
    if every and counted["same"] == len(every):
        same = "The same where both have it" if missing else "The same"
        return f"{same}: {sides}, {_all(len(every))} within {rule.RELEVANT * 100:g} %{missing}."
    return f"No change is certain: {sides}, {_tally(counted, len(every))}{missing}{_largest([row for _, row in every])}."


def of_gate(found: Findings) -> str:
    """Empty where no condition was given."""
    if not found.conditions:
        return ""
    if found.failed:
        return f"--fail-if {found.asked}: failed, {_number(len(found.failed), 'place')}."
    if found.undetermined:
        return f"--fail-if {found.asked}: undetermined, {_number(len(found.undetermined), 'place')}."
    return f"--fail-if {found.asked}: passed, none of it holds anywhere."


def of_history(found: History) -> str:
    certain = found.certain()
    if found.noise is None:
        return "No change is claimed: without a stated --noise a step may be the host's drift."
    if not certain:
        return f"No change is certain: none of {_number(len(found.steps), 'step')} exceeds a noise of {quantity.fraction(found.noise)}."
    worse = [step for step in certain if step.verdict.word == "worse"]
    step = max(worse or certain, key=_size)
    runs = " to ".join(called(found.runs[moment.run]) for moment in (step.before, step.after))
    change = _change(step.measure, f"{step.measure.name} of {step.track.name}", step.verdict)
    return (f"Certainly {step.verdict.word}: {change} from {runs}; {len(worse)} worse and {len(certain) - len(worse)} better "
            f"of {_number(len(found.steps), 'step')}.")  # fmt: skip


def _missing(comparisons: Sequence[Comparison]) -> str:
    """Points and runs that are not compared for want of one side."""
    points = sum(len(c.matched.only_base) for c in comparisons)
    figures = 0
    for comparison in comparisons:
        known = {(id(row.pair), row.measure.name) for row in comparison.rows}
        for pair in comparison.matched.pairs:
            asked = comparison.asked.deciding(pair.base[0], pair.new[0])
            lacking = (m for m in asked if (id(pair), m.name) not in known)
            figures += sum(any(has(point, m) for point in (*pair.base, *pair.new)) for m in lacking)
    told = [f"{_number(points, 'point')} of the base not measured again"] if points else []
    told += [f"{_number(figures, 'figure')} missing on one side"] if figures else []
    return f"; {', '.join(told)}" if told else ""


def _size(step: Step) -> float:
    change = step.verdict.change or 0.0
    return max(1 + change, 1 / (1 + change)) if change > -1 else float("inf")


def _told(row: Row) -> str:
    return _change(row.measure, f"{row.measure.name} of {row.pair.place}", row.verdict)


def _change(measure: Measure, name: str, verdict: Verdict) -> str:
    """p99 of write, 4 KiB, takes 3.1 times as long (95 % interval 2.9 to 3.3 times)"""
    assert verdict.change is not None
    ratio = 1 + verdict.change
    times = ratio >= _TIMES or 0 < ratio <= 1 / _TIMES
    rate = measure.higher_is_better
    if times:
        change = f"{'is' if rate else 'takes'} {_ratio(ratio)} times as {'high' if rate else 'long'}"
    else:
        size = f"{abs(verdict.change) * 100:.1f} %"
        more = verdict.change > 0
        change = f"is {size} {'higher' if more else 'lower'}" if rate else f"takes {size} {'longer' if more else 'less time'}"
    if verdict.low is None or verdict.high is None:
        return f"{name}, {change}"
    if times:
        ends = f"{_ratio(1 + verdict.low)} to {_ratio(1 + verdict.high)} times"
    else:
        ends = f"{quantity.signed(verdict.low)} to {quantity.signed(verdict.high)}"
    return f"{name}, {change} (95 % interval {ends})"


def _ratio(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2g}"


def _largest(rows: Sequence[Row]) -> str:
    """The largest change, which a reader looks at all the same, and why it is not certain."""
    known = [row for row in rows if row.verdict.change is not None and row.verdict.change > -1 and row.verdict.word != "same"]
    if not known:
        return ""
    row = max(known, key=lambda one: abs(harm(one)))
    return f"; the largest: {_told(row)}, {row.verdict.text()}"


def _tally(counted: Counter[str], number: int) -> str:
    told = [f"{counted[word]} {'the same' if word == 'same' else word}" for word in rule.WORDS if counted[word]]
    return f"of {_number(number, 'deciding figure')} {', '.join(told)}" if told else "no figure decides"


def _all(number: int) -> str:
    return f"all {number} deciding figures lie" if number > 1 else "the deciding figure lies"


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
