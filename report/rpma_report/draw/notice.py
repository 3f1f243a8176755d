# SPDX-License-Identifier: BSD-3-Clause
"""Texts of a drawing in lines, and the notice above one that leaves its page as a picture."""

import re
import textwrap
from collections.abc import Sequence

from matplotlib.figure import Figure as Drawing
from matplotlib.figure import SubFigure


_UNIT = re.compile(r"(?<=[0-9]) (?=[KMGT]?i?B\b|%|op/s|[a-z\u00b5]?s\b)")


def wrap(text: str, columns: int) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= columns:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def whole(text: str, columns: int) -> list[str]:
    """In lines that keep a number and its unit together; a word that is too long is broken."""
    bound = _UNIT.sub("\u00a0", text)
    return [line.replace("\u00a0", " ") for line in textwrap.wrap(bound, max(columns, 1))]


def write(drawing: Drawing | SubFigure, lines: Sequence[str], share: float, colour: str) -> None:
    """`share` is how much of the height a line takes."""
    for index, text in enumerate(lines):
        drawing.text(0, 1 - (index + 0.5) * share, text, color=colour, fontweight="bold", va="center")
