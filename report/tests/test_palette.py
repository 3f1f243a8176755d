# SPDX-License-Identifier: BSD-3-Clause
"""The colours of the page: enough contrast, and distinct without colour vision."""

import itertools
import re
from pathlib import Path

import pytest

import rpma_report
from rpma_report.draw.chart import MARKERS, SERIES_COLOURS

CSS = (Path(rpma_report.__file__).parent / "templates/page.css").read_text(encoding="utf-8")
SCHEMES = {
    name: {key: value for key, value in re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]{6})", block)}
    for name, block in zip(("light", "dark"), re.findall(r":root \{(.*?)\}", CSS, re.S), strict=True)
}
SERIES = [f"--s{i}" for i in range(1, 8)]

Colour = tuple[float, float, float]

# Vienot, Brettel, Mollon 1999: what a protanope and a deuteranope see of linear RGB.
_BLIND: dict[str, tuple[Colour, Colour, Colour]] = {
    "protan": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    "deutan": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
}


def linear(colour: str) -> Colour:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return red, green, blue


def contrast(one: str, other: str) -> float:
    """WCAG 2: (lighter + 0.05) / (darker + 0.05)."""
    lights = []
    for colour in (one, other):
        red, green, blue = linear(colour)
        lights.append(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lines_stand_out_from_the_paper(scheme: str) -> None:
    colours = SCHEMES[scheme]
    low = {s: contrast(colours[s], colours["--paper"]) for s in SERIES}
    assert min(low.values()) >= 3, low


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "ink, paper",
    [("--ink", "--paper"), ("--muted", "--paper"), ("--muted", "--raised"), ("--link", "--paper"),
     ("--alarm", "--paper"), ("--alarm", "--alarm-paper"), ("--ink", "--note-paper")],
)  # fmt: skip
def test_text_is_readable(scheme: str, ink: str, paper: str) -> None:
    assert contrast(SCHEMES[scheme][ink], SCHEMES[scheme][paper]) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", _BLIND)
def test_first_series_differ_for_the_colour_blind(scheme: str, kind: str) -> None:
    """The first four are all that most charts need; the markers tell the others apart."""
    seen = []
    for name in SERIES[:4]:
        red, green, blue = linear(SCHEMES[scheme][name])
        rows = _BLIND[kind]
        light = [max(r[0] * red + r[1] * green + r[2] * blue, 0) for r in rows]
        seen.append([value ** (1 / 2.4) for value in light])
    for one, other in itertools.combinations(range(4), 2):
        apart = sum((a - b) ** 2 for a, b in zip(seen[one], seen[other], strict=True)) ** 0.5
        assert apart > 0.1, (SERIES[one], SERIES[other], apart)


def test_no_two_series_of_a_chart_look_alike() -> None:
    pairs = {(i % len(SERIES_COLOURS), i % len(MARKERS)) for i in range(56)}
    assert len(pairs) == 56
