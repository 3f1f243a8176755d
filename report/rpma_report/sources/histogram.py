# SPDX-License-Identifier: BSD-3-Clause
"""Histograms as the tools write them: sparse [low_ns, count] pairs, a log-linear scheme.

They are most of a file, so they are taken out of it before the general check, which
is too slow for them, and checked here.
"""

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

from rpma_report.model import Histogram, Integers
from rpma_report.sources.document import MAX_NUMBER, BadResult, Source, nested, place_text, values

RANK_ERROR = 1e-6  # a rank that is whole but for rounding is whole

Taken = list[tuple[dict[str, Any], list[Any]]]


def take(document: Any) -> Taken:
    """The buckets of all histograms, which have none afterwards."""
    taken: Taken = []
    for value in values(document):
        if isinstance(value, dict) and "sub_bits" in value and isinstance(value.get("buckets"), list):
            taken.append((value, value["buckets"]))
            value["buckets"] = []
    return taken


def give_back(source: Source, taken: Taken) -> None:
    """Puts them where they were, as two arrays: lows and counts."""
    for histogram, buckets in taken:
        histogram["buckets"] = _checked(source, histogram, buckets)


def _checked(source: Source, histogram: dict[str, Any], buckets: list[Any]) -> tuple[Integers, Integers]:
    try:
        if set(map(type, buckets)) <= {list} and set(map(len, buckets)) <= {2}:
            flat = list(chain.from_iterable(buckets))
            if set(map(type, flat)) <= {int}:
                lows, counts = array("q", flat[::2]), array("q", flat[1::2])
                if _ascending(lows) and min(counts, default=1) > 0:
                    return lows, counts
    except OverflowError:
        pass
    index = next(i for i in range(len(buckets)) if not _sound(buckets, i))
    text = "is not an ascending [low_ns, count] pair of integers"
    place = next(place for value, place in nested(source.document) if value is histogram)
    raise BadResult(source.name, place_text(place + ("buckets", index)), text)


def _ascending(lows: Integers) -> bool:
    ordered = lows.tolist()
    return (not ordered or ordered[0] >= 0) and all(map(int.__lt__, ordered, ordered[1:]))


def _sound(buckets: list[Any], index: int) -> bool:
    """Bucket `index`, after one that is sound."""
    last = buckets[index - 1][0] if index else -1
    bucket = buckets[index]
    if not isinstance(bucket, list) or [type(v) for v in bucket] != [int, int]:
        return False
    return bool(last < bucket[0] < MAX_NUMBER and 0 < bucket[1] < MAX_NUMBER)


def total(histogram: dict[str, Any]) -> int:
    return sum(histogram["buckets"][1])


def from_document(histogram: dict[str, Any]) -> Histogram | None:
    lows, counts = histogram["buckets"]
    return Histogram(lows, counts, histogram["sub_bits"]) if lows else None


def percentile(histogram: Histogram, p: float, least: int, most: int) -> float:
    """Interpolated inside its bucket, by the rule in the schema of rpma-bench."""
    return percentiles(histogram, [p], least, most)[0]


def percentiles(histogram: Histogram, shares: Sequence[float], least: int, most: int, unbegun: int = 0) -> list[float]:
    """A sample of k ns stands for k -+ 0.5; the extremes bound the first and the last bucket. Beyond are the unbegun."""
    up_to, found = list(accumulate(histogram.counts)), []
    for p in shares:
        due = p * (up_to[-1] + unbegun)
        at = min(bisect_left(up_to, due - RANK_ERROR), len(up_to) - 1)
        low, count = histogram.lows[at], histogram.counts[at]
        begin = max(low, least) - 0.5
        end = (most + 1 if at == len(up_to) - 1 else low + histogram.width(low)) - 0.5
        share = min((due - (up_to[at] - count)) / count, 1)
        found.append(min(max(begin + (end - begin) * share, least), most))
    return found
