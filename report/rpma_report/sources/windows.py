# SPDX-License-Identifier: BSD-3-Clause
"""Time series of repeats, as rpma-bench writes them: "intervals", spans one after the other.

Like histograms they are taken out of the document before the general check, which is
too slow for hundreds of them in each repeat, and checked here.
"""

from array import array
from collections.abc import Iterator
from typing import Any

from rpma_report.model import Windows
from rpma_report.sources.document import MAX_NUMBER, BadResult, Place, Source, place_text

_NEEDED = ("t_ns", "ops", "bytes")
_OPTIONAL = ("p50_ns", "p99_ns", "max_ns")

Taken = list[tuple[dict[str, Any], Place, list[Any]]]


def take(document: dict[str, Any]) -> Taken:
    return list(_take(document.get("points")))


def _take(points: Any) -> Iterator[tuple[dict[str, Any], Place, list[Any]]]:
    for number, point in enumerate(points if isinstance(points, list) else ()):
        repeats = point.get("repeats") if isinstance(point, dict) else None
        for index, repeat in enumerate(repeats if isinstance(repeats, list) else ()):
            if isinstance(repeat, dict) and isinstance(repeat.get("intervals"), list):
                place = ("points", number, "repeats", index, "intervals")
                yield repeat, place, repeat["intervals"]
                repeat["intervals"] = []


def give_back(source: Source, taken: Taken) -> None:
    for repeat, place, spans in taken:
        last = -1
        for index, span in enumerate(spans):
            if not _sound(span) or span["t_ns"] <= last:
                text = "is not a span of the repeat: t_ns, ops and bytes, in the order of t_ns"
                raise BadResult(source.name, place_text(place + (index,)), text)
            last = span["t_ns"]
        repeat["intervals"] = spans


def _sound(span: Any) -> bool:
    if not isinstance(span, dict):
        return False
    for key in _NEEDED:
        value = span.get(key)
        if type(value) is not int or not 0 <= value < MAX_NUMBER:
            return False
    for key in _OPTIONAL:
        value = span.get(key)
        if value is not None and (type(value) is not int or not 0 <= value < MAX_NUMBER):
            return False
    return True


def from_document(spans: list[dict[str, Any]]) -> Windows | None:
    if not spans:
        return None
    begins = [0, *(s["t_ns"] for s in spans)]
    rates = (s["ops"] * 1e9 / max(s["t_ns"] - begin, 1) for s, begin in zip(spans, begins, strict=False))
    return Windows(
        array("q", (s["t_ns"] for s in spans)),
        array("d", rates),
        array("d", (_or_nan(s.get("p50_ns")) for s in spans)),
        array("d", (_or_nan(s.get("p99_ns")) for s in spans)),
        array("d", (_or_nan(s.get("max_ns")) for s in spans)),
    )


def _or_nan(value: int | None) -> float:
    return float("nan") if value is None else value
