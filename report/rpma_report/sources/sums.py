# SPDX-License-Identifier: BSD-3-Clause
"""What a result of rpma-bench holds twice must agree: it is computed here from the parts.

Percentiles follow from histograms, summaries from repeats, rates from counts and times.
Unknown contradicts nothing. Numbers have three decimals in a file, and the tool's
quantiles of Student's t four.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import compress
from typing import Any

from rpma_report.intervals import MIN_VALUES, of_repeats
from rpma_report.sources import histogram
from rpma_report.sources.document import Contradiction, Place, Source
from rpma_report.text import shown

USED = ("persist", "flush", "flush_method", "atomic_write_method", "latency_kind")
LATENCIES = ("latency", "response_latency", "read_latency")
_ROUNDED = 0.0011
_RELATIVE = 1e-9  # for sums and logarithms
_T_ERROR = 1e-3  # share of the half width of an interval
_MIN_BEYOND = 10 - 1e-6

Repeats = Sequence[dict[str, Any]]


def check(source: Source) -> None:
    document = source.document
    for index, point in enumerate(document["points"]):
        place: Place = ("points", index)
        for number, repeat in enumerate(point["repeats"]):
            _check_repeat(source, place + ("repeats", number), repeat, point["params"])
        _check_summary(source, place + ("summary",), point)


def _check_repeat(source: Source, place: Place, repeat: dict[str, Any], params: dict[str, Any]) -> None:
    size = None if params["test"] in ("connect", "register") else params["size_bytes"]
    _check_used(source, place + ("used",), repeat.get("used") or {}, params)
    sides = [(place, repeat), *([(place + ("reverse",), repeat["reverse"])] if repeat.get("reverse") else [])]
    for at, side in sides:
        due = None if size is None else side["ops"] * size
        if mix := params.get("size_mix"):
            sizes = [one["size_bytes"] for one in mix]
            if not side["ops"] * min(sizes) <= side["bytes"] <= side["ops"] * max(sizes):
                raise Contradiction(source, at + ("bytes",), f"is {side['bytes']}, but its sizes cannot make that")
        elif side["bytes"] != due:
            raise Contradiction(source, at + ("bytes",), f"is {side['bytes']}, but ops x size_bytes is {due}")
        for key, number in (("ops_per_s", side["ops"]), ("bytes_per_s", side["bytes"])):
            _check_rate(source, at + (key,), side[key], number, side["elapsed_ns"])
        by_threads = sum(thread["ops"] for thread in side["threads"])
        if side["threads"] and by_threads != side["ops"]:
            raise Contradiction(source, at + ("ops",), f"is {side['ops']}, but its threads did {by_threads}")
        for key in LATENCIES:
            if side.get(key):
                _check_latency(source, at + (key,), side[key], side["ops"])
        if (response := side.get("response_latency")) and response.get("unbegun_ops", 0) != (side.get("unbegun_ops") or 0):
            raise Contradiction(source, at + ("unbegun_ops",), "is not that of its response_latency")
    for index, step in enumerate(repeat.get("steps") or ()):
        if step["latency"]:
            _check_latency(source, place + ("steps", index, "latency"), step["latency"], repeat["ops"])


def _check_used(source: Source, place: Place, used: dict[str, Any], params: dict[str, Any]) -> None:
    for key in USED:
        own, of_point = used.get(key), params.get(key)
        if own is not None and of_point is not None and own != of_point:
            raise Contradiction(source, place + (key,), f"is {shown(own, 40)}, but its point has {shown(of_point)}")


def _check_rate(source: Source, place: Place, stated: float | None, number: int | None, elapsed_ns: int) -> None:
    if not stated or number is None:
        return
    if elapsed_ns == 0:
        raise Contradiction(source, place, f"is {stated:,.10g}, but elapsed_ns is 0")
    due = number * 1e9 / elapsed_ns
    if abs(stated - due) > _ROUNDED + due * max(_RELATIVE, 1 / elapsed_ns):
        what = place[-1].removesuffix("_per_s") if isinstance(place[-1], str) else place[-1]
        raise Contradiction(source, place, f"is {stated:,.10g}, but {what} by elapsed_ns is {due:,.10g}")


def _check_latency(source: Source, place: Place, latency: dict[str, Any], ops: int) -> None:
    count, least, most, unbegun = latency["count"], latency["min_ns"], latency["max_ns"], latency.get("unbegun_ops", 0)
    counted = histogram.total(latency["histogram"])
    if counted != count:
        raise Contradiction(source, place + ("count",), f"is {count}, but its histogram holds {counted}")
    if count > ops:
        raise Contradiction(source, place + ("count",), f"is {count}, but there were {ops} operations")
    for key in ("max_ns", "mean_ns", "stddev_ns") if unbegun else ():
        if latency[key] is not None:
            raise Contradiction(source, place + (key,), f"is {latency[key]}, but {unbegun} operations were never begun")
    if most is not None and least > most:
        raise Contradiction(source, place + ("min_ns",), "is above max_ns")
    found = histogram.from_document(latency["histogram"])
    if found is None:
        return
    first, last = found.lows[0], found.lows[-1]
    most = last + found.width(last) - 1 if most is None else most
    if not first <= least < first + found.width(first):
        raise Contradiction(source, place + ("min_ns",), f"is {least}, but its histogram begins with {first}")
    if most < last or most >= last + found.width(last) and not latency["histogram"].get("saturated"):
        raise Contradiction(source, place + ("max_ns",), f"is {most}, but its histogram ends with {last}")
    if latency["mean_ns"] is not None and not least - _ROUNDED <= latency["mean_ns"] <= most + _ROUNDED:
        raise Contradiction(source, place + ("mean_ns",), f"is {latency['mean_ns']}, not between min_ns and max_ns")
    stated = latency["percentiles"]
    due = histogram.percentiles(found, [q["p"] for q in stated], least, most, unbegun)
    for index, (q, ns) in enumerate(zip(stated, due, strict=True)):
        at = place + ("percentiles", index, "ns")
        if q["ns"] is None:
            continue
        if (count + unbegun) * (1 - q["p"]) < _MIN_BEYOND:
            raise Contradiction(source, at, f"is {q['ns']}, but fewer than 10 of {count} operations lie beyond it")
        if (count + unbegun) * q["p"] > count + histogram.RANK_ERROR:
            raise Contradiction(source, at, f"is {q['ns']}, but {unbegun} operations were never begun")
        if not _near(q["ns"], ns):
            raise Contradiction(source, at, f"is {q['ns']}, but its histogram gives {ns:.3f}")


def _near(stated: float, due: float) -> bool:
    return abs(stated - due) <= _ROUNDED + _RELATIVE * due


def _check_summary(source: Source, place: Place, point: dict[str, Any]) -> None:
    summary, repeats = point["summary"], point["repeats"]
    complete = [bool(repeat["complete"]) for repeat in repeats]
    counted = list(compress(repeats, complete)) or repeats
    if summary["n"] != len(counted):
        kind = "complete repeats" if any(complete) else "repeats"
        raise Contradiction(source, place + ("n",), f"is {summary['n']}, but there are {len(counted)} {kind}")
    _check_side(source, place, summary, counted, any(complete))
    if summary.get("reverse"):
        sides = [repeat.get("reverse") or {} for repeat in counted]
        _check_side(source, place + ("reverse",), summary["reverse"], sides, any(complete))
    for index, step in enumerate(summary.get("steps") or ()):
        of_repeats = [_step(repeat, step["name"]) for repeat in counted]
        _check_merged(source, place + ("steps", index, "latency"), step["latency"], of_repeats, any(complete))
    for key in ("late_ops", "unbegun_ops", "max_lag_ns"):
        found = [r[key] for r in counted if r.get(key) is not None]
        _check_total(source, place, summary, key, max(found, default=0) if key == "max_lag_ns" else sum(found))
    for key in ("checked_bytes", "mismatches", "overwritten_bytes") if summary.get("verify") else ():
        found = [r["verify"][key] for r in counted if r.get("verify") and r["verify"].get(key) is not None]
        _check_total(source, place + ("verify",), summary["verify"], key, sum(found))


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
    for index, q in enumerate(stated["percentiles"]):
        values = [_percentile(latency, q["p"]) for latency in latencies]
        _check_interval(source, place + ("percentiles", index), q, values, complete)


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
