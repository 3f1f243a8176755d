# SPDX-License-Identifier: BSD-3-Clause
"""Figures that a point of rpma-bench, and all points together, hold twice: names and places, what ends a repeat, the warm-up."""

from statistics import median
from typing import Any

from rpma_report.sources.sums import contradiction, counted_of

_FEWEST = 4  # repeats that have an outlier
_MAD_SCALE = 1.4826
_ROUNDED = 0.01  # what three decimals of the values make of a limit


def check_unique(at: Any) -> None:
    """A point or a repeat that stands there twice was measured once."""
    ids, orders = set(), set()
    run, number_of = at.value["run"], sum(len(point["repeats"]) for point in at.value["points"])
    stops = {point["stop"]["kind"] for point in at.value["points"]}
    planned = run["status"] == "complete" and not (run.get("unsupported") or run.get("searches") or at.value.get("ranks") or "ci" in stops)
    for index, point in enumerate(at.value["points"]):
        if point["id"] in ids:
            raise contradiction(at, ("points", index, "id"), f"is {point['id']}, which another point has")
        ids.add(point["id"])
        for number, repeat in enumerate(point["repeats"]):
            if repeat["order"] in orders:
                raise contradiction(at, ("points", index, "repeats", number, "order"), f"is {repeat['order']}, which another repeat has")
            if planned and repeat["order"] >= number_of:
                raise contradiction(at, ("points", index, "repeats", number, "order"), f"is {repeat['order']}, but there are {number_of} from 0")
            orders.add(repeat["order"])


def check_indexes(at: Any) -> None:
    seen: set[int] = set()
    whole = at.source.document["run"]["status"] == "complete"
    for number, repeat in enumerate(at.value["repeats"]):
        if repeat["index"] in seen or whole and repeat["index"] >= len(at.value["repeats"]):
            why = "which another repeat has" if repeat["index"] in seen else f"but there are {len(at.value['repeats'])} repeats from 0"
            raise contradiction(at, ("repeats", number, "index"), f"is {repeat['index']}, {why}")
        seen.add(repeat["index"])


def check_stop(at: Any) -> None:
    stop = at.value["stop"]
    kind, duration, ops = stop["kind"], stop["duration_ns"], stop.get("ops")
    if stop.get("endless"):
        duration_due, ops_due = False, False
    elif kind == "ci":
        if stop.get("ci") is None:
            raise contradiction(at, ("stop", "ci"), "is null, but the repeats ended by it")
        return
    else:
        duration_due, ops_due = kind == "duration", kind == "ops"
    if (duration is not None) != duration_due or "ops" in stop and (ops is not None) != ops_due:
        raise contradiction(at, ("stop", "kind"), f"is {kind}, but duration_ns is {duration} and ops {ops}")


def check_warmup(at: Any) -> None:
    found = [repeat.get("warmup") for repeat in at.value["repeats"]]
    if not found or not all(found):
        return
    for key in ("ns", "ops"):
        due = sum(one[key] for one in found)
        if at.value["warmup"][key] != due:
            raise contradiction(at, ("warmup", key), f"is {at.value['warmup'][key]}, but its repeats give {due}")
    steady = [one["steady"] for one in found]
    due = False if False in steady else None if None in steady else True
    if at.value["warmup"]["steady"] is not due:
        raise contradiction(at, ("warmup", "steady"), f"is {at.value['warmup']['steady']}, but its repeats give {due}")
    windows = [one.get("windows_used") for one in found]
    told = at.value["warmup"].get("windows_used")
    if told is not None and None not in windows and told != min(windows):
        raise contradiction(at, ("warmup", "windows_used"), f"is {told}, but its repeats give {min(windows)}")


def check_flagged(at: Any) -> None:
    """Repeats further from the median than three times the scaled median deviation, of four or more."""
    told = {flagged["index"] for flagged in at.value["flagged_repeats"]}
    known = {repeat["index"] for repeat in at.point["repeats"]}
    if told - known:
        raise contradiction(at, ("flagged_repeats",), f"name repeat {min(told - known)}, which is not there")
    counted, _ = counted_of(at.point)
    values = [repeat["latency"]["mean_ns"] if repeat["latency"] else repeat["ops_per_s"] for repeat in counted]
    if at.source.document.get("ranks") or None in values:
        return
    for repeat, far in zip(counted, _far(values), strict=True):
        if far is not None and far != (repeat["index"] in told):
            why = f"{'lack' if far else 'have'} repeat {repeat['index']}, which is {'' if far else 'not '}far from the others"
            raise contradiction(at, ("flagged_repeats",), why)


def _far(values: list[float]) -> list[bool | None]:
    """None: rounding decides."""
    if len(values) < _FEWEST:
        return [False] * len(values)
    middle = median(values)
    limit = 3 * _MAD_SCALE * median(abs(value - middle) for value in values)
    off = [abs(value - middle) - limit for value in values]
    return [None if abs(one) <= _ROUNDED + 1e-9 * middle else one > 0 for one in off]
