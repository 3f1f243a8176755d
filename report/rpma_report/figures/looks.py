# SPDX-License-Identifier: BSD-3-Clause
"""How series look: one keeps its colour in every chart of a page.

A series has a number, from which draw makes colour, marker and dashes. In another
chart the series with the same label has it; else one of the same run and operation.
"""

from collections.abc import Callable, Sequence

from rpma_report.figures import groups
from rpma_report.figures.choice import drawn
from rpma_report.figures.figure import MAX_LINES
from rpma_report.figures.series import AXES, Series, SeriesSet, owner, traits_of, what
from rpma_report.model import Run

# A chart of one test does not tell its series apart by these, or names them itself.
_OF_THE_CHART = {axis.key for axis in AXES} | {
    "latency_kind", "flush_method", "mode", "target_rate_per_s", "read_fraction", "server_load_fraction"
}  # fmt: skip
# Charts in the order of the page, with the series that they have room for.
_CHARTS: tuple[tuple[Callable[..., SeriesSet], int], ...] = (
    (groups.latency_series, MAX_LINES),
    (groups.bandwidth_series, MAX_LINES),
    (groups.rate_series, MAX_LINES // 2),
    (groups.mix_series, MAX_LINES // 2),
    (groups.load_series, MAX_LINES),
    (groups.connect_series, MAX_LINES),
    (groups.register_series, MAX_LINES),
)
Style = tuple[int, int]


class Looks:
    def __init__(self, runs: Sequence[Run]) -> None:
        self._numbers: dict[object, int] = {}  # by kind and label
        self._of_kind: dict[object, list[int]] = {}  # by run and kind
        for group, limit in _CHARTS:
            self._add(drawn(group(runs).series, limit))

    @property
    def alone(self) -> bool:
        """Does the page have one series and no more?"""
        return len(set(self._numbers.values())) < 2

    def of(self, series: Series) -> int:
        """The number of a series; in a chart with labels of its own, that of its kind."""
        known = self._of_kind.get(_kind_of_run(series), [0])
        return self._numbers.get(_named(series), known[0])

    def part(self, series: Series, number: int) -> Style:
        """Number and variant of one of several lines of a series; colours are free where it is alone."""
        return (number, 0) if self.alone else (self.of(series), number)

    def _add(self, chart: Sequence[Series]) -> None:
        taken = {self._numbers.get(_named(s)) for s in chart}
        for series in chart:
            known = self._of_kind.setdefault(_kind_of_run(series), [])
            number = self._numbers.get(_named(series))
            if number is None:
                number = next((n for n in known if n not in taken), len(set(self._numbers.values())))
            taken.add(number)
            self._numbers[_named(series)] = number
            if number not in known:
                known.append(number)


def _kind(series: Series) -> object:
    point = series.points[0]
    told = tuple((key, value) for key, value in traits_of(point) if key not in _OF_THE_CHART)
    return (what(point.params), told)


def _named(series: Series) -> object:
    return (_kind(series), series.label)


def _kind_of_run(series: Series) -> object:
    return (owner(series.run), _kind(series))
