# SPDX-License-Identifier: BSD-3-Clause
"""A document as one HTML page that needs no network and no other file.

The template escapes everything; only four things are marked safe: our own style
sheet and script, the JSON that chart_values escaped, and the SVG that
svg.for_page wrote from a parsed document. The page's policy lets the browser run
that one script and nothing else.
"""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from itertools import groupby

import jinja2
from markupsafe import Markup

from rpma_report import __version__
from rpma_report.page import chart_values, drawings
from rpma_report.page.anchors import Anchors, has_points
from rpma_report.page.document import Block, Document, Section
from rpma_report.text import shown

MAX_TITLE = 80  # characters of the subject; the page has all of it in its first sentence


@cache
def _environment() -> jinja2.Environment:
    """It keeps the template that it compiled."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("rpma_report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(document: Document) -> str:
    environment = _environment()

    def own(name: str) -> str:
        assert environment.loader is not None
        return environment.loader.get_source(environment, name)[0]

    anchors, script = Anchors(document), "\n" + own("page.js")
    return environment.get_template("page.html").render(
        version=__version__,
        style=Markup(own("page.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        values=Markup(chart_values.render(document, anchors)),
        title=f"{shown(document.subject, MAX_TITLE)}: {document.title}",
        page=document,
        anchors=anchors,
        has_points=has_points,
        kind=_kind,
        alone=_alone(document.sections),
        drawings={id: list(map(Markup, drawn)) for id, drawn in drawings.draw(document.figures()).items()},
    )


def _alone(sections: Sequence[Section]) -> set[str]:
    """Charts, and sections of one, that have no neighbour where two stand beside each other."""
    found = set[str]()
    for one_each, group in groupby(sections, lambda section: len(section.figures()) == 1):
        part = list(group)
        if one_each and len(part) % 2:
            found |= {part[-1].id, part[-1].figures()[0].id}
        found |= {figures[-1].id for s in part if not one_each and len(figures := s.figures()) % 2}
    return found


def _kind(block: Block) -> str:
    return type(block).__name__
