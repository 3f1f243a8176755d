# SPDX-License-Identifier: BSD-3-Clause
"""A number as a page prints it: its value in the unit of a result, and how far it may be rounded."""

import re
from dataclasses import dataclass

_FORM = re.compile(r"([-+\u2212]?)([0-9][0-9,]*)(\.[0-9]+)?(?:e([-+]?[0-9]{1,3}))?(?: ?(\D.*))?", re.ASCII)
_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_UNITS = {
    "": 1.0, "ns": 1.0, "\u00b5s": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01,
    "B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
    **{f"{prefix}{unit}/s": factor for prefix, factor in _PREFIXES.items() for unit in ("B", "bit", "op")},
}  # fmt: skip
NUMBER = re.compile(r"[-+\u2212]?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?", re.ASCII)


@dataclass(frozen=True)
class Printed:
    value: float
    half: float  # half a unit of its last digit

    def is_of(self, value: float) -> bool:
        """Can the value have been rounded to it?"""
        return abs(self.value - value) <= self.half * (1 + 1e-9) + 1e-12 * abs(value)


def parse(text: str) -> Printed | None:
    """None if it is not a number with a unit that a table has."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        return None
    sign, whole, decimals, exponent, unit = match.groups()
    factor = _UNITS.get((unit or "").strip())
    if factor is None:
        return None
    scale = factor * 10.0 ** int(exponent or 0)
    value = float(whole.replace(",", "") + (decimals or "")) * scale
    half = 0.5 * 10.0 ** -(len(decimals or ".") - 1) * scale
    return Printed(value if sign in ("", "+") else -value, half)


def interval(text: str) -> tuple[Printed, Printed] | None:
    """9.8 – 11.0 µs: a unit that stands once is that of both."""
    low, dash, high = text.partition(" \u2013 ")
    first, second = parse(low), parse(high)
    if not dash or second is None:
        return None
    unit = high.partition(" ")[2]
    if " " not in low and unit:
        first = parse(f"{low} {unit}")
    return (first, second) if first else None
