# SPDX-License-Identifier: BSD-3-Clause
"""Several files that are one measurement: those of a directory, or of a study.

Files of one program on one device become one run. fio repeats nothing by itself:
where several of its files hold the same point, each is a repeat, and they become one
point here, with the statistics that rpma-bench makes of its repeats.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from rpma_report import copies
from rpma_report.failure import Failure
from rpma_report.figures.series import identity
from rpma_report.intervals import of_repeats
from rpma_report.model import NOT_READ, Cpu, Estimate, Histogram, Latency, Point, Remark, Run, listed
from rpma_report.sources import load_all
from rpma_report.text import shown

ENDINGS = (".json", ".json.gz")
_OTHER_PACKERS = frozenset({".xz", ".zst", ".bz2", ".lz4", ".lzma", ".zip", ".Z", ".7z"})


@dataclass(frozen=True)
class Measurement:
    name: str
    runs: tuple[Run, ...]
    files: tuple[str, ...] = ()  # as a page lists them: before runs of several files became one
    keys: frozenset[object] = frozenset()  # those of its runs, by which copies are known


def read(path: Path) -> Measurement:
    """A result, or a directory of results."""
    paths = files(path)
    if paths == [path]:
        runs = load_all(path)
        name = runs[0].name if len(runs) == 1 else shown(path.name, 60)
        return Measurement(name, tuple(runs), listed(runs), _keys(runs))
    name = shown(path.name or str(path.resolve().name) or "/", 60)
    runs = [replace(run, label=name) for p in paths for run in load_all(p)]
    if runs:
        runs[0] = replace(runs[0], warnings=(*runs[0].warnings, *_not_read(path)))
    return Measurement(name, tuple(united(copies.distinct(runs))), listed(runs), _keys(runs))


def _keys(runs: Sequence[Run]) -> frozenset[object]:
    return frozenset(map(copies.key, runs))


def files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.iterdir() if p.name.endswith(ENDINGS) and not p.name.startswith("."))
    if not found:
        raise Failure(f"{shown(path)}: is a directory without results (*.json or *.json.gz)")
    return found


def _not_read(folder: Path) -> Iterator[Remark]:
    for path in sorted(folder.iterdir()):
        stem, ending = os.path.splitext(path.name)
        if stem.endswith(".json") and ending in _OTHER_PACKERS and not stem.startswith("."):
            yield Remark(NOT_READ, "warn", "both", f"{shown(path.name, 60)} is not read: expected .json or .json.gz")


def called(measurement: Measurement, name: str) -> Measurement:
    """Its runs bear that name and label, which makes their points lines of one measurement."""
    several = len(measurement.runs) > 1
    runs = tuple(
        replace(run, name=f"{name}, {run.program}" if several else name, label=name)
        for run in measurement.runs
    )
    return replace(measurement, name=name, runs=runs)


def united(runs: Sequence[Run]) -> list[Run]:
    """Runs of one label, program and device are one: their environment is that of the first."""
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in joined(runs):
        device = (run.device_name, run.device_kind, run.device_transport, run.emulated_cpu)
        key = (run.label, run.program, run.tool.get("version"), run.verdict, run.status, *device)
        groups.setdefault(key, []).append(run)
    return [_united(group) for group in groups.values()]


def _united(group: Sequence[Run]) -> Run:
    if len(group) == 1:
        return group[0]
    return replace(
        group[0],
        file=f"{len(group)} files",
        sha256="of each file: sha256sum",
        run_id=None,
        started=min((run.started for run in group if run.started), default=None),
        ended=max((run.ended for run in group if run.ended), default=None),
        commands=tuple(dict.fromkeys(command for run in group for command in run.commands)),
        points=tuple(point for run in group for point in run.points),
        warnings=tuple(dict.fromkeys(remark for run in group for remark in run.warnings)),
        slos=tuple(dict.fromkeys(slo for run in group for slo in run.slos)),
    )


def joined(runs: Sequence[Run]) -> list[Run]:
    """Points that several files of fio have become one, in the first of them.

    Those of a study in pairs stay apart: each is one side of its pair.
    """
    found: dict[object, list[Point]] = {}
    for run in runs:
        for point in run.points if _joins(run) else ():
            found.setdefault(identity(point), []).append(point)
    left = []
    for run in runs:
        if _joins(run):
            firsts = (point for point in run.points if found[identity(point)][0] is point)
            points = tuple(_point(found[identity(point)]) for point in firsts)
            if run.points and not points:
                continue
            run = replace(run, points=points)
        left.append(run)
    return left


def _joins(run: Run) -> bool:
    return run.program == "fio" and not any(point.study_run for point in run.points)


def _point(parts: Sequence[Point]) -> Point:
    if len(parts) == 1:
        return parts[0]
    ops = [rate for p in parts for rate in p.ops_per_s_by_repeat]
    rates = [rate for p in parts for rate in p.bytes_per_s_by_repeat]
    busy = [p.cpu.client_busy for p in parts if p.cpu.client_busy is not None]
    return replace(
        parts[0],
        repeats=sum(p.repeats for p in parts),
        ops=sum(p.ops or 0 for p in parts),
        errors=sum(p.errors for p in parts),
        ops_per_s=of_repeats(ops),
        bytes_per_s=of_repeats(rates),
        ops_per_s_by_repeat=tuple(ops),
        bytes_per_s_by_repeat=tuple(rates),
        latency=_latency([p.latency for p in parts if p.latency]),
        cpu=Cpu(client_busy=fmean(busy) if busy else None),
    )


def _latency(parts: Sequence[Latency]) -> Latency | None:
    if not parts:
        return None
    means = [mean for p in parts for mean in p.means_by_repeat]
    bins = [p.histogram for p in parts if p.histogram]
    wanted = sorted({share for p in parts for share in p.percentiles})
    by_repeat = {share: tuple(ns for p in parts for ns in p.by_repeat.get(share, ())) for share in wanted}
    stated = {share: _percentile(parts, values) for share, values in by_repeat.items()}
    return Latency(
        count=sum(p.count for p in parts),
        min=min(p.min for p in parts),
        max=max(p.max or 0 for p in parts),
        mean=of_repeats(means) or parts[0].mean,
        percentiles={share: value for share, value in stated.items() if value},
        by_repeat=by_repeat,
        means_by_repeat=tuple(means),
        histogram=Histogram.sum_of(bins) if len(bins) == len(parts) else None,
    )


def _percentile(parts: Sequence[Latency], values: Sequence[float]) -> Estimate | None:
    """None where a part lacks it. Middles of bins, which repeats may share, have no interval."""
    whole = of_repeats(values)
    if whole is None or len(values) < len(parts):
        return None
    return whole if all(part.histogram for part in parts) else Estimate(whole.value)
