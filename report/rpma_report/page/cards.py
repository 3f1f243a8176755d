# SPDX-License-Identifier: BSD-3-Clause
"""The figures that matter: of each test one or two, and of each run if there are several.

Every card names the operation and where it was measured: the size, and what was swept. An interval
stands beside its own figure: first in the detail that of the value, others in parentheses behind theirs.
"""

from collections.abc import Callable, Iterator, Sequence

from rpma_report import quantity
from rpma_report.figures.choice import rank
from rpma_report.figures.groups import bandwidth_series, latency_series, rate_series
from rpma_report.figures import search
from rpma_report.figures.ping import sizes
from rpma_report.figures.rate import KEPT, knee
from rpma_report.figures.series import RATE, READS, SIZE, Series, SeriesSet, owner, what
from rpma_report.model import Estimate, Latency, Point, Run
from rpma_report.page.document import Card

MAX_RUNS = 6  # that have cards of their own
_OTHERS = {"mix": "of a write in a mix", "connect": "to connect", "register": "to register"}

Item = tuple[Series, Point]
Text = Callable[[float], str]


def cards_of(runs: Sequence[Run]) -> list[Card]:
    unsearched = [run for run in runs if not run.searches]
    return [*_latency_cards(runs), *_bandwidth_cards(runs), *_search_cards(runs), *_rate_cards(unsearched), *_other_cards(runs),
            *_ping_cards(runs)]  # fmt: skip


def without_card(runs: Sequence[Run]) -> list[Run]:
    """Runs that measured what others have a card of, and have none for want of room."""
    left: dict[object, Run] = {}
    for group in (latency_series(runs), bandwidth_series(runs), rate_series(runs)):
        best = _best_of_each(group, lambda item: rank(item[1]))
        left.update((owner(series.run), series.run) for series, _ in best[MAX_RUNS:])
    return list(left.values())


def place(group: SeriesSet, point: Point) -> str:
    """4 KiB, depth 4: the size as well where another axis was swept."""
    known = [] if SIZE.place(point) is None else [SIZE.shown(point)]
    return ", ".join(dict.fromkeys([*known, group.where(point)]))


def interval(value: Estimate, text: Text) -> str:
    if value.low is None or value.high is None:
        return ""
    return f"95 % interval {quantity.span(text(value.low), text(value.high))}"


def _best_of_each(group: SeriesSet, key: Callable[[Item], object]) -> list[Item]:
    """The best point of each run, in the order of the runs; files of one label are one."""
    best: dict[object, Item] = {}
    for item in ((s, p) for s in group.series for p in s.points):
        run = owner(item[0].run)
        if run not in best or key(item) < key(best[run]):  # type: ignore[operator]
            best[run] = item
    runs = {owner(run): number for number, run in enumerate(group.runs)}
    return sorted(best.values(), key=lambda item: runs[owner(item[0].run)])


def _subject(series: Series, several: bool) -> str:
    name = series.run.label or series.run.name
    return f"{series.label}, {name}" if several and name not in series.label else series.label


def _repeats(point: Point) -> str:
    return f"{point.repeats} repeat{'s' if point.repeats != 1 else ''}"


