# SPDX-License-Identifier: BSD-3-Clause
"""The results of searches for the highest rate: a sentence for each, and a table of its trials."""

import re
from collections.abc import Iterator, Sequence

from rpma_report import quantity
from rpma_report.figures import tables
from rpma_report.figures.address import Address
from rpma_report.model import SHA_DIGITS, Run, Search, Trial


def rate(per_s: float | None) -> str:
    return quantity.rate(per_s, "op")


def answer(search: Search) -> str:
    """The known bounds of the highest rate."""
    kept, missed = rate(search.highest_kept), rate(search.lowest_missed) + _why(search)
    match search.verdict:
        case "found":
            return f"kept up to {kept}, missed at {missed}, {quantity.fraction(search.gap)} above"
        case "kept":
            return f"kept up to {kept}, the highest rate of the search"
        case "missed":
            return f"missed even at {missed}, the lowest rate of the search"
        case "unclear":
            return f"unclear: missed at {missed} and kept at {kept}, both measured twice"
        case "unknown":
            return "not known: a repeat had too few samples"
        case _:
            return "unfinished"


def _why(search: Search) -> str:
    """The reason at the lowest rate that was missed."""
    trial = next((t for t in search.trials if t.rate == search.lowest_missed and t.kept is False), None)
    if trial is None:
        return ""
    return f" ({search.figure} {value(search, trial.value)})" if trial.achieved else " (not achieved)"


def of(run: Run) -> Iterator[tuple[str, Search]]:
    """Searches with a name that tells them apart."""
    for search in run.searches:
        yield ", ".join(filter(None, (search.limit, search.name))), search


def trials(runs: Sequence[Run]) -> Iterator[tables.Table]:
    named = len([run for run in runs if run.searches]) > 1
    for run in runs:
        for name, search in of(run):
            caption = f"Search for the highest rate that keeps {name}{f', {run.name}' if named else ''}: {answer(search)}"
            columns = ("offered rate", "kept", "achieved", search.figure, "measured twice")
            rows = tuple(_row(run, search, trial) for trial in search.trials)
            yield tables.Table(caption, columns, (tables.RowGroup("", rows),))


def _row(run: Run, search: Search, trial: Trial) -> tables.Row:
    at = Address(run.sha256[:SHA_DIGITS], trial.point, "param.target_rate_per_s")
    kept = quantity.UNKNOWN if trial.kept is None else _yes(trial.kept)
    texts = (kept, _yes(trial.achieved), value(search, trial.value), _yes(trial.again))
    return (tables.Cell(rate(trial.rate), at=at), *map(tables.Cell, texts))


def _yes(what: bool) -> str:
    return "yes" if what else "no"


def value(search: Search, measured: float | None) -> str:
    """Times are ns; what is neither a time nor a rate is a number."""
    name = search.figure.rpartition(".")[2] if not re.search(r"p[0-9.]+$", search.figure) else "p"
    if name in ("p", "mean", "min", "max"):
        return quantity.time_ns(measured)
    units = {"ops_per_s": "op", "bytes_per_s": "B"}
    if measured is None or name not in units:
        return quantity.UNKNOWN if measured is None else f"{measured:.6g}"
    return quantity.rate(measured, units[name])
