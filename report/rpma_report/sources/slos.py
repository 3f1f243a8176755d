# SPDX-License-Identifier: BSD-3-Clause
"""The limits of --slo in a result of rpma-bench follow from its points: they are judged here again."""

import re
from collections.abc import Callable
from operator import ge, gt, le, lt
from typing import Any

from rpma_report.sources import sums
from rpma_report.sources.document import Contradiction, Place, Source, quoted

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SLO = re.compile(rf"\s*(?:([a-z]+):)?\s*([a-z0-9_.]+)\s*([<>]=?)\s*({_NUMBER})\s*([kMG]|[num]?s)?\s*", re.ASCII)
_FACTORS = {"k": 1e3, "M": 1e6, "G": 1e9, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
_HOLDS = {"<": lt, "<=": le, ">": gt, ">=": ge}
_LATENCIES = {"lat": "latency", "read": "read_latency", "response": "response_latency", "reverse": "latency"}
_ROUNDED = 0.0011  # numbers have three decimals in a file


def check(source: Source) -> None:
    """Limits of metrics that are not known here are those of a newer rpma-bench."""
    points = source.document["points"]
    for index, slo in enumerate(source.document["run"].get("slos") or ()):
        place: Place = ("run", "slos", index)
        parsed = _SLO.fullmatch(slo["slo"])
        check_asked(source, place + ("slo",), "--slo", slo["slo"])
        if [judged["id"] for judged in slo["points"]] != [point["id"] for point in points]:
            raise Contradiction(source, place + ("points",), "are not those of the result")
        for number, (judged, point) in enumerate(zip(slo["points"], points, strict=True)):
            _check_point(source, place + ("points", number), judged, point, parsed)
        all_missed = [judged["missed"] for judged in slo["points"] if judged.get("applies", True)]
        unknown = None in all_missed or not all_missed
        missed = True if True in all_missed else None if unknown else False
        _agree(source, place + ("missed",), slo["missed"], missed, "its points give")


def _check_point(source: Source, place: Place, judged: dict[str, Any], point: dict[str, Any],
                 parsed: re.Match[str] | None) -> None:  # fmt: skip
    if parsed and parsed[1]:
        applies = point["params"]["test"] == parsed[1]
        _agree(source, place + ("applies",), judged.get("applies", True), applies, "its test gives")
        if not applies:
            _agree(source, place + ("value",), judged["value"], None, "a limit of another test has")
            _agree(source, place + ("missed",), judged["missed"], False, "a limit of another test gives")
            return
    value, due = judged["value"], _figure(point, _metric(parsed)) if parsed else ...
    if parsed is None or due is ...:
        return
    _check_value(source, place, value, due)
    limit = _limit(parsed)
    if value is None or abs(value - limit) > _ROUNDED or value == due == limit:
        missed = _missed(point, _metric(parsed), value, _HOLDS[parsed[3]], limit)
        _agree(source, place + ("missed",), judged["missed"], missed, "its value gives")


def check_asked(source: Source, place: Place, option: str, text: str) -> None:
    """A limit in a plan, or in the journal of a run that was resumed, is in no argv."""
    argv = source.document["run"]["argv"]
    elsewhere = any(word.startswith(("--plan", "--res")) for word in argv)
    if not elsewhere and any(word.startswith(option) for word in argv) and not any(text in word for word in argv):
        raise Contradiction(source, place, f"is {quoted(text)}, which run.argv does not have")


def _check_value(source: Source, place: Place, value: float | None, due: float | None) -> None:
    if value is None or due is None or abs(value - due) > _ROUNDED + 1e-9 * abs(due):
        _agree(source, place + ("value",), value, due, "its point has")


def check_value(source: Source, place: Place, limit: str, value: float | None, point: dict[str, Any]) -> None:
    """That of a limit, such as response.p99<1ms, at a point."""
    parsed = _SLO.fullmatch(limit)
    due = _figure(point, _metric(parsed)) if parsed else ...
    if due is not ...:
        _check_value(source, place, value, due)


def holds(limit: str, value: float | None) -> bool | None:
    """None: not known, or so near the limit that rounding decides."""
    parsed = _SLO.fullmatch(limit)
    if parsed is None or value is None or abs(value - _limit(parsed)) <= _ROUNDED:
        return None
    return bool(_HOLDS[parsed[3]](value, _limit(parsed)))


def _limit(parsed: re.Match[str]) -> float:
    return float(parsed[4]) * _FACTORS.get(parsed[5], 1)


def _missed(point: dict[str, Any], metric: str, value: float | None, holds: Callable[..., bool], limit: float) -> bool | None:
    """None, not known, where the figure does not cover all that was planned and what it leaves out can change the verdict."""
    counted, summary = [r for r in point["repeats"] if r["complete"]], point["summary"]
    side, _, name = metric.partition(".")
    unbegun = (summary.get("unbegun_ops") or 0) > 0
    at_least = unbegun and metric in ("late_ops", "max_lag_ns")
    if side in _LATENCIES and name not in ("ops_per_s", "bytes_per_s"):
        holders = [(r.get("reverse") or {}) if side == "reverse" else r for r in counted]
        if unbegun and side != "response" or not all(h.get(_LATENCIES[side]) for h in holders):
            return None
        if value is None:
            at_least, value = True, _least(point, _holder(summary, side), name)
    elif metric == "verify.mismatches":
        at_least = any((r.get("verify") or {}).get("mismatches") is None for r in counted)
    elif side == "reverse":
        if any((r.get("reverse") or {}).get(name) is None for r in counted):
            return None
    elif any(r.get(metric) is None for r in counted):
        return None
    if value is None or not counted:
        return None
    held = holds(value, limit)
    if at_least and held is not (holds in (gt, ge)):
        return None
    return not held


def _holder(summary: dict[str, Any], side: str) -> dict[str, Any]:
    holder = (summary.get("reverse") or {}) if side == "reverse" else summary
    return holder.get(_LATENCIES[side]) or {}


def _least(point: dict[str, Any], latency: dict[str, Any], name: str) -> float | None:
    """A quantile or maximum that is not known is not below a quantile that is, and what was never begun waited as long as the plan."""
    match = re.fullmatch(r"p(\d{1,2}(?:\.\d{1,6})?)_ns", name, re.ASCII)
    p = float(match[1]) / 100 if match else 1.0 if name == "max_ns" else 0.0
    known = [q["ns"] for q in latency.get("percentiles", ()) if q["ns"] is not None and q["p"] < p]
    if p > 0 and latency.get("unbegun_ops") and (plan := point["stop"]["duration_ns"]) is not None:
        known.append(plan)
    return max(known, default=None)


def _metric(parsed: re.Match[str]) -> str:
    """A limit such as 5us is that of lat.p50_ns where the text has lat.p50."""
    return f"{parsed[2]}_ns" if (parsed[5] or "").endswith("s") else parsed[2]


def _agree(source: Source, place: Place, stated: Any, due: Any, why: str) -> None:
    if stated != due:
        raise Contradiction(source, place, f"is {quoted(stated)}, but {why} {quoted(due)}")


def _figure(point: dict[str, Any], metric: str) -> Any:
    """The value of a name such as lat.p99.9_ns or reverse.ops_per_s; ... for others, None where it is not known."""
    summary = point["summary"]
    side, _, name = metric.partition(".") if "." in metric else ("", "", metric)
    holder = summary.get("reverse") if side == "reverse" else summary
    if name in ("ops_per_s", "bytes_per_s") and side in ("", "reverse"):
        found = ((holder or {}).get(name) or {}).get("mean")
    elif metric in sums.counts():
        found = summary.get(metric)
    elif metric == "verify.mismatches":
        found = (summary.get("verify") or {}).get("mismatches")
    elif side in _LATENCIES:
        found = _of_latency((holder or {}).get(_LATENCIES[side]) or {}, name)
    else:
        return ...
    return found if found is ... or any(repeat["complete"] for repeat in point["repeats"]) else None


def _of_latency(latency: dict[str, Any], name: str) -> Any:
    if name in ("min_ns", "max_ns"):
        return latency.get(name, ...)  # files of older versions have none
    if name == "mean_ns":
        return (latency.get(name) or {}).get("mean")
    match = re.fullmatch(r"p(\d{1,2}(?:\.\d{1,6})?)_ns", name, re.ASCII)
    if match is None:
        return ...
    found = (q["ns"] for q in latency.get("percentiles", ()) if abs(q["p"] - float(match[1]) / 100) < 1e-12)
    return next(found, None)
