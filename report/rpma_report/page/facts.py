# SPDX-License-Identifier: BSD-3-Clause
"""Facts that several runs have in common, once: warnings, environments, commands.

A page is often made of several files measured on the same two hosts; what they
agree on stands once, with the names of the runs, and the rest by its values.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from rpma_report import quantity
from rpma_report.figures import tables
from rpma_report.model import Run
from rpma_report.page import connections
from rpma_report.page.document import Block, Code, Facts, Heading, Paragraph, Section
from rpma_report.text import shown, some

MAX_ROWS = 400
MAX_COMMANDS = 100
_MAX_DEPTH = 6
_MAX_SOFTWARE = 20
_COLUMNS = ["code", "severity", "where", "text", "runs"]

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Environment:
    """Facts of the hosts: those equal in all runs, and those that differ."""

    same: tuple[tuple[str, str, str], ...]  # fact, client, server
    differing: tuple[tuple[str, str, str, str], ...]  # fact, host, value, runs
    hidden: int  # rows beyond MAX_ROWS of each


def names(runs: Sequence[Run]) -> str:
    return some([run.name for run in runs])


def by_key(pairs: Iterable[tuple[Key, Run]], every: Sequence[Run]) -> list[tuple[Key, str]]:
    """The facts of runs, each once with the names of its runs or "all runs"."""
    groups: dict[Key, dict[int, Run]] = {}
    for key, run in pairs:
        groups.setdefault(key, {})[id(run)] = run

    def which(group: list[Run]) -> str:
        return "all runs" if len(group) == len(every) > 1 else names(group)

    return [(key, which(list(group.values()))) for key, group in groups.items()]


def warnings(runs: Sequence[Run]) -> list[tuple[tuple[str, str, str, str], str]]:
    """((code, severity, where, text), runs)"""
    return by_key(((w, run) for run in runs for w in _warnings_of(run)), runs)


def warnings_section(runs: Sequence[Run]) -> Section:
    rows = [[*said, which] for said, which in warnings(runs)]
    table = tables.plain("Warnings of the measurement", _COLUMNS, rows, "text")
    return Section("warnings", "Warnings", (table if rows else Paragraph("None."),))


def _warnings_of(run: Run) -> Iterator[tuple[str, str, str, str]]:
    """The tool's own, and what it noted at a point but did not warn of."""
    for said in run.warnings:
        yield said.code, said.severity, said.host, said.text
    codes = {said.code for said in run.warnings}
    for point in run.points:
        if "REPEAT_FLAGGED" not in codes:
            for text in point.flagged:
                yield "REPEAT_FLAGGED", "warn", point.id, text
        if point.steady is False and "NOT_STEADY" not in codes:
            yield "NOT_STEADY", "warn", point.id, "the warm-up ended before the rate was steady"
        if point.unbegun_ops:
            many = quantity.count(point.unbegun_ops)
            text = f"{many} planned operations were never begun: later than all that the response latency has"
            yield "UNBEGUN_OPS", "warn", point.id, text
        if point.errors:
            text = f"{quantity.count(point.errors)} operations failed"
            yield "ERRORS", "warn", point.id, text
    for slo, missed in run.slos:
        if missed is not False:
            yield "SLO_MISSED" if missed else "SLO_UNKNOWN", "warn", "client", slo


def environment(runs: Sequence[Run]) -> Environment:
    sides = ("client", "server")
    told = [{side: dict(_flat(run.environment[side] or {})) for side in sides} for run in runs]
    keys = dict.fromkeys(key for run in told for side in sides for key in run[side] if key)
    same, differing = [], []
    for key in keys:
        first = [told[0][side].get(key, quantity.UNKNOWN) for side in sides]
        if all(run[side].get(key, quantity.UNKNOWN) == value
               for run in told for side, value in zip(sides, first, strict=True)):  # fmt: skip
            same.append((key, first[0], first[1]))
            continue
        for side in sides:
            values = (run[side].get(key, quantity.UNKNOWN) for run in told)
            differing += [
                (key, side, value, which)
                for value, which in by_key(zip(values, runs, strict=True), runs)
            ]
    hidden = max(len(same) - MAX_ROWS, 0) + max(len(differing) - MAX_ROWS, 0)
    return Environment(tuple(same[:MAX_ROWS]), tuple(differing[:MAX_ROWS]), hidden)


