# SPDX-License-Identifier: BSD-3-Clause
"""The drawings of a page: of many points on several processors at once, as each takes its time."""

import os
import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context

from rpma_report.draw import chart
from rpma_report.draw.shape import SHAPES
from rpma_report.figures.figure import Figure

_MANY = 300  # marks; fewer are drawn before a second process is ready


def draw(figures: Sequence[Figure]) -> dict[str, list[str]]:
    """An SVG element in each shape, by the id of the figure."""
    jobs = list(product(figures, SHAPES))
    marks = sum(len(line.marks) for figure in figures for panel in figure.panels for line in panel.lines)
    processors = len(os.sched_getaffinity(0))
    if processors > 1 and marks > _MANY:
        with ProcessPoolExecutor(processors, get_context("fork"), _leave_signals) as pool:
            drawn = list(pool.map(chart.draw, *zip(*jobs, strict=True)))
    else:
        drawn = [chart.draw(figure, shape) for figure, shape in jobs]
    each = len(SHAPES)
    return {figure.id: drawn[i * each : (i + 1) * each] for i, figure in enumerate(figures)}


def _leave_signals() -> None:
    """The program that started it ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
