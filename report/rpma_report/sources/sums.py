# SPDX-License-Identifier: BSD-3-Clause
"""Rates, percentiles and summaries of rpma-bench, computed from their parts; redundancies.py lists what is checked.

Percentiles follow from histograms, summaries from repeats, rates from counts and times.
Unknown contradicts nothing. Numbers have three decimals in a file, and the tool's
quantiles of Student's t four.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import compress, pairwise
from statistics import stdev
from typing import Any

from rpma_report.intervals import MIN_VALUES, of_repeats
from rpma_report.sources import histogram
from rpma_report.sources.document import Contradiction, Place, Source
from rpma_report.sources.schema import BENCH, schema
from rpma_report.text import shown

USED = ("persist", "flush", "flush_method", "atomic_write_method", "latency_kind")
LATENCIES = ("latency", "response_latency", "read_latency")
_ROUNDED = 0.0011
_RELATIVE = 1e-9  # for sums and logarithms
_T_ERROR = 3e-5  # share of the half width of an interval: quantiles of Student's t with four decimals
_CV_ERROR = 1e-6
_MIN_BEYOND = 10 - 1e-6
_OF_PARTS: tuple[tuple[str, Callable[[list[int]], int]], ...] = (("sub_bits", max), ("saturated", sum))

Repeats = Sequence[dict[str, Any]]


@cache
def counts() -> dict[str, Callable[[list[int]], int]]:
    """The counts that the schema has in a summary, and how each follows from those of the repeats."""
    summary = schema(BENCH)["$defs"]["point"]["properties"]["summary"]["properties"]
    joins: dict[bool, Callable[[list[int]], int]] = {True: max, False: sum}
    return {key: joins[key.startswith("max_")]
            for key, value in summary.items() if value.get("type") == ["integer", "null"]}  # fmt: skip


def contradiction(at: Any, place: Place, text: str) -> Contradiction:
    """At a value below the place of an object."""
    return Contradiction(at.source, at.place + place, text)


def check_used(at: Any) -> None:
    used, params = at.value.get("used") or {}, at.point["params"]
    for key in USED:
        own, of_point = used.get(key), params.get(key)
        if own is not None and of_point is not None and own != of_point:
            raise contradiction(at, ("used", key), f"is {shown(own, 40)}, but its point has {shown(of_point)}")


def check_bytes(at: Any) -> None:
    side, params = at.value, at.point["params"]
    size = None if params["test"] in ("connect", "register") else params["size_bytes"]
    due = None if size is None else side["ops"] * size
    if mix := params.get("size_mix"):
        sizes = [one["size_bytes"] for one in mix]
        if not side["ops"] * min(sizes) <= side["bytes"] <= side["ops"] * max(sizes):
            raise contradiction(at, ("bytes",), f"is {side['bytes']}, but its sizes cannot make that")
    elif side["bytes"] != due:
        raise contradiction(at, ("bytes",), f"is {side['bytes']}, but ops x size_bytes is {due}")


def check_rates(at: Any) -> None:
    side = at.value
    for key, number in (("ops_per_s", side["ops"]), ("bytes_per_s", side["bytes"])):
        _check_rate(at.source, at.place + (key,), side[key], number, side["elapsed_ns"])


def check_thread_ops(at: Any) -> None:
    by_threads = sum(thread["ops"] for thread in at.value["threads"])
    if at.value["threads"] and by_threads != at.value["ops"]:
        raise contradiction(at, ("ops",), f"is {at.value['ops']}, but its threads did {by_threads}")


def _check_rate(source: Source, place: Place, stated: float | None, number: int | None, elapsed_ns: int) -> None:
    if stated is None or number is None or elapsed_ns == 0 and not stated:
        return
    if elapsed_ns == 0:
        raise Contradiction(source, place, f"is {stated:,.10g}, but elapsed_ns is 0")
    due = number * 1e9 / elapsed_ns
    if abs(stated - due) > _ROUNDED + due * max(_RELATIVE, 1 / elapsed_ns):
        what = place[-1].removesuffix("_per_s") if isinstance(place[-1], str) else place[-1]
        raise Contradiction(source, place, f"is {stated:,.10g}, but {what} by elapsed_ns is {due:,.10g}")


def check_count(at: Any) -> None:
    count, ops = at.value["count"], at.repeat["ops"]
    counted = histogram.total(at.value["histogram"])
    if counted != count:
        raise contradiction(at, ("count",), f"is {count}, but its histogram holds {counted}")
    if count > ops:
        raise contradiction(at, ("count",), f"is {count}, but there were {ops} operations")


def check_unbegun(at: Any) -> None:
    """Operations that were never begun are later than all samples; by how much is unknown."""
    latency, unbegun = at.value, at.value.get("unbegun_ops", 0)
    for key in ("max_ns", "mean_ns", "stddev_ns") if unbegun else ():
        if latency[key] is not None:
            raise contradiction(at, (key,), f"is {latency[key]}, but {unbegun} operations were never begun")
    if at.place[-1] == "response_latency" and unbegun != (at.repeat.get("unbegun_ops") or 0):
        raise contradiction(at, ("unbegun_ops",), f"is {unbegun}, but of the repeat it is {at.repeat.get('unbegun_ops')}")


def check_extremes(at: Any) -> None:
    latency = at.value
    least, most = latency["min_ns"], latency["max_ns"]
    if most is not None and least > most:
        raise contradiction(at, ("min_ns",), "is above max_ns")
    found = histogram.from_document(latency["histogram"])
    if found is None:
        return
    first, last = found.lows[0], found.lows[-1]
    most = last + found.width(last) - 1 if most is None else most
    if not first <= least < first + found.width(first):
        raise contradiction(at, ("min_ns",), f"is {least}, but its histogram begins with {first}")
    if most < last or most >= last + found.width(last) and not latency["histogram"].get("saturated"):
        raise contradiction(at, ("max_ns",), f"is {most}, but its histogram ends with {last}")
    if latency["mean_ns"] is not None and not least - _ROUNDED <= latency["mean_ns"] <= most + _ROUNDED:
        raise contradiction(at, ("mean_ns",), f"is {latency['mean_ns']}, not between min_ns and max_ns")


def check_percentiles(at: Any) -> None:
    latency, stated = at.value, at.value["percentiles"]
    _check_ascending(at.source, at.place, stated)
    found = histogram.from_document(latency["histogram"])
    if found is None:
        return
    count, unbegun = latency["count"], latency.get("unbegun_ops", 0)
    last = found.lows[-1]
    most = last + found.width(last) - 1 if latency["max_ns"] is None else latency["max_ns"]
    due = histogram.percentiles(found, [q["p"] for q in stated], latency["min_ns"], most, unbegun)
    for index, (q, ns) in enumerate(zip(stated, due, strict=True)):
        place = ("percentiles", index, "ns")
        if q["ns"] is None:
            continue
        if (count + unbegun) * (1 - q["p"]) < _MIN_BEYOND:
            raise contradiction(at, place, f"is {q['ns']}, but fewer than 10 of {count} operations lie beyond it")
        if (count + unbegun) * q["p"] > count + histogram.RANK_ERROR:
            raise contradiction(at, place, f"is {q['ns']}, but {unbegun} operations were never begun")
        if not _near(q["ns"], ns):
            raise contradiction(at, place, f"is {q['ns']}, but its histogram gives {ns:.3f}")


def _near(stated: float, due: float) -> bool:
    return abs(stated - due) <= _ROUNDED + _RELATIVE * due


def counted_of(point: dict[str, Any]) -> tuple[list[dict[str, Any]], bool]:
    """The repeats that the summary is of, and whether they are complete."""
    complete = [bool(repeat["complete"]) for repeat in point["repeats"]]
    return list(compress(point["repeats"], complete)) or point["repeats"], any(complete)


def check_number(at: Any) -> None:
    counted, complete = counted_of(at.point)
    if at.value["n"] != len(counted):
        kind = "complete repeats" if complete else "repeats"
        raise contradiction(at, ("n",), f"is {at.value['n']}, but there are {len(counted)} {kind}")


def check_sides(at: Any) -> None:
    counted, complete = counted_of(at.point)
    _check_side(at.source, at.place, at.value, counted, complete)
    if at.value.get("reverse"):
        sides = [repeat.get("reverse") or {} for repeat in counted]
        _check_side(at.source, at.place + ("reverse",), at.value["reverse"], sides, complete)


def check_steps(at: Any) -> None:
    counted, complete = counted_of(at.point)
    for index, step in enumerate(at.value.get("steps") or ()):
        of_each = [_step(repeat, step["name"]) for repeat in counted]
        _check_merged(at.source, at.place + ("steps", index, "latency"), step["latency"], of_each, complete)


def check_totals(at: Any) -> None:
    summary, (counted, _) = at.value, counted_of(at.point)
    for key, join in counts().items():
        found = [r[key] for r in counted if r.get(key) is not None]
        _check_total(at.source, at.place, summary, key, join(found or [0]))
    for key in ("checked_bytes", "mismatches", "overwritten_bytes") if summary.get("verify") else ():
        found = [r["verify"][key] for r in counted if r.get("verify") and r["verify"].get(key) is not None]
        _check_total(at.source, at.place + ("verify",), summary["verify"], key, sum(found))


def _check_total(source: Source, place: Place, holder: dict[str, Any], key: str, due: int) -> None:
    stated = holder.get(key)
    if stated is not None and stated != due:
        raise Contradiction(source, place + (key,), f"is {stated}, but its repeats give {due}")


def _step(repeat: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((step["latency"] for step in repeat.get("steps") or () if step["name"] == name), None)


def _check_side(source: Source, place: Place, stated: dict[str, Any], repeats: Repeats, complete: bool) -> None:
    """Rates and latencies of a summary, or of the reverse direction in it."""
    for key in ("ops_per_s", "bytes_per_s"):
        if stated[key]:
            _check_interval(source, place + (key,), stated[key], [r.get(key) for r in repeats], complete)
    for key in LATENCIES:
        _check_merged(source, place + (key,), stated.get(key), [r.get(key) for r in repeats], complete)


def _check_merged(source: Source, place: Place, stated: dict[str, Any] | None,
                  latencies: Sequence[dict[str, Any] | None], complete: bool) -> None:  # fmt: skip
    if not stated:
        return
    known = [latency for latency in latencies if latency and latency["count"]]
    if not known:
        raise Contradiction(source, place, "is stated, but no repeat has it")
    counts: Counter[int] = Counter()
    for latency in known:
        counts.update(dict(zip(*latency["histogram"]["buckets"], strict=True)))
    if counts != dict(zip(*stated["merged_histogram"]["buckets"], strict=True)):
        raise Contradiction(source, place + ("merged_histogram",), "is not the sum of those of its repeats")
    for key, of in _OF_PARTS:
        parts = [latency["histogram"].get(key, 0) for latency in known]
        _check_total(source, place + ("merged_histogram",), stated["merged_histogram"], key, of(parts))
    unbegun = sum(latency.get("unbegun_ops", 0) for latency in known)
    for key, due in (("count", sum(latency["count"] for latency in known)),
                     ("min_ns", min(latency["min_ns"] for latency in known)),
                     ("unbegun_ops", unbegun)):  # fmt: skip
        _check_total(source, place, stated, key, due)
    if unbegun:
        for key in ("max_ns", "mean_ns"):
            if stated.get(key) is not None:
                raise Contradiction(source, place + (key,), f"is stated, but {unbegun} operations were never begun")
    else:
        _check_total(source, place, stated, "max_ns", max(latency["max_ns"] for latency in known))
        means = [latency["mean_ns"] if latency else None for latency in latencies]
        _check_interval(source, place + ("mean_ns",), stated["mean_ns"], means, complete)
    _check_ascending(source, place, stated["percentiles"])
    for index, q in enumerate(stated["percentiles"]):
        values = [_percentile(latency, q["p"]) for latency in latencies]
        _check_interval(source, place + ("percentiles", index), q, values, complete)


def _check_ascending(source: Source, place: Place, percentiles: list[dict[str, Any]]) -> None:
    for index, (q, following) in enumerate(pairwise(percentiles)):
        if not 0 < q["p"] < following["p"] < 1:
            raise Contradiction(source, place + ("percentiles", index, "p"), f"is {q['p']}, and the next one {following['p']}")


def _percentile(latency: dict[str, Any] | None, p: float) -> float | None:
    return next((q["ns"] for q in latency["percentiles"] if q["p"] == p), None) if latency else None


def _check_interval(source: Source, place: Place, stated: dict[str, Any], values: Sequence[float | None],
                    complete: bool) -> None:  # fmt: skip
    """The geometric mean of the repeats and Student's t on logarithms; of a percentile only where all have it."""
    of_percentile = "p" in stated
    keys = ("ns", "lo_ns", "hi_ns") if of_percentile else ("mean", "ci95_low", "ci95_high")
    value, low, high = (stated[key] for key in keys)
    known = [number for number in values if number is not None]
    due = of_repeats(known)
    whole = len(known) == len(values)
    if value is not None and (due is None or (of_percentile and not whole)):
        raise Contradiction(source, place + (keys[0],), f"is {value}, but a repeat lacks it")
    if value is not None and due and not _near(value, due.value):
        raise Contradiction(source, place + (keys[0],), f"is {value}, but its repeats give {due.value:.3f}")
    for key, bound, of in zip(keys[1:], (low, high), (due.low, due.high) if due else (None, None), strict=True):
        if bound is None:
            continue
        if of is None or not due or not (whole and complete):
            few = f"there are fewer than {MIN_VALUES} repeats" if len(known) < MIN_VALUES else "a repeat lacks it"
            raise Contradiction(source, place + (key,), f"is {bound}, but {few}")
        if abs(bound - of) > _ROUNDED + _RELATIVE * of + _T_ERROR * of * abs(math.log(of / due.value)):
            raise Contradiction(source, place + (key,), f"is {bound}, but its repeats give {of:.3f}")
    cv = stated.get("cv")
    if cv is None or not due:
        return
    if due.low is None or not (whole and complete):
        raise Contradiction(source, place + ("cv",), f"is {cv}, but there are fewer than {MIN_VALUES} repeats, or one lacks it")
    spread = stdev(math.log(number) for number in known)
    if abs(cv - spread) > _CV_ERROR * (1 + spread) + 2 * _ROUNDED / min(known):
        raise Contradiction(source, place + ("cv",), f"is {cv}, but its repeats give {spread:.6f}")
