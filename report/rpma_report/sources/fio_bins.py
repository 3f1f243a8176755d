# SPDX-License-Identifier: BSD-3-Clause
"""The bins of fio's json+: which they are, and which percentiles fio writes of them.

fio has 64 bins each power of two, and writes a bin by its middle (plat_idx_to_val in
its stat.c). Its percentile is the middle of the first bin up to which at least that
share of the samples lies (calc_clat_percentiles).
"""

from typing import Any

from rpma_report.model import Histogram
from rpma_report.sources.document import MAX_NUMBER, BadResult, Place, Source, place_text, quoted

SUB_BITS = 6
GROUPS = 29  # powers of two that have bins: what is longer is counted in the last bin (FIO_IO_U_PLAT_GROUP_NR)
NUMBER = GROUPS << SUB_BITS
LAST = (1 << SUB_BITS + GROUPS - 1) - 1  # the longest that has a bin of its own
_BITS = "FIO_IO_U_PLAT_BITS"
_CONSTANTS = frozenset({_BITS, "FIO_IO_U_PLAT_VAL", "FIO_IO_U_PLAT_NR"})  # beside bins by index


def low_of(middle: int) -> int:
    """The lower end of the bin with that middle."""
    shift = max(middle.bit_length() - 1 - SUB_BITS, 0)
    return middle >> shift << shift


def end_of(value: int) -> int:
    """The last value of its bin."""
    shift = max(value.bit_length() - 1 - SUB_BITS, 0)
    return (value >> shift << shift) + (1 << shift) - 1


def low_at(index: int) -> int:
    """The lower end of a bin by its number."""
    shift = max((index >> SUB_BITS) - 1, 0)
    return index if shift == 0 else ((index & (1 << SUB_BITS) - 1) + (1 << SUB_BITS)) << shift


def from_document(source: Source, place: Place, bins: dict[str, Any]) -> Histogram | None:
    counts: dict[int, int] = {}
    lower = _low_by_index if _BITS in bins else low_of
    for key, count in bins.items():
        if key in _CONSTANTS and _BITS in bins:
            continue
        sound = key.isascii() and key.isdigit() and len(key) < 20 and int(key) < MAX_NUMBER
        if not sound or type(count) is not int or not 0 <= count < MAX_NUMBER:
            text = f"is {quoted(count)}: not a bin, a time in ns with a count"
            raise BadResult(source.name, place_text(place + (key,)), text)
        low = lower(int(key))
        counts[low] = counts.get(low, 0) + count
    held = {low: count for low, count in counts.items() if count}
    return Histogram.of(held, SUB_BITS) if held else None


def _low_by_index(index: int) -> int:
    return low_at(min(index, NUMBER - 1))


def percentile(histogram: Histogram, p: float) -> int:
    """The percentile as fio writes it."""
    return _middle_at(histogram, sum(histogram.counts) * p)


def _middle_at(histogram: Histogram, rank: float) -> int:
    below = 0
    for low, count in zip(histogram.lows, histogram.counts, strict=True):
        below += count
        if below >= rank - 1e-6:
            return histogram.middle(low)
    return histogram.middle(histogram.lows[-1])


def agrees(histogram: Histogram, p: float, value: int) -> bool:
    """Agrees by fio's arithmetic, which at the very edge of a bin may take either side."""
    rank = sum(histogram.counts) * p
    return value in (_middle_at(histogram, rank), _middle_at(histogram, rank + 2e-6))
