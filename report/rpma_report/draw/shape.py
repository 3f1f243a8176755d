# SPDX-License-Identifier: BSD-3-Clause
"""The two shapes of each drawing: one for wide windows and paper, one for phones."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """Proportions of one drawing, in points (1/72 inch)."""

    name: str
    width: float
    panel_height: float
    stacked_height: float  # a panel's, when there are several
    font: float
    label_limit: int
    ticks: int
    tick_lines: int  # with 2, a tick's unit stands below its number
    columns: int  # small multiples beside each other
    small_height: float  # for one of them


WIDE = Shape("wide", 640, 268, 190, 11, 100, 12, 1, 4, 78)
NARROW = Shape("narrow", 328, 230, 190, 11, 40, 9, 2, 2, 72)
SHAPES = (WIDE, NARROW)
