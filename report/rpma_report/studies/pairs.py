# SPDX-License-Identifier: BSD-3-Clause
"""study --ab: two plans, measured job by job in interleaved pairs until the words are certain.

A pair is one job of both plans, run one right after the other in an order drawn by
chance. Both results are kept together in A/ and B/ of the directory, each with its place
in the study; a pair of which one is missing was cut off, and is measured again.
"""

import json
import random
import re
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from rpma_report import quantity
from rpma_report.atomic_file import make_folder, write_atomically
from rpma_report.comparison.measures import Measure, deciding
from rpma_report.failure import Failure
from rpma_report.model import Point
from rpma_report.sources import load
from rpma_report.sources.document import read
from rpma_report.studies import cores, words
from rpma_report.studies.measure import measure
from rpma_report.studies.plan import Job, Plan
from rpma_report.studies.process import NotRun
from rpma_report.studies.progress import Progress, estimate_s
from rpma_report.studies.state import Directory
from rpma_report.text import shown

SIDES = ("A", "B")
Column = tuple[Measure, list[float | None], list[float | None]]  # a value a run of A and of B
LAST = words.LOOKS[-1]
_AT_ONCE = 2  # disturbed pairs, at the begin: no core is free
_MORE_THAN_HALF = 6  # disturbed pairs beyond the undisturbed ones: no budget is enough
_NAME = re.compile(r"(\d{3})-(\d{3})-(.+)\.json")


@dataclass(frozen=True)
class Both:
    """Two plans as one, for the directory."""

    plans: tuple[Plan, Plan]

    @property
    def name(self) -> str:
        return " against ".join(plan.name for plan in reversed(self.plans))

    @property
    def digest(self) -> str:
        return "-".join(plan.digest for plan in self.plans)

    @property
    def jobs(self) -> tuple[Job, ...]:
        return tuple(job for plan in self.plans for job in plan.jobs)

    @property
    def queue(self) -> list[Job]:
        return list(self.jobs)


@dataclass(frozen=True)
class Pair:
    number: int
    again: int  # how often it had been measured before
    points: tuple[tuple[Point, ...], tuple[Point, ...]]
    hosts: tuple[cores.Host, ...]
    disturbed: bool


@dataclass(frozen=True)
class Figure:
    """A figure and the word found for it."""

    name: str
    decision: words.Decision


@dataclass
class Outcome:
    figures: list[Figure] = field(default_factory=list)
    pairs: int = 0
    looks: list[int] = field(default_factory=list)
    disturbed: int = 0  # pairs that were measured again
    unknown: bool = False  # not known of all whether they were disturbed
    busy: str | None = None  # why it ended before the budget
    refused: str | None = None  # why nothing was measured, or nothing more


def check(both: Both) -> None:
    """Refuses what pairs cannot do."""
    a, b = both.plans
    if len(a.jobs) != len(b.jobs):
        raise Failure(f"A has {len(a.jobs)} measurements and B {len(b.jobs)}: pairs need as many of each")
    for plan in both.plans:
        if plan.requirements:
            raise Failure(f"{plan.name}: pairs cannot wait for a setting made by hand (requirements)")
        if any(job.tool == "fio" and job.round for job in plan.jobs):
            raise Failure(f'{plan.name}: fio runs once in each pair: give its series "repeats": 1')


