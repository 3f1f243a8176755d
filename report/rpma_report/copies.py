# SPDX-License-Identifier: BSD-3-Clause
"""Files that are one run: a copy proves nothing that the original does not.

Runs are told apart by run.id. Programs that write none are told apart by what they measured, which
two runs never have in common to the last digit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rpma_report.failure import Failure
from rpma_report.model import Latency, Point, Remark, Run
from rpma_report.text import shown

COPY = "COPY_COUNTED_ONCE"


def key(run: Run) -> object:
    """Equal for copies of one run; a new object where nothing was measured."""
    if run.run_id:
        return run.run_id
    return (run.program, run.started, _measured(run)) if run.points else object()


def _measured(run: Run) -> tuple[object, ...]:
    return tuple((p.id, p.ops, p.ops_per_s_by_repeat, _times(p.latency), p.study_run) for p in run.points)


def _times(latency: Latency | None) -> object:
    return latency and (latency.count, latency.min, latency.max, latency.mean, tuple(latency.percentiles.items()))


def distinct(runs: Iterable[Run]) -> list[Run]:
    """Each once, in the first file that has it, with a remark that names its copies."""
    found: dict[object, list[Run]] = {}
    for run in runs:
        found.setdefault(key(run), []).append(run)
    return [_marked(first, copies) for first, *copies in found.values()]


def _marked(first: Run, copies: Sequence[Run]) -> Run:
    for other in copies:
        if _whole(first) != _whole(other):
            raise Failure(f"{other.file} and {first.file} have one run.id, {shown(first.run_id)}, and differ: give the one that was measured")
    said = (f"{other.file} is a copy of {first.file}, and counts once" for other in copies)
    return replace(first, warnings=(*first.warnings, *(Remark(COPY, "info", "both", text) for text in said)))


def _whole(run: Run) -> tuple[object, ...]:
    """Windows have NaN, which no other is equal to; the place in a study is not measured."""
    def plain(point: Point) -> Point:
        return replace(point, windows=(), study_run=None)

    return (run.status, run.started, run.device_name, run.device_kind, tuple(map(plain, run.points)))


def told(runs: Iterable[Run]) -> list[str]:
    """Sentences that name what was counted once."""
    return [remark.text for run in runs for remark in run.warnings if remark.code == COPY]


def check_sides(base: frozenset[object], new: frozenset[object], name: str) -> None:
    """Two sides with a run in common are not independent; a measurement may be compared with itself."""
    if base & new and base != new:
        raise Failure(f"{shown(name)} has a run that the base has too: a run can be on one side only")
