# SPDX-License-Identifier: BSD-3-Clause
"""A page before it has a form: sections of blocks, which html, markdown and pdf walk.

The commands create and compare make one each. All text is plain: escaping is
the business of the form.
"""

from dataclasses import dataclass

from rpma_report.figures.figure import Figure
from rpma_report.figures.tables import Table


@dataclass(frozen=True)
class Paragraph:
    """A sentence or a few."""

    text: str


@dataclass(frozen=True)
class Note:
    """A text that must not be missed; an alarm even less than a note."""

    heading: str
    lines: tuple[str, ...] = ()
    alarm: bool = False


@dataclass(frozen=True)
class Card:
    """One of the figures that matter."""

    subject: str
    value: str
    what: str
    detail: str


@dataclass(frozen=True)
class Cards:
    cards: tuple[Card, ...]


@dataclass(frozen=True)
class Heading:
    """The heading of a part of a section."""

    text: str


@dataclass(frozen=True)
class Facts:
    """Names and what is to be said of each."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Code:
    """A command line or a job file, as it is to be typed."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: tuple[str, ...]


Block = Paragraph | Note | Cards | Heading | Facts | Code | Items | Table | Figure


@dataclass(frozen=True)
class Section:
    id: str  # unique on the page; letters, digits and "-"
    title: str  # its heading
    blocks: tuple[Block, ...]
    short: str = ""  # in the list of sections; empty: the title
    own: bool = False  # the user's words, which no result has

    def figures(self) -> list[Figure]:
        return [block for block in self.blocks if isinstance(block, Figure)]


@dataclass(frozen=True)
class Document:
    title: str
    lead: tuple[str, ...]  # sentences: what, on which device
    alarms: tuple[Note, ...]
    sections: tuple[Section, ...]
    subject: str  # names the window and bookmarks
    footer: str
    results: tuple[str, ...] = ()  # SHA-256, run and name of each file, for verify
    made: str = ""  # by which command and options, for verify; empty: create
    author: str = ""
    answer: str = ""  # the first line, before all others: what the page found
    files: tuple[tuple[str, str], ...] = ()  # SHA-256 and name of each, for the names of points

    def figures(self) -> list[Figure]:
        return [figure for section in self.sections for figure in section.figures()]