def environment_section(runs: Sequence[Run]) -> Section:
    measured = [run for run in runs if any(run.environment.values())]
    told = environment(measured) if measured else Environment((), (), 0)
    blocks: list[Block] = []
    if told.same:
        equal = ", equal in all runs" if len(measured) > 1 else ""
        columns = ["fact", "client", "server"]
        rows = [
            [key, client, "the same" if server == client else server]
            for key, client, server in told.same
            if (client, server) != (quantity.UNKNOWN, quantity.UNKNOWN)
        ]
        blocks.append(tables.plain(f"Facts of the hosts{equal}", columns, rows, "text"))
        unknown = [key for key, *values in told.same if set(values) == {quantity.UNKNOWN}]
        if unknown:
            blocks.append(Paragraph(f"Not known of any: {', '.join(unknown)}."))
    if told.differing:
        columns = ["fact", "host", "value", "runs"]
        blocks.append(tables.plain("Facts that differ between runs", columns, told.differing, "text"))
    if told.hidden:
        blocks.append(Paragraph(f"And {told.hidden} more facts in the result files."))
    blocks += connections.blocks(runs)
    silent = [run for run in runs if not any(run.environment.values())]
    if silent:
        blocks.append(Paragraph(f"Nothing is said of the hosts by: {names(silent)}."))
    return Section("environment", "Environment", tuple(blocks))


def reproduce_section(runs: Sequence[Run]) -> Section:
    blocks: list[Block] = []
    same: dict[object, list[Run]] = {}  # hosts of one file
    for run in runs:
        same.setdefault((run.file, run.commands, *_about(run)), []).append(run)
    for of_file in list(same.values())[:MAX_COMMANDS]:
        blocks.append(Heading(names(of_file)))
        blocks += [Code(command) for command in of_file[0].commands]
        blocks.append(Facts(tuple(_about(of_file[0]))))
    if len(same) > MAX_COMMANDS:
        blocks.append(Paragraph(f"And {len(same) - MAX_COMMANDS} more files; each holds its command line."))
    return Section("reproduce", "How to reproduce", tuple(blocks), "Reproduce")


def _about(run: Run) -> Iterator[tuple[str, str]]:
    yield "result", f"{run.file}, run {run.run_id}" if run.run_id else run.file
    yield "SHA-256", run.sha256
    if run.started:
        yield "time", f"{run.started} to {run.ended}" if run.ended else run.started
    yield "status", run.status
    if run.clock:
        yield "clock", _clock(run.clock)
    software = (f"{shown(k, 40)} {shown(v)}" for k, v in islice(run.tool.items(), _MAX_SOFTWARE) if isinstance(v, str))
    yield "software", "; ".join(software)
    if run.tool.get("librpma_native") is False:
        yield "librpma", "built without native flush and native atomic write"


def _clock(clock: dict[str, Any]) -> str:
    text = f"{clock['source']}, {clock['overhead_ns']:.4g} ns per reading"
    drift = clock["drift_ppm"]
    return text if drift is None else f"{text}, drift {drift:.3g} ppm"


def _flat(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """nic.fw_ver: "22.31" and so on; what is nested deeper than anyone reads is cut."""
    if depth < _MAX_DEPTH and isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flat(item, f"{path}.{shown(key, 60)}".lstrip("."), depth + 1)
    elif depth < _MAX_DEPTH and isinstance(value, list) and _nested(value):
        for index, item in enumerate(value):
            yield from _flat(item, f"{path}[{index}]", depth + 1)
    else:
        yield path, _fact(value)


def _nested(items: list[Any]) -> bool:
    return any(isinstance(item, (dict, list)) for item in items)


def _fact(value: Any) -> str:
    match value:
        case None | [] | {} | "":
            return quantity.UNKNOWN
        case bool():
            return "yes" if value else "no"
        case list():
            return shown(", ".join(shown(v, 60) for v in value[:50]), 500)
        case dict():
            return "\u2026"
        case _:
            return shown(value, 500)
