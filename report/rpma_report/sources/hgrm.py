# SPDX-License-Identifier: BSD-3-Clause
"""Percentile files of HdrHistogram, .hgrm: values at percentiles, and how many samples lie up to there.

The file records no unit, so --unit has to state it. A percentile is known
where the file has its row, or where the rows around it have one value; others are not.
The output of wrk2 --latency has such a table within other text.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from rpma_report.model import PERCENTILES, Latency, Run
from rpma_report.sources.document import BadResult
from rpma_report.sources.text import MAX_NS, TextSource, is_supported, point, run_of

KIND = "HdrHistogram percentiles, unit unknown"
SOURCE = "hdr"
UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_TITLES = re.compile(r"\s*Value\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)\s*")
_ROW = re.compile(r"\s*([0-9]{1,19}(?:\.[0-9]{1,9})?)\s+([01]\.[0-9]{1,15})\s+([0-9]{1,18})(?:\s+(?:[0-9]{1,18}\.[0-9]{1,9}|inf|Infinity))?\s*", re.ASCII)
_MEAN = re.compile(r"#\[Mean\s*=\s*([0-9]{1,19}(?:\.[0-9]{1,9})?)\s*,.*", re.ASCII)
_MOST = re.compile(r"#\[Max\s*=\s*([0-9]{1,19}(?:\.[0-9]{1,9})?)\s*,\s*Total count\s*=\s*([0-9]{1,18})\s*\]", re.ASCII)
_WRK2 = re.compile(r"^\s*Detailed Percentile spectrum:", re.MULTILINE)
_MAX_ROWS = 1_000_000
_UNKNOWN = (
    "An .hgrm file records no unit, no time and no buckets between its rows. Not in the file: operation, size, depth, "
    "device, errors, whether data was persistent, and repeats."
)

Row = tuple[float, float, int]  # value, share, samples up to there


def is_one(text: str) -> bool:
    spectrum = _WRK2.search(text[:20_000])
    begin = spectrum.end() if spectrum else 0
    return any(_TITLES.fullmatch(line.rstrip("\r")) for line in text[begin : begin + 4000].split("\n")[:20])


def check(source: TextSource) -> None:
    _read(source)


def run(source: TextSource, unit: str | None = None) -> Run:
    if unit is None:
        raise BadResult(source.name, "", "has no unit of its values, expected --unit ns, us, ms or s")
    rows, mean = _read(source)
    latency = _latency(rows, mean, UNITS[unit])
    points = [point("all", SOURCE, "all", latency, latency.count)]
    return run_of(source, "HdrHistogram", "HdrHistogram", points, f"{_UNKNOWN} The unit {unit} was stated.")


def _read(source: TextSource) -> tuple[list[Row], float]:
    rows: list[Row] = []
    mean, titled, number = None, False, 1
    around = _WRK2.search(source.text[:20_000]) is not None
    for number, line in source.lines():
        if match := _MEAN.fullmatch(line.strip()):
            mean = float(match[1])
        elif match := _MOST.fullmatch(line.strip()):
            _check_end(source, number, match, rows)
        elif line.lstrip().startswith("#") or not line.strip():
            continue
        elif around and mean is not None:
            break  # wrk2 prints more behind its table
        elif not titled:
            titled = bool(_TITLES.fullmatch(line))
            if not titled and not around:
                source.expected(number, "the titles Value, Percentile, TotalCount, 1/(1-Percentile)", line[:60])
        else:
            rows.append(_row(source, number, line, rows[-1] if rows else (0.0, 0.0, 0)))
    if not rows or rows[-1][1] != 1.0:
        source.refuse(number, "expected a last row of percentile 1, the file is cut off")
    if rows[-1][2] == 0:
        source.refuse(number, "expected samples, the total count is 0")
    if mean is None:
        source.refuse(number, "expected a line #[Mean = ..., the file is cut off")
    if not rows[0][0] - 0.01 <= mean <= rows[-1][0] + 0.01:
        source.contradicts(number, f"the mean is {mean:g}, but the rows go from {rows[0][0]:g} to {rows[-1][0]:g}")
    return rows, mean


def _check_end(source: TextSource, number: int, told: re.Match[str], rows: list[Row]) -> None:
    """The last row is the maximum, up to which all samples lie; a value is that of the end of its bucket."""
    if not rows:
        return
    if int(told[2]) != rows[-1][2]:
        source.contradicts(number, f"the total count is {told[2]}, but the last row has {rows[-1][2]}")
    if abs(float(told[1]) - rows[-1][0]) > 0.01 * rows[-1][0] + 0.01:
        source.contradicts(number, f"the maximum is {told[1]}, but the last row has {rows[-1][0]:g}")


def _row(source: TextSource, number: int, line: str, before: Row) -> Row:
    match = _ROW.fullmatch(line)
    if match is None:
        source.expected(number, "value, percentile, total count and 1/(1-percentile)", line[:60])
    row = (float(match[1]), float(match[2]), int(match[3]))
    if row[1] > 1:
        source.refuse(number, f"expected a percentile from 0 to 1, found {match[2]}")
    if row[0] < before[0] or row[1] < before[1] or row[2] < before[2]:
        source.refuse(number, "expected value, percentile and count not below those of the row before")
    if number > _MAX_ROWS:
        source.refuse(number, f"expected at most {_MAX_ROWS:,} rows")
    return row


def _latency(rows: list[Row], mean: float, scale: float) -> Latency:
    total = rows[-1][2]
    known = {share: min(value * scale, MAX_NS) for share, value in _known(rows) if is_supported(total, share)}
    least, most, middle = (min(value * scale, MAX_NS) for value in (rows[0][0], rows[-1][0], mean))
    return replace(Latency.once(total, round(least), round(most), middle, known), means_by_repeat=())


def _known(rows: list[Row]) -> Iterator[tuple[float, float]]:
    """Rows, and what lies between two that are equal."""
    yield from ((share, value) for value, share, _ in rows if 0 < share < 1)
    for (low, begin, _), (high, end, _) in pairwise(rows):
        if low == high:
            yield from ((p, low) for p in PERCENTILES if begin < p < end)
