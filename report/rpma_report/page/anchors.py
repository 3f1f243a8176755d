# SPDX-License-Identifier: BSD-3-Clause
"""Addresses on a page: the ids of tables and rows, and the names of points.

An id is made of what names the row, not of its number: it stays when a run is
measured again, and when other points come or go.
"""

import re
from collections import Counter

from rpma_report.figures.address import Address
from rpma_report.figures.tables import Row, RowGroup, Table
from rpma_report.page.document import Document

_MAX_SLUG = 80


class Anchors:
    """Ids for one page: the same for the same document, and none twice."""

    def __init__(self, document: Document) -> None:
        figures = document.figures()
        every = [section.id for section in document.sections] + [figure.id for figure in figures]
        self._taken = Counter(every)
        self._files: dict[str, str] = {}  # name by SHA-256; the second of a name has a number
        taken = Counter[str]()
        for sha256, name in dict(document.files).items():
            taken[name] += 1
            self._files[sha256] = name if taken[name] == 1 else f"{name} ({taken[name]})"

    def own(self, text: str) -> str:
        """An id that no other element has."""
        slug = re.sub(r"[^a-z0-9]+", "-", text[:1000].lower()).strip("-")[:_MAX_SLUG].strip("-") or "row"
        self._taken[slug] += 1
        return slug if self._taken[slug] == 1 else self.own(f"{slug}-{self._taken[slug]}")

    def row(self, owner: str, table: Table, group: RowGroup, row: Row) -> str:
        """`owner` is the id of the chart or the section."""
        names = (cell.text[:40] for cell in row[: table.row_headers])
        return self.own(" ".join((owner, group.label[:40], *names)))

    def column(self) -> str:
        """The head of the column of points."""
        return f"point of {next(iter(self._files.values()))}" if len(self._files) == 1 else "point"

    def point(self, at: Address | None) -> str:
        """Names a point on the page, with its file if there are several."""
        if at is None or len(self._files) == 1:
            return at.point if at else ""
        return f"{self._name(at.file)}: {at.point}"

    def _name(self, digits: str) -> str:
        return next((name for sha256, name in self._files.items() if sha256.startswith(digits)), digits)


def has_points(table: Table) -> bool:
    return any(cell.at for group in table.groups for row in group.rows for cell in row)
