# SPDX-License-Identifier: BSD-3-Clause
"""The settings of the connections: each once where all points share it, else the points that have which.

Where a swept parameter decides a value, as the depth does the size of a queue, its values name the points.
"""

from collections.abc import Iterator, Sequence

from rpma_report.figures import connection, tables
from rpma_report.figures.connection import SETTINGS, Setting
from rpma_report.figures.series import AXES, Axis
from rpma_report.model import Point, Run
from rpma_report.page.document import Block, Paragraph
from rpma_report.text import some

Item = tuple[Run, Point]


def blocks(runs: Sequence[Run]) -> Iterator[Block]:
    """None where no file records them."""
    every = [(run, point) for run in runs for point in run.points]
    known = [item for item in every if connection.of(item[1])]
    if not known:
        return
    same, differing = [], []
    for setting in SETTINGS:
        found = by_value(setting, known)
        if len(found) == 1:
            same.append((setting.title, *found))
        else:
            differing += [(setting.title, value, _points(items, known, found)) for value, items in found.items()]
    if same:
        equal = ", equal at all points" if len(known) > 1 else ""
        yield tables.plain(f"Connections{equal}", ("setting", "value"), same, "text")
    if differing:
        yield tables.plain("Settings of connections that differ", ("setting", "value", "points"), differing, "text")
    if len(known) < len(every):
        yield Paragraph(f"Of {len(every) - len(known):,} of {len(every):,} points the connection is not recorded.")


def by_value(setting: Setting, items: Sequence[Item]) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for item in items:
        value = connection.of(item[1]).get(setting.key)
        found.setdefault(setting.unknown if value is None else setting.text(value), []).append(item)
    return found


def _points(items: Sequence[Item], every: Sequence[Item], found: dict[str, list[Item]]) -> str:
    axis = next((a for a in AXES if _decides(a, list(found.values()))), None)
    if axis:
        values = {axis.place(point): axis.shown(point) for _, point in items}
        return f"{axis.title} {some([values[place] for place in sorted(values, key=lambda v: v or 0)])}"
    of_run, whole = _by_run(items), _by_run(every)
    return some([name if len(ids) == len(whole[name]) else f"{name}: {some(ids)}" for name, ids in of_run.items()])


def _by_run(items: Sequence[Item]) -> dict[str, list[str]]:
    """Ids of points; the names of the runs of a page are unique."""
    found: dict[str, list[str]] = {}
    for run, point in items:
        found.setdefault(run.name, []).append(point.id)
    return found


def _decides(axis: Axis, groups: Sequence[Sequence[Item]]) -> bool:
    """No value of the axis is in two groups."""
    places = [{axis.place(point) for _, point in items} for items in groups]
    return sum(map(len, places)) == len(set().union(*places))
