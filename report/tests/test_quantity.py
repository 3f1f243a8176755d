# SPDX-License-Identifier: BSD-3-Clause
"""Sizes, times, rates and percentiles as text."""

import pytest

from rpma_report import quantity


@pytest.mark.parametrize(
    "size_bytes, text",
    [(1, "1 B"), (64, "64 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"),
     (4096, "4 KiB"), (1 << 20, "1 MiB"), (3 << 30, "3 GiB"), (1 << 40, "1 TiB"), (None, "–")],
)  # fmt: skip
def test_size_is_binary(size_bytes: int | None, text: str) -> None:
    assert quantity.size(size_bytes) == text


@pytest.mark.parametrize(
    "ns, text",
    [(0, "0 ns"), (7, "7 ns"), (18.25, "18.2 ns"), (999, "999 ns"), (1000, "1.00 µs"),
     (2390, "2.39 µs"), (12_345, "12.3 µs"), (123_456, "123 µs"), (1_670_000, "1.67 ms"),
     (5e9, "5.00 s"), (5e12, "5,000 s"), (None, "–")],
)  # fmt: skip
def test_time_takes_the_unit_that_fits(ns: float | None, text: str) -> None:
    assert quantity.time_ns(ns) == text


@pytest.mark.parametrize(
    "per_s, unit, text",
    [(0, "B", "0 B/s"), (999, "op", "999 op/s"), (28.6e6, "B", "28.6 MB/s"),
     (12.5e9, "B", "12.5 GB/s"), (100e9, "bit", "100 Gbit/s"), (None, "B", "–")],
)  # fmt: skip
def test_rate_is_decimal(per_s: float | None, unit: str, text: str) -> None:
    assert quantity.rate(per_s, unit) == text


@pytest.mark.parametrize(
    "p, text", [(0.5, "p50"), (0.99, "p99"), (0.999, "p99.9"), (0.999999, "p99.9999")]
)
def test_percentile_name(p: float, text: str) -> None:
    assert quantity.percentile(p) == text


@pytest.mark.parametrize(
    "low, high, text",
    [("9.80 µs", "9.81 µs", "9.80 – 9.81 µs"), ("999 µs", "1.00 ms", "999 µs – 1.00 ms")],
)
def test_span_names_a_common_unit_once(low: str, high: str, text: str) -> None:
    assert quantity.span(low, high) == text
