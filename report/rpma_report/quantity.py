# SPDX-License-Identifier: BSD-3-Clause
"""Sizes, times, rates and percentiles as people read them.

Sizes are binary (KiB), rates decimal (GB/s), times take the unit that fits.
Unknown is a dash, never 0.
"""

import math

UNKNOWN = "\u2013"

_SIZE_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "\u00b5s"))
_RATE_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def digits(value: float) -> str:
    """At least three significant digits, thousands grouped, no exponent."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    for limit, places in ((10, 1), (1, 2), (0.1, 3)):
        if abs(value) >= limit:
            return f"{value:.{places}f}"
    return f"{value:.2g}"


def short(value: float) -> str:
    """The value in as few digits as it allows: for ticks."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def size(size_bytes: int | None) -> str:
    if size_bytes is None:
        return UNKNOWN
    for factor, unit in _SIZE_UNITS:
        if size_bytes >= factor:
            exact = size_bytes % factor == 0
            number = str(size_bytes // factor) if exact else f"{size_bytes / factor:.4g}"
            return f"{number} {unit}"
    return f"{size_bytes} B"


def time_ns(ns: float | None) -> str:
    if ns is None:
        return UNKNOWN
    for factor, unit in _TIME_UNITS:
        if abs(ns) >= factor:
            return f"{digits(ns / factor)} {unit}"
    return f"{ns:.0f} ns" if ns == int(ns) else f"{ns:.1f} ns"


def time_tick(ns: float) -> str:
    for factor, unit in _TIME_UNITS:
        if abs(ns) >= factor:
            return f"{short(ns / factor)} {unit}"
    return f"{short(ns)} ns" if ns else "0"


def rate(per_s: float | None, unit: str) -> str:
    """`unit` is what is counted: B for bytes, bit, op."""
    if per_s is None:
        return UNKNOWN
    for factor, prefix in _RATE_UNITS:
        if abs(per_s) >= factor:
            return f"{digits(per_s / factor)} {prefix}{unit}/s"
    return f"{digits(per_s)} {unit}/s"


def rate_tick(per_s: float, unit: str) -> str:
    for factor, prefix in _RATE_UNITS:
        if abs(per_s) >= factor:
            return f"{short(per_s / factor)} {prefix}{unit}/s"
    return f"{short(per_s)} {unit}/s" if per_s else "0"


def span(low: str, high: str) -> str:
    """9.8 µs, 11.0 µs: 9.8 – 11.0 µs; the unit stands once when it is the same."""
    number, _, unit = low.partition(" ")
    same = unit and high.endswith(f" {unit}")
    return f"{number if same else low} \u2013 {high}"


def count(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"


def percentile(p: float) -> str:
    """0.999 is p99.9, 0.5 is p50."""
    return f"p{p * 100:.10g}"


def fraction(value: float | None) -> str:
    """0.125 is 12.5 %."""
    return UNKNOWN if value is None else f"{value * 100:.3g} %"


def signed(change: float | None) -> str:
    """+5.2 %; without a sign where it rounds to nothing."""
    if change is None:
        return UNKNOWN
    if not math.isfinite(change):
        return "\u221e"
    percent = change * 100
    text = f"{percent:+,.0f}" if abs(percent) >= 100 else f"{percent:+.1f}"
    return f"{'0.0' if text in ('+0.0', '-0.0') else text} %".replace("-", "\u2212")
