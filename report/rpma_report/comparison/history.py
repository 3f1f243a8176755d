# SPDX-License-Identifier: BSD-3-Clause
"""A figure of a point over many runs by time, and where it certainly changed.

A change is claimed by the rule of compare alone. Runs of a history are not interleaved, so
that without a stated noise nothing is claimed: what looks like a step may be the host's drift.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rpma_report import copies
from rpma_report.comparison import evidence, measures, rule
from rpma_report.comparison.measures import Measure
from rpma_report.failure import Failure
from rpma_report.figures.figure import YScale
from rpma_report.figures.series import AXES, LOAD, RATE, READS, collect, identities
from rpma_report.intervals import of_repeats
from rpma_report.model import Estimate, Point, Run
from rpma_report.text import shown

_SWEPT = {"rate": (RATE, *AXES), "mix": (READS, *AXES)}
_SCALES: dict[str, YScale] = {"ops_per_s": "ops", "bytes_per_s": "bytes"}


@dataclass(frozen=True)
class Moment:
    """A point as one run has it."""

    run: int  # its number by time
    point: Point


@dataclass(frozen=True)
class Step:
    """A change from one run to the next."""

    track: "Track"
    measure: Measure
    before: Moment
    after: Moment
    verdict: rule.Verdict

    @property
    def is_certain(self) -> bool:
        return self.verdict.word in ("worse", "better")


@dataclass(frozen=True)
class Track:
    """A point of equal parameters in several runs."""

    name: str
    moments: tuple[Moment, ...]


@dataclass(frozen=True)
class History:
    runs: tuple[Run, ...]  # by time
    tracks: tuple[Track, ...]
    measures: tuple[Measure, ...]
    steps: tuple[Step, ...]
    noise: float | None
    undated: int  # runs without a time, which keep their place

    def certain(self) -> list[Step]:
        return [step for step in self.steps if step.is_certain]


def history(runs: Sequence[Run], figures: Sequence[Measure], noise: float | None) -> History:
    ordered = by_time(copies.distinct(run for run in runs if run.points))
    if len(ordered) < 2:
        raise Failure("a history needs two results with points or more")
    tracks = _tracks(ordered)
    if not tracks:
        raise Failure("no point was measured in two of the runs: only points of equal parameters have a history")
    wanted = figures or {m.name: m for t in tracks for m in measures.deciding(t.moments[0].point)}.values()
    steps = _judged(tracks, tuple(wanted), noise)
    undated = sum(1 for run in ordered if run.started is None)
    return History(tuple(ordered), tuple(tracks), tuple(wanted), tuple(steps), noise, undated)


def by_time(runs: Sequence[Run]) -> list[Run]:
    """Those without a time stay where they were given, behind the run before them."""
    keys, last = [], ""
    for number, run in enumerate(runs):
        last = run.started or last
        keys.append((last, number))
    return [run for _, run in sorted(zip(keys, runs, strict=True), key=lambda pair: pair[0])]


def called(run: Run) -> str:
    """The label or the file, and the commit of the tool if it is known."""
    commit = run.tool.get("git")
    return shown(f"{run.name} {commit[:9]}" if isinstance(commit, str) and commit else run.name, 60)


def value_of(point: Point, measure: Measure) -> Estimate | None:
    """The value, with the interval of its repeats; runs differ by more."""
    values = measure.by_repeat(point)
    found = of_repeats(values) if len(values) == max(point.repeats, 1) else None
    if found is not None and found.value > 0:
        return found
    whole = measure.whole(point)
    return None if whole is None else Estimate(whole)


def _tracks(runs: Sequence[Run]) -> list[Track]:
    of = identities(point for run in runs for point in run.points)
    found: dict[object, list[Moment]] = {}
    for number, run in enumerate(runs):
        for point in run.points:
            moments = found.setdefault(of(point), [])
            if not moments or moments[-1].run != number:
                moments.append(Moment(number, point))
    names = _names(runs, of)
    return [Track(names.get(key, m[0].point.id), tuple(m)) for key, m in found.items() if len(m) > 1]


def _names(runs: Sequence[Run], of: Callable[[Point], object]) -> dict[object, str]:
    """Points are named as compare names them: the series, and the place on it."""
    named: dict[object, str] = {}
    tests = dict.fromkeys(point.test for run in runs for point in run.points)
    firsts = _one_run(runs, of)
    for test in tests:
        group = collect(firsts, lambda p, t=test: p.test == t, _SWEPT.get(test, (*AXES, LOAD)))  # type: ignore[misc]
        for series in group.series:
            label = f"{test}: {series.label}" if len(tests) > 1 else series.label
            for point in series.points:
                named.setdefault(of(point), f"{label}, {group.where(point)}")
    return named


def _one_run(runs: Sequence[Run], of: Callable[[Point], object]) -> list[Run]:
    """All points once, as if one run had them: labels then tell points apart, and not runs."""
    points: dict[object, Point] = {}
    for run in runs:
        for point in run.points:
            points.setdefault(of(point), point)
    return [replace(runs[0], points=tuple(points.values()))]


def _judged(tracks: Sequence[Track], wanted: Sequence[Measure], noise: float | None) -> list[Step]:
    """All of them together: at most one history in 20 has any false change if nothing changed."""
    pairs = [(track, measure, before, after) for track in tracks for measure in wanted
             for before, after in zip(track.moments, track.moments[1:], strict=False)
             if measure.by_repeat(before.point) and measure.by_repeat(after.point)]  # fmt: skip
    found = [evidence.of((before.point,), (after.point,), measure, noise) for _, measure, before, after in pairs]
    verdicts = rule.judge(found, [measure.higher_is_better for _, measure, _, _ in pairs])
    return [Step(*pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True)]


def scale_of(measure: Measure) -> YScale:
    return _SCALES.get(measure.name, "time")
