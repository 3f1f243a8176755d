# SPDX-License-Identifier: BSD-3-Clause
"""The colours of the page: enough contrast, and distinct without colour vision."""

import itertools
import math
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import rpma_report
from rpma_report.draw.chart import MARKERS, SERIES_COLOURS, look_of
from rpma_report.figures.figure import MAX_LINES, Line

CSS = (Path(rpma_report.__file__).parent / "templates/page.css").read_text(encoding="utf-8")
SCHEMES = {
    name: {key: value for key, value in re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]{6})", block)}
    for name, block in zip(("light", "dark"), re.findall(r":root \{(.*?)\}", CSS, re.S), strict=True)
}
SERIES = list(SERIES_COLOURS)

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
     ("--alarm", "--paper"), ("--good", "--paper"), ("--alarm", "--alarm-paper"), ("--ink", "--note-paper"), ("--muted", "--note-paper"), ("--ink", "--raised"), ("--link", "--note-paper")],
)  # fmt: skip
def test_text_is_readable(scheme: str, ink: str, paper: str) -> None:
    assert contrast(SCHEMES[scheme][ink], SCHEMES[scheme][paper]) >= 4.5


def lab(rgb: Sequence[float]) -> Colour:
    """CIE L*a*b* under D65 of linear RGB."""
    red, green, blue = (min(max(v, 0), 1) for v in rgb)
    x = (0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047
    y = 0.2126729 * red + 0.7151522 * green + 0.0721750 * blue
    z = (0.0193339 * red + 0.1191920 * green + 0.9503041 * blue) / 1.08883
    fx, fy, fz = (v ** (1 / 3) if v > 216 / 24389 else (24389 / 27 * v + 16) / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def difference(one: Colour, other: Colour) -> float:
    """CIEDE2000, as Sharma, Wu and Dalal (2005) write it."""
    mean_chroma = (math.hypot(*one[1:]) + math.hypot(*other[1:])) / 2
    stretch = 1.5 - 0.5 * math.sqrt(mean_chroma**7 / (mean_chroma**7 + 25**7))
    c1, c2 = (math.hypot(stretch * c[1], c[2]) for c in (one, other))
    h1, h2 = (math.degrees(math.atan2(c[2], stretch * c[1])) % 360 for c in (one, other))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    light, chroma = other[0] - one[0], c2 - c1
    hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    l, c = (one[0] + other[0]) / 2, (c1 + c2) / 2
    h = h1 + turn / 2 if c1 * c2 else h1 + h2
    t = (1 - 0.17 * cosine(h - 30) + 0.24 * cosine(2 * h) + 0.32 * cosine(3 * h + 6) - 0.20 * cosine(4 * h - 63))
    of_light = 1 + 0.015 * (l - 50) ** 2 / math.sqrt(20 + (l - 50) ** 2)
    of_chroma, of_hue = 1 + 0.045 * c, 1 + 0.015 * c * t
    twist = 60 * math.exp(-((((h % 360) - 275) / 25) ** 2))
    rotation = -math.sin(math.radians(twist)) * 2 * math.sqrt(c**7 / (c**7 + 25**7))
    parts = (light / of_light, chroma / of_chroma, hue / of_hue)
    return math.sqrt(sum(p**2 for p in parts) + rotation * parts[1] * parts[2])


def cosine(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def seen_as(colour: str, kind: str) -> Colour:
    light = linear(colour)
    rows = _BLIND.get(kind)
    return lab([sum(r * v for r, v in zip(row, light, strict=True)) for row in rows] if rows else light)


@pytest.mark.parametrize(
    "one, other, known",
    [((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425), ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
     ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
     ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082), ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669)],
)  # fmt: skip
def test_difference_is_that_of_the_published_pairs(one: Colour, other: Colour, known: float) -> None:
    """From table 1 of Sharma, Wu and Dalal."""
    assert difference(one, other) == pytest.approx(known, abs=1e-4)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", ["normal", *_BLIND])
def test_all_colours_of_series_differ_for_everyone(scheme: str, kind: str) -> None:
    """A difference of 20 is ten times what can just be told apart side by side."""
    pairs = itertools.combinations(SERIES, 2)
    apart = {(a, b): difference(*(seen_as(SCHEMES[scheme][name], kind) for name in (a, b))) for a, b in pairs}
    assert min(apart.values()) >= 20, min(apart.items(), key=lambda item: item[1])


def test_no_two_lines_of_a_chart_look_alike() -> None:
    """Series of one colour have other dashes; so have two lines of a series."""
    for variants in (1, 2):
        lines = [Line("", n, (), variant=v) for n in range(MAX_LINES) for v in range(variants)]
        assert len({(look_of(line).colour, look_of(line).dashes) for line in lines}) == len(lines)
    assert len({look_of(Line("", n, ())).marker for n in range(len(MARKERS))}) == len(MARKERS)
