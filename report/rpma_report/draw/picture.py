# SPDX-License-Identifier: BSD-3-Clause
"""Figures as PNG files, each with its notice, and the light colours of the page for what is on paper."""

import io
import re
from functools import cache
from importlib import resources

from matplotlib.backends.backend_agg import FigureCanvasAgg

from rpma_report.draw.chart import laid_out
from rpma_report.draw.shape import WIDE
from rpma_report.figures.figure import Figure

_DPI = 144


@cache
def light_colours() -> dict[str, str]:
    """The first :root of the style sheet."""
    css = resources.files("rpma_report").joinpath("templates/page.css").read_text(encoding="utf-8")
    first = css[css.index(":root") :]
    return dict(re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]{6})", first[: first.index("}")]))


def png(figure: Figure) -> bytes:
    out = io.BytesIO()
    settings = {"savefig.facecolor": light_colours()["--paper"]}
    with laid_out(figure, WIDE, light_colours(), settings, marked=True) as drawing:
        drawing.set_facecolor(light_colours()["--paper"])
        drawing.set_dpi(_DPI)
        FigureCanvasAgg(drawing).print_png(out, metadata={"Software": None})
    return out.getvalue()
