# SPDX-License-Identifier: BSD-3-Clause
"""Warnings of a result of rpma-bench that follow from its figures: they are there exactly where these ask for them.

Such a warning is an answer to a question on the points. Yes and no contradict a list of warnings that has or lacks it;
unknown, as in a file of an older release that does not have the figure, contradicts neither.
"""

from collections.abc import Callable, Iterator
from typing import Any

from rpma_report.sources.sums import contradiction

_TABLE = (0.5, 0.99, 0.999)  # percentiles of the table
_STALL_NS, _STALL_FACTOR = 10_000_000, 100
_LOAD_MISSED = 0.05  # share of a core
_TAKEN, _TAKEN_NS = 0.05, 50e6
_DRIFT_PPM = 100
_ROUNDED = 1e-5  # what decimals of a file may hide

Document = dict[str, Any]
Answer = bool | None
Question = Callable[[Document], Answer]


def check(at: Any) -> None:
    """A merge of several ranks has the warnings of each, whose figures it does not have."""
    document, run = at.value, at.value["run"]
    told = {warning["code"] for warning in run["warnings"]}
    for code, (question, what) in {} if document.get("ranks") else _RULES.items():
        due = question(document)
        if due is not None and due != (code in told):
            told_so = "lack" if due else "have"
            raise contradiction(at, ("run", "warnings"), f"{told_so} {code}, but {'' if due else 'not '}{what}")


def _points(document: Document) -> list[Document]:
    return list(document["points"])


def _repeats(document: Document) -> Iterator[Document]:
    return (repeat for point in document["points"] for repeat in point["repeats"])


def _interrupted(document: Document) -> Answer:
    return bool(document["run"]["status"] == "interrupted")


def _unsupported(document: Document) -> Answer:
    return bool(document["run"].get("unsupported"))


def _of_summaries(key: str) -> Question:
    def found(document: Document) -> Answer:
        of_rates = [point["summary"].get(key, ...) for point in _points(document) if point["params"]["test"] == "rate"]
        return None if ... in of_rates else any(of_rates)

    return found


def _stalled(document: Document) -> Answer:
    answers = [_stall(point["summary"].get("latency")) for point in _points(document) if point["params"]["test"] == "lat"]
    return True if True in answers else None if None in answers else False


def _stall(latency: Document | None) -> Answer:
    if not latency:
        return False
    if "max_ns" not in latency:
        return None
    median = next((q["ns"] for q in latency["percentiles"] if q["p"] == 0.5), None)
    most = latency["max_ns"] or 0
    if not median or most < _STALL_NS:
        return False
    limit = _STALL_FACTOR * median
    return None if abs(most - limit) <= _ROUNDED * limit else most > limit


def _mismatched(document: Document) -> Answer:
    return any((repeat.get("verify") or {}).get("mismatches") for repeat in _repeats(document))


def _overwritten(document: Document) -> Answer:
    return any((point["summary"].get("verify") or {}).get("overwritten_bytes") for point in _points(document))


def _unsteady(document: Document) -> Answer:
    found = [(repeat.get("warmup") or {}).get("steady", ...) for repeat in _repeats(document)]
    if False in found:
        return True
    of_points = any(point["warmup"]["steady"] is False for point in _points(document))
    return None if ... in found and of_points else of_points


def _saturated(document: Document) -> Answer:
    return any(((repeat["latency"] or {}).get("histogram") or {}).get("saturated") for repeat in _repeats(document))


def _short(document: Document) -> Answer:
    return any(_lacks_percentile(point) for point in _points(document))


def _lacks_percentile(point: Document) -> bool:
    told = (point["summary"]["latency"] or {}).get("percentiles", ())
    return any(q["ns"] is None and q["p"] in _TABLE for q in told) and any(
        repeat["complete"] and (repeat["latency"] or {}).get("count") for repeat in point["repeats"])  # fmt: skip


def _flagged(document: Document) -> Answer:
    return any(point["summary"]["flagged_repeats"] for point in _points(document))


def _load_missed(document: Document) -> Answer:
    """Its server may have warned by itself, so that it is never out of place where a load was asked for."""
    asked = [point for point in _points(document) if point["params"].get("server_load_fraction")]
    return True if any(_missed(point) for point in asked) else None if asked else False