class Study:
    def __init__(self, both: Both, directory: Directory, measures: Sequence[Measure], progress: Progress) -> None:
        """No measures: those that decide a point of that kind."""
        self._both, self._directory, self._progress = both, directory, progress
        self._measures, self._id = measures, _identify(directory.path)
        self._jobs = list(zip(*(plan.jobs for plan in both.plans), strict=True))
        self._found: list[list[Pair]] = [[] for _ in self._jobs]
        self._began = 0  # pairs of this call
        for side in SIDES:
            make_folder(directory.path / side)
        for index in range(len(self._jobs)):
            self._found[index] = list(self._kept(index))

    def carry_out(self) -> Outcome:
        outcome = Outcome()
        try:
            while not self._is_over(outcome) and outcome.refused is None and outcome.busy is None:
                self._round(outcome)
        finally:
            self._progress.close()
        return self._told(outcome)

    # --- measuring -------------------------------------------------------------

    def _round(self, outcome: Outcome) -> None:
        """The next pair of each job, in an order of chance."""
        number = self._pairs()
        order = list(range(len(self._jobs)))
        random.Random(f"{self._id} {number}").shuffle(order)
        for index in order:
            while len(self._undisturbed(index)) <= number:
                self._found[index].append(self._pair(index, number))
                self._judge(self._found[index][-1], outcome)
                if outcome.refused or outcome.busy:
                    return

    def _judge(self, pair: Pair, outcome: Outcome) -> None:
        self._began += 1
        small = next((host for host in pair.hosts if host.is_too_small), None)
        busy = next((host for host in pair.hosts if host.is_disturbed), None)
        everything = [one for found in self._found for one in found]
        disturbed = sum(one.disturbed for one in everything)
        if small:
            outcome.refused = f"{small.text()}: each polling thread needs a core of its own"
        elif busy and self._began <= _AT_ONCE and disturbed == len(everything) >= _AT_ONCE:
            outcome.refused = f"no core is free for each polling thread: {busy.text()}"
        elif busy and disturbed > len(everything) - disturbed + _MORE_THAN_HALF:
            outcome.busy = f"other programs took the cores in {disturbed} of {len(everything)} pairs"

    def _pair(self, index: int, number: int) -> Pair:
        again = sum(pair.number == number for pair in self._found[index])
        sides = [0, 1]
        random.Random(f"{self._id} {number} {index} {again}").shuffle(sides)
        jobs = [replace(job, id=f"{number:03}-{again:03}-{SIDES[side]}-{job.id}",
                        subject=f"{job.subject} {SIDES[side]}")
                for side, job in enumerate(self._jobs[index])]  # fmt: skip
        for side in sides:
            self._run(self._both.plans[side], jobs[side])
        documents = [json.loads(self._directory.part(job).read_bytes()) for job in jobs]
        hosts = tuple(host for document in documents for host in cores.hosts(document))
        disturbed = any(host.is_disturbed for host in hosts)
        first = 2 * sum(len(found) for found in self._found)
        for side, document in enumerate(documents):
            document["study"] = {"id": self._id, "pair": number, "side": SIDES[side],
                                 "order": first + sides.index(side), "disturbed": disturbed}  # fmt: skip
            write_atomically(self._file(side, index, number, again), json.dumps(document).encode())
            self._directory.part(jobs[side]).unlink()
        return Pair(number, again, self._points(index, number, again), hosts, disturbed)

    def _run(self, plan: Plan, job: Job) -> None:
        done, begun = 2 * sum(map(len, self._found)), time.monotonic()
        left_s = estimate_s([job] * (2 * LAST * len(self._jobs) - done), self._directory.state.seconds)
        self._progress.begin(done, left_s, job)
        try:
            measure(plan, self._directory, job, lambda: self._progress.tick(done, left_s, job))
        except NotRun as error:
            text = f"{shown(job.subject)}: {error}; see {shown(self._directory.log(job))}; the same command goes on"
            raise Failure(text) from error
        self._directory.state.took(job.tool, time.monotonic() - begun)
        self._directory.save()
        self._progress.end(done + 1, job, "measured")

    # --- what is there -----------------------------------------------------------

    def _file(self, side: int, index: int, number: int, again: int) -> Path:
        job = self._jobs[index][side]
        return self._directory.path / SIDES[side] / f"{number:03}-{again:03}-{index:03}-{job.id}.json"

    def _kept(self, index: int) -> Iterator[Pair]:
        """Pairs of one job, in order; half a pair is removed."""
        found = set()
        for side in (0, 1):
            mine = f"{index:03}-{self._jobs[index][side].id}"
            for path in (self._directory.path / SIDES[side]).glob("*.json"):
                match = _NAME.fullmatch(path.name)
                if match and match[3] == mine:
                    found.add((int(match[1]), int(match[2])))
        for number, again in sorted(found):
            files = [self._file(side, index, number, again) for side in (0, 1)]
            if all(file.exists() for file in files):
                yield self._read(index, number, again, files)
            else:
                for file in files:
                    file.unlink(missing_ok=True)

    def _read(self, index: int, number: int, again: int, files: Sequence[Path]) -> Pair:
        documents = [read(file).document for file in files]
        disturbed = any((document.get("study") or {}).get("disturbed") for document in documents)
        hosts = tuple(host for document in documents for host in cores.hosts(document))
        return Pair(number, again, self._points(index, number, again), hosts, disturbed)

    def _points(self, index: int, number: int, again: int) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
        a, b = (load(self._file(side, index, number, again)).points for side in (0, 1))
        if len(a) != len(b) or not a:
            subject = shown(self._jobs[index][0].subject)
            raise Failure(f"{subject}: A measured {len(a)} points and B {len(b)}: pairs need as many of each")
        return a, b

    def _undisturbed(self, index: int) -> list[Pair]:
        return [pair for pair in self._found[index] if not pair.disturbed]

    def _pairs(self) -> int:
        """That all jobs have."""
        return min(len(self._undisturbed(index)) for index in range(len(self._jobs)))

    # --- words --------------------------------------------------------------------

    def _is_over(self, outcome: Outcome) -> bool:
        pairs = self._pairs()
        if pairs not in words.LOOKS:
            return False
        return pairs == LAST or all(figure.decision.certain for figure in self._figures(pairs))

    def _figures(self, pairs: int) -> list[Figure]:
        named = [name for index in range(len(self._jobs)) for name in self._names(index)]
        columns = [column for index in range(len(self._jobs)) for column in self._columns(index, pairs)]
        return [
            Figure(name, words.decide(base, new, measure.higher_is_better, len(columns)))
            for name, (measure, base, new) in zip(named, columns, strict=True)
        ]

    def _names(self, index: int) -> Iterator[str]:
        subject, points = self._jobs[index][0].subject, self._found[index][0].points[0]
        for point in points:
            size = quantity.size(point.params["size_bytes"])
            which = f"{subject}, {point.params['op']} {size}" if len(points) > 1 else subject
            for one in self._measures or deciding(point):
                yield f"{which}, {one.name}"

    def _columns(self, index: int, pairs: int) -> Iterator[Column]:
        found = self._undisturbed(index)[:pairs]
        for place, point in enumerate(found[0].points[0]):
            for one in self._measures or deciding(point):
                a, b = ([_value(pair.points[side][place], one) for pair in found] for side in (0, 1))
                yield one, a, b

    def _told(self, outcome: Outcome) -> Outcome:
        outcome.pairs = self._pairs()
        outcome.looks = [look for look in words.LOOKS if look <= outcome.pairs]
        everything = [pair for found in self._found for pair in found]
        outcome.disturbed = sum(pair.disturbed for pair in everything)
        outcome.unknown = any(not pair.hosts or any(h.others is None for h in pair.hosts) for pair in everything)
        if outcome.pairs and outcome.refused is None:
            outcome.figures = [self._with_reason(figure, outcome.busy) for figure in self._figures(outcome.pairs)]
        return outcome

    def _with_reason(self, figure: Figure, busy: str | None) -> Figure:
        if busy is None or figure.decision.certain:
            return figure
        return Figure(figure.name, replace(figure.decision, word="unclear", why=busy))


def _value(point: Point, measure: Measure) -> float | None:
    """The median of the repeats; one that lacks the figure was a slow one."""
    values = measure.by_repeat(point)
    return median(values) if values and len(values) >= point.repeats else None


def _identify(folder: Path) -> str:
    """The same each time it goes on: the order of the runs follows from it."""
    file = folder / "pairs.json"
    if not file.exists():
        write_atomically(file, json.dumps({"id": str(uuid.uuid4())}).encode())
    told = read(file).document.get("id")
    try:
        return str(uuid.UUID(told))
    except (ValueError, TypeError, AttributeError) as error:
        raise Failure(f"{shown(file)}: has no id of a study") from error
