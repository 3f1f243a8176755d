# SPDX-License-Identifier: BSD-3-Clause
"""Two looks at a page. Numbers with an address are derived from the point they name; all
texts, drawings included, are those of the page that this program makes of the results.

The first look shares no code with the tables and charts. The second needs the version of
the program that made the page; without it the numbers without an address stay unmatched.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rpma_report import quantity
from rpma_report.model import Estimate, Point, Run
from rpma_report.text import shown
from rpma_report.verification import derive, printed
from rpma_report.verification.tokens import Cell, Page, Token


_PROSE = frozenset({"td:", "th:", "text:", "tspan:", "p:", "li:", "span:", "figcaption:", "dd:", "small:"})


@dataclass(frozen=True)
class Difference:
    """A place where the page does not say what the result does."""

    place: str
    what: str  # the metric, or what kind of text
    printed: str
    derived: str


@dataclass(frozen=True)
class Unmatched:
    """A number that no result has."""

    place: str
    what: str
    printed: str
    why: str


@dataclass(frozen=True)
class Found:
    agreeing: int
    differences: tuple[Difference, ...]
    unmatched: tuple[Unmatched, ...]


def check(page: Page, runs: Sequence[Run], again: Page | None) -> Found:
    """`again` is the page of these results, or None where it cannot be made."""
    points = {(p.file, p.id): p for run in runs for p in run.points}
    found: list[Difference | Unmatched] = []
    agreeing, told = 0, set[int]()
    for cell in page.cells:
        judged = list(_cell(cell, points.get((cell.file, cell.point))))
        agreeing += len(cell.texts) - len(judged)
        found += judged
        if judged:
            told.add(id(cell))
    if again is not None and len(again.tokens) == len(page.tokens):
        counted, others = _texts(page.tokens, again.tokens, told)
        agreeing += counted
        found += others
    else:
        found += _without_address(page, again)
    return Found(
        max(agreeing, 0),
        tuple(one for one in found if isinstance(one, Difference)),
        tuple(one for one in found if isinstance(one, Unmatched)),
    )


def _cell(cell: Cell, point: Point | None) -> Iterator[Difference | Unmatched]:
    text = " ".join(cell.texts)
    what = f"{cell.point} {cell.metric}"
    if point is None:
        yield Unmatched(cell.place, what, text, "no given result has that point")
        return
    try:
        value = derive.value(point, cell.metric)
    except derive.Unknown:
        yield Unmatched(cell.place, what, text, "no figure of a point has that name")
        return
    first, *rest = cell.texts or [""]
    if not _says(first, value):
        yield Difference(cell.place, what, first, _text(value))
    bounds = value if isinstance(value, Estimate) else None
    for one in rest:
        if not _spans(one, bounds):
            yield Difference(cell.place, f"{what}, interval", one, _interval(bounds))
    if not rest and bounds and bounds.low is not None and "param." not in cell.metric:
        yield Difference(cell.place, f"{what}, interval", "none", _interval(bounds))


def _says(text: str, value: derive.Value) -> bool:
    number = value.value if isinstance(value, Estimate) else value
    if number is None or text == quantity.UNKNOWN:
        return number is None and text == quantity.UNKNOWN
    found = printed.parse(text)
    return found is not None and found.is_of(number)


def _spans(text: str, bounds: Estimate | None) -> bool:
    found = printed.interval(text)
    if found is None or bounds is None or bounds.low is None or bounds.high is None:
        return False
    return found[0].is_of(bounds.low) and found[1].is_of(bounds.high)


def _text(value: derive.Value) -> str:
    number = value.value if isinstance(value, Estimate) else value
    return quantity.UNKNOWN if number is None else f"{number:.10g}"


def _interval(bounds: Estimate | None) -> str:
    if bounds is None or bounds.low is None or bounds.high is None:
        return "no interval"
    return f"{bounds.low:.10g} \u2013 {bounds.high:.10g}"


def _texts(page: Sequence[Token], expected: Sequence[Token], told: set[int]) -> tuple[int, list[Difference]]:
    """How many numbers agree, and the texts that differ."""
    agreeing, found = 0, []
    for have, due in zip(page, expected, strict=True):
        if (have.key, have.text) == (due.key, due.text):
            if have.cell is None and (have.key.endswith(":") or have.key.endswith("@aria-label")):
                agreeing += len(printed.NUMBER.findall(have.text))
        elif id(have.cell) not in told:
            found.append(_difference(have, due))
    return agreeing, found


def _difference(have: Token, due: Token) -> Difference:
    if have.key != due.key:
        return Difference(have.place, "markup", have.key, due.key)
    pairs = zip_longest(have.text.split(), due.text.split(), fillvalue="")
    first = next(((a, b) for a, b in pairs if a != b), (have.text, due.text))
    return Difference(have.place, have.key.rstrip(":"), shown(first[0], 80), shown(first[1], 80))


def _without_address(page: Page, again: Page | None) -> Iterator[Unmatched]:
    why = ("the page was not made by this version of rpma-report from these results"
           if again is not None else "not all results of the page were given, or it is not of create")  # fmt: skip
    for token in page.tokens:
        if token.cell is None and token.key in _PROSE and printed.NUMBER.search(token.text):
            yield Unmatched(token.place, token.key.rstrip(":"), shown(token.text, 80), why)