def _details(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _latency_cards(runs: Sequence[Run]) -> Iterator[Card]:
    group = latency_series(runs)
    stated = tuple(
        Series(s.run, s.label, points)
        for s in group.series
        if (points := tuple(p for p in s.points if p.latency and 0.5 in p.latency.percentiles))
    )
    group = SeriesSet(group.axis, stated, group.runs)
    best = _best_of_each(group, lambda item: rank(item[1]))
    for series, point in best[:MAX_RUNS]:
        latency = point.latency
        assert latency is not None
        subject, median, where = _subject(series, len(best) > 1), latency.percentiles[0.5], place(group, point)
        tail = "" if len(best) == 1 else _tail(latency)
        yield Card(subject, quantity.time_ns(median.value), f"median latency, {where}",
                   _details(interval(median, quantity.time_ns), tail, _repeats(point)))  # fmt: skip
        if len(best) == 1:
            yield _tail_card(subject, where, latency)


def _tail(latency: Latency) -> str:
    p, value = list(latency.percentiles.items())[-1]
    ends = f" ({interval(value, quantity.time_ns)})" if value.low is not None else ""
    return f"{quantity.percentile(p)} {quantity.time_ns(value.value)}{ends}"


def _tail_card(subject: str, where: str, latency: Latency) -> Card:
    p, value = list(latency.percentiles.items())[-1]
    slowest = f"slowest of {quantity.count(latency.count)}: {quantity.time_ns(latency.max)}"
    text = f"tail latency, {quantity.percentile(p)}, {where}"
    return Card(subject, quantity.time_ns(value.value), text, _details(interval(value, quantity.time_ns), slowest))


def _bandwidth_cards(runs: Sequence[Run]) -> Iterator[Card]:
    """The highest of the headline's operation, whatever the size."""
    group = bandwidth_series(runs)

    def key(item: Item) -> tuple[object, ...]:
        return (*rank(item[1])[:3], -item[1].bandwidth.value)

    best = _best_of_each(group, key)
    for series, point in best[:MAX_RUNS]:
        rate = point.bandwidth
        details = (interval(rate, lambda v: quantity.rate(v, "B")), quantity.rate(rate.value * 8, "bit"), _repeats(point))
        text = f"highest bandwidth, {place(group, point)}"
        yield Card(_subject(series, len(best) > 1), quantity.rate(rate.value, "B"), text, _details(*details))


def _search_cards(runs: Sequence[Run]) -> Iterator[Card]:
    every = [(run, one) for run in runs for one in run.searches]
    for run, one in every[:MAX_RUNS]:
        found = one.highest_kept if one.verdict in ("found", "kept") else None
        value = one.verdict if found is None else search.rate(found)
        name = run.name if len({id(run) for run, _ in every}) > 1 else ""
        of = next((what(p.params) for p in run.points if p.test == "rate"), "rate")
        text = f"{'highest rate that keeps' if found else 'search for the highest rate that keeps'} {one.limit}"
        yield Card(_details(of, name), value, _details(text, one.name), search.answer(one))


def _rate_cards(runs: Sequence[Run]) -> Iterator[Card]:
    """How much was kept up with; of a plan that was not kept at its lowest rate, what that was."""
    group = rate_series(runs)
    best = _best_of_each(SeriesSet(RATE, group.series, group.runs), lambda item: rank(item[1]))
    for series, _ in best[:MAX_RUNS]:
        subject, highest = _subject(series, len(best) > 1), knee(series)
        point = series.points[0] if highest is None else next(p for p in series.points if RATE.place(p) == highest)
        response = point.response_latency or point.latency
        median = response.percentiles.get(0.5) if response else None
        times = f"median response {quantity.time_ns(median.value)}" if median else ""
        size = SIZE.shown(point)
        if highest is not None:
            text = f"highest offered rate that was kept, with all below it, {size}"
            yield Card(subject, quantity.rate(highest, "op"), text, _details(times, _repeats(point)))
        elif point.ops_per_s:
            text = f"achieved at the lowest offered rate, {RATE.shown(point)}, {size}: less than {quantity.fraction(KEPT)}"
            yield Card(subject, quantity.rate(point.ops_per_s.value, "op"), text, _details(times, _repeats(point)))


def _other_cards(runs: Sequence[Run]) -> Iterator[Card]:
    """Cards of tests that have none of these: their median, and where."""
    for test, text in _OTHERS.items():
        points = [p for run in runs for p in run.points if p.test == test and p.latency and 0.5 in p.latency.percentiles]
        if not points:
            continue
        point = min(points, key=rank)
        assert point.latency is not None
        median = point.latency.percentiles[0.5]
        reads = f"{READS.shown(point)} reads" if READS.place(point) is not None else ""
        where = _details(SIZE.shown(point) if SIZE.place(point) is not None else "", reads)
        details = (interval(median, quantity.time_ns), f"slowest {quantity.time_ns(point.latency.max)}", _repeats(point))
        yield Card(what(point.params), quantity.time_ns(median.value), _details(f"median time {text}", where),
                   _details(*details))  # fmt: skip


def _ping_cards(runs: Sequence[Run]) -> Iterator[Card]:
    """Two for one host; where there are several, a table below the cards has them all."""
    pings = [(run, run.ping) for run in runs if run.ping]
    for run, ping in pings[:MAX_RUNS]:
        subject = f"ping, {run.name}" if len(pings) > 1 else "ping"
        back = f"{quantity.count(ping.received)} of {quantity.count(ping.transmitted)}"
        lost, rtt = f"{ping.lost} lost, {ping.corrupt} corrupt", ping.latencies.get("rtt")
        if rtt:
            value = rtt.percentiles.get(0.5, rtt.mean)
            name = "median" if 0.5 in rtt.percentiles else "mean"
            text = f"{name} round trip, {sizes(ping)}"
            said = "" if len(pings) == 1 else f"{back} came back, {lost}"
            shown = quantity.time_ns(value.value if value else None)
            yield Card(subject, shown, text, _details(f"slowest {quantity.time_ns(rtt.max)}", said))
        if not rtt or len(pings) == 1:
            yield Card(subject, back, "pings came back", lost)
