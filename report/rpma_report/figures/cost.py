# SPDX-License-Identifier: BSD-3-Clause
"""The cost of persistence: the latency of each way to persist, less that of the same operation without.

Both are of one run and of equal parameters. The interval follows from those of the two.
"""

from collections.abc import Sequence

from rpma_report import quantity
from rpma_report.figures import connection, tables
from rpma_report.figures.figure import Figure, Line, Mark, Panel
from rpma_report.figures.looks import Looks
from rpma_report.figures.marks import marks
from rpma_report.figures.methods import Chosen, chosen
from rpma_report.figures.series import AXES, Series, owner
from rpma_report.intervals import difference
from rpma_report.model import PERSISTENT, Estimate, Point, Run

PERCENTILES = (0.5, 0.99)
_SAME = ("test", "op", "batch", "signal_every", "completion", "pattern", "mode", "ioengine", *(a.key for a in AXES))

Pair = tuple[Series, Point, Point]  # the series of a way, its point, and that without


def figure(runs: Sequence[Run]) -> Figure | None:
    found, looks = chosen(runs), Looks(runs)
    pairs = _pairs(found.group.series) if found else []
    if found is None or not pairs:
        return None
    here = [pair for pair in pairs if any(pair[1] is point for _, point in found.here)]
    panels, dearer_without = [], []
    for q in PERCENTILES:
        lines = []
        for place, (series, point, base) in enumerate(here):
            extra = cost(point, base, q)
            if extra is not None and extra.value > 0:
                lines.append(Line(series.label, looks.of(series), (Mark(place, extra),)))
            elif extra is not None:
                dearer_without.append(f"{series.label} at {quantity.percentile(q)}")
        if lines:
            panels.append(Panel(f"added to {quantity.percentile(q)}", tuple(lines)))
    if not panels:
        return None
    return Figure(
        id="cost",
        title=f"What persistence costs, {quantity.size(found.size)}",
        marks=marks(found.group.runs, found.group.points()),
        x_title="",
        x_scale="category",
        y_title="added latency",
        y_scale="time",
        panels=tuple(panels),
        alt=_alt(here),
        table=_table(found, pairs),
        notes=_notes(here, dearer_without, found),
        categories=tuple(series.label for series, _, _ in here),
    )


def cost(point: Point, base: Point, q: float) -> Estimate | None:
    """None where one of them has too few samples."""
    known = [p.latency.percentiles.get(q) if p.latency else None for p in (point, base)]
    if known[0] is None or known[1] is None:
        return None
    return difference(known[0], known[1])


def _pairs(every: Sequence[Series]) -> list[Pair]:
    without = {_key(s, p): p for s in every for p in s.points if p.params["persist"] == "none"}
    found = ((s, p, without.get(_key(s, p))) for s in every for p in s.points if p.params["persist"] in PERSISTENT)
    return [(s, p, base) for s, p, base in found if base is not None]


def _key(series: Series, point: Point) -> tuple[object, ...]:
    kind = (point.params.get("target_memory") or {}).get("kind")
    linked = (connection.trait(point, key) for key, _ in connection.TRAITS)
    return (owner(series.run), kind, *(point.params.get(key) for key in _SAME), *linked)


def _notes(here: Sequence[Pair], dearer_without: Sequence[str], found: Chosen) -> tuple[str, ...]:
    said = ["Each is the percentile with persistence less that of the same operation without, of the same run; "
            "percentiles of a difference are not known."]  # fmt: skip
    if dearer_without:
        said.append(f"No cost was seen, the difference is 0 or less: {', '.join(dearer_without)}.")
    alone = len({id(point) for _, point in found.here if point.params["persist"] in PERSISTENT}) - len(here)
    if alone > 0:
        said.append(f"Left out: {alone} without a like operation that is not persistent.")
    return (*said, *found.notes)


def _alt(here: Sequence[Pair]) -> str:
    sentences = []
    for series, point, base in here:
        told = ((q, cost(point, base, q)) for q in PERCENTILES)
        parts = [f"{quantity.percentile(q)} {quantity.time_ns(extra.value)}" for q, extra in told if extra]
        sentences.append(f"{series.label}: {', '.join(parts) or 'too few samples'} more.")
    return " ".join(["Bar chart of the latency that persistence adds.", *sentences])


def _table(found: Chosen, pairs: Sequence[Pair]) -> tables.Table:
    named_by = found.group.named_by()
    groups: dict[str, list[tables.Row]] = {}
    for series, point, base in pairs:
        row = [tables.addressed(tables.Cell(axis.shown(point)), point, f"param.{axis.key}") for axis in named_by]
        for q in PERCENTILES:
            row += [tables.Cell(_text(base, q)), tables.Cell(_text(point, q)), tables.time(cost(point, base, q))]
        groups.setdefault(series.label, []).append(tuple(row))
    titles = [f"{quantity.percentile(q)} {what}" for q in PERCENTILES for what in ("without", "with", "added")]
    caption = "What persistence costs"
    rows = tuple(tables.RowGroup(label if len(groups) > 1 else "", tuple(of)) for label, of in groups.items())
    return tables.Table(caption, (*(axis.title for axis in named_by), *titles), rows, len(named_by))


def _text(point: Point, q: float) -> str:
    known = point.latency.percentiles.get(q) if point.latency else None
    return quantity.time_ns(known.value if known else None)
