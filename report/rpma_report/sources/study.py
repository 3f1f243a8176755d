# SPDX-License-Identifier: BSD-3-Clause
"""The key "study" of a result: which side of which pair the file is.

study --ab writes it into results of rpma-bench and of fio.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from rpma_report.model import Point, StudyRun
from rpma_report.text import shown


def mark(document: dict[str, Any], points: Iterable[Point]) -> tuple[Point, ...]:
    """The points with the place of their file in the study, if it has one."""
    told = document.get("study")
    found = _run(told) if isinstance(told, dict) else None
    return tuple(replace(point, study_run=found) for point in points)


def _run(told: dict[str, Any]) -> StudyRun | None:
    """None for what study --ab does not write: such a file proves no pairing."""
    study, pair, side, order = (told.get(key) for key in ("id", "pair", "side", "order"))
    disturbed = told.get("disturbed")
    if not isinstance(study, str) or type(pair) is not int or type(order) is not int:
        return None
    if side not in ("A", "B") or not isinstance(disturbed, bool):
        return None
    return StudyRun(shown(study, 60), pair, side, order, disturbed)
