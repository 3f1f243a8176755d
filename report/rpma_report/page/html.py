# SPDX-License-Identifier: BSD-3-Clause
"""A document as one HTML page that needs no network and no other file.

The template escapes everything; only two things are marked safe: our own style
sheet, and the SVG that svg.for_page wrote from a parsed document.
"""

import jinja2
from markupsafe import Markup

from rpma_report import __version__
from rpma_report.draw import chart
from rpma_report.draw.shape import SHAPES
from rpma_report.figures.figure import Figure
from rpma_report.page.document import Block, Document
from rpma_report.text import shown

MAX_TITLE = 80  # characters of the subject; the page has all of it in its first sentence


def render(document: Document) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rpma_report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    style = environment.loader.get_source(environment, "page.css")[0]  # type: ignore[union-attr]
    return environment.get_template("page.html").render(
        version=__version__,
        style=Markup(style),
        title=f"{shown(document.subject, MAX_TITLE)}: {document.title}",
        page=document,
        kind=_kind,
        drawings=_drawings,
    )


def _kind(block: Block) -> str:
    return type(block).__name__


def _drawings(figure: Figure) -> list[Markup]:
    return [Markup(chart.draw(figure, shape)) for shape in SHAPES]
