# SPDX-License-Identifier: BSD-3-Clause
"""The source of a printed number: the file, the point in it, and the figure of the point.

The page writes file and point as data-from on a row, or what else is around, and data-metric
on the element that prints the number, or that has it as data-value, or on the head of its column,
for each cell of a row with data-from that has none; verify reads these and derives the number again. A metric is named as in a result:
latency.p99, response_latency.mean, ops_per_s, param.size_bytes, step.connect.p50.
"""

from dataclasses import dataclass

from rpma_report.model import Point


@dataclass(frozen=True)
class Address:
    file: str
    point: str
    metric: str


def of(point: Point, metric: str) -> Address | None:
    """None where the figure has no name, or the point is of no file of its own."""
    return Address(point.file, point.id, metric) if metric and point.file else None