def _missed(point: Document) -> bool:
    told = [((repeat.get("cpu") or {}).get("server") or {}).get("load_fraction_measured") for repeat in point["repeats"]]
    known = [load for load in told if load is not None]
    if len(known) < len(told):
        return True
    return abs(sum(known) / len(known) - point["params"]["server_load_fraction"]) > _LOAD_MISSED + _ROUNDED


def _drifted(document: Document) -> Answer:
    drift = (document["clock"] or {}).get("drift_ppm")
    return drift is not None and abs(drift) > _DRIFT_PPM


def _throttled(document: Document) -> Answer:
    return any(_periods(repeat, end) for repeat in _repeats(document) for end in ("client", "server"))


def _periods(repeat: Document, end: str) -> int:
    return ((repeat.get("cpu_quota") or {}).get(end) or {}).get("throttled_periods") or 0


def _taken(document: Document) -> Answer:
    """Results of older releases have no time of all CPUs."""
    shares = [_share(repeat, end) for repeat in _repeats(document) for end in ("client", "server")]
    if any(share > _TAKEN + _ROUNDED for share in shares if share is not None):
        return True
    return None if None in shares or any(share > _TAKEN - _ROUNDED for share in shares if share is not None) else False


def _share(repeat: Document, end: str) -> float | None:
    seen = (repeat.get("interference") or {}).get(end)
    if not seen:
        return 0
    whole, other = seen.get("all_cpu_ns"), 0 if _periods(repeat, end) else seen["other_cpu_ns"] or 0
    taken = other + (seen["steal_ns"] or 0)
    if taken < _TAKEN_NS:
        return 0
    return taken / whole if whole else None


def _narrow(document: Document) -> Answer:
    """No figure has whether it was reached, but one must have been asked for."""
    return None if any(point["stop"].get("ci") for point in _points(document)) else False


def _persists(document: Document) -> Answer:
    """Nothing is known to persist in memory that is none, and in a pool; in persistent memory the platform decides."""
    persisted = [point for point in _points(document) if point["params"]["persist"] != "none"]
    if any(point["params"]["persist"].startswith("rpmem") for point in persisted):
        return True
    kinds = [(point["params"]["target_memory"] or {}).get("kind") for point in persisted]
    if any(kind in ("dram", "hugepages", "memfile", "otherfile") for kind in kinds):
        return True
    return None if persisted else False


_RULES: dict[str, tuple[Question, str]] = {
    "INTERRUPTED": (_interrupted, "the run was interrupted"),
    "POINT_UNSUPPORTED": (_unsupported, "points were unsupported"),
    "LATE_OPS": (_of_summaries("late_ops"), "operations began late"),
    "RATE_NOT_REACHED": (_of_summaries("unbegun_ops"), "operations were never begun"),
    "STALL_HIDDEN": (_stalled, "a closed loop had one that took 10 ms and 100 times the median"),
    "VERIFY_MISMATCH": (_mismatched, "bytes are wrong"),
    "VERIFY_OVERWRITTEN": (_overwritten, "bytes were written over before they were compared"),
    "NOT_STEADY": (_unsteady, "a warm-up was unsteady"),
    "HISTOGRAM_SATURATED": (_saturated, "a histogram is saturated"),
    "TOO_FEW_SAMPLES": (_short, "a percentile of the table is unknown"),
    "REPEAT_FLAGGED": (_flagged, "a repeat is flagged"),
    "SERVER_LOAD_MISSED": (_load_missed, "the load of the server was another one than asked for"),
    "CLOCK_DRIFT": (_drifted, f"the clock drifted by more than {_DRIFT_PPM} ppm"),
    "CPU_THROTTLED": (_throttled, "an end was stopped for its quota"),
    "CPU_TIME_TAKEN": (_taken, "others took 5 % of the CPU time of an end"),
    "CI_NOT_REACHED": (_narrow, "an interval was asked for"),
    "PERSISTENCE_UNPROVEN": (_persists, "something was flushed to memory that is not known to keep it"),
}  # fmt: skip
