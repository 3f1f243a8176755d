# SPDX-License-Identifier: BSD-3-Clause
"""A page as a list of texts with their places, and the cells that say where their number comes from."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

from rpma_report.verification.assign import Listed, one

_VOID = frozenset({"meta", "link", "br", "img", "input", "hr", "col", "wbr", "area", "base", "source"})


@dataclass(frozen=True)
class Token:
    """A text, or the value of an attribute; `key` is what it is, and equal in an equal page."""

    key: str
    text: str
    place: str  # for a message
    cell: "Cell | None"  # that it is in


@dataclass
class Cell:
    """An element with data-metric, and its texts: the value, then the interval."""

    file: str
    point: str
    metric: str
    place: str
    texts: list[str] = field(default_factory=list)


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tokens: list[Token] = []
        self.cells: list[Cell] = []
        self.results: list[Listed] = []
        self.made = ""  # by which command; empty: create
        self._own = 0  # elements open within what the user wrote, which no result has
        self._open: list[tuple[str, dict[str, str]]] = []
        self._within: list[Cell | None] = []
        self._heading = ""
        self._caption = ""
        self._row: list[str] = []
        self._columns: list[str] = []  # the metric of each
        self._column = -1
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given: dict[str, str] = {name: value or "" for name, value in attrs}
        if self._own or "data-own" in given:
            self._own += tag not in _VOID
            return
        if tag == "tr":
            self._row, self._column = [], -1
        if tag == "thead":
            self._columns = []
        if tag in ("section", "figure"):
            self._heading = given.get("aria-label", "") or given.get("id", "")
            self._caption, self._row = "", []
        if tag == "meta" and given.get("name") == "rpma-report-result":
            self.results.append(one(given.get("content", "")))
        if tag == "meta" and given.get("name") == "rpma-report-made":
            self.made = given.get("content", "")
        metric = self._metric(tag, given)
        if tag not in _VOID:
            self._open.append((tag, given))
        outer = self._within[-1] if self._within else None
        cell = self._cell(given, metric) if metric else outer
        self._add(tag, "", outer)
        for name, value in given.items():
            self._add(f"{tag}@{name}", value, outer)
        if tag not in _VOID:
            self._within.append(cell)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Tags in between end too, where tags do not match."""
        if self._own:
            self._own -= 1
            return
        self._add(f"/{tag}", "")
        if tag not in (name for name, _ in self._open):
            return
        while self._open:
            self._within.pop()
            if self._open.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if not text or self._own:
            return
        tag = self._open[-1][0] if self._open else ""
        if tag in ("script", "style"):
            self._add(tag, text)
            return
        inside = {name for name, _ in self._open}
        if "caption" in inside:
            self._caption = text
        if "tr" in inside and tag != "td":
            self._row.append(text)
        cell = self._within[-1] if self._within else None
        self._add(f"{tag}:", text, cell)
        if cell:
            cell.texts.append(text)

    def handle_comment(self, data: str) -> None:
        self._add("comment", data)

    def handle_decl(self, decl: str) -> None:
        self._add("declaration", decl)

    def handle_pi(self, data: str) -> None:
        self._add("instruction", data)

    def unknown_decl(self, data: str) -> None:
        self._add("unknown", data)

    def _add(self, key: str, text: str, cell: Cell | None = None) -> None:
        self.tokens.append(Token(key, text, self._place(), cell))

    def _place(self) -> str:
        line, _ = self.getpos()
        tag = self._open[-1][0] if self._open else "page"
        named = [part for part in (self._caption or self._heading, ", ".join(self._row[:3])) if part]
        return f"line {line}, {tag}{f' of {chr(34)}{named[0][:60]}{chr(34)}' if named else ''}" + (
            f", row {named[1][:60]}" if len(named) > 1 else ""
        )

    def _metric(self, tag: str, given: dict[str, str]) -> str:
        """An element has its own or that of its column; the head of a column has none itself."""
        metric = given.get("data-metric", "")
        above, attributes = self._open[-1] if self._open else ("", {})
        if tag not in ("td", "th") or above != "tr":
            return metric
        if any(name == "thead" for name, _ in self._open):
            self._columns.append(metric)
            return ""
        self._column += 1
        if "data-metric" in given or "data-from" not in attributes:
            return metric
        return self._columns[self._column] if self._column < len(self._columns) else ""

    def _cell(self, given: dict[str, str], metric: str) -> Cell:
        def nearest(name: str) -> str:
            holders = (given, *(attributes for _, attributes in reversed(self._open)))
            return next((holder[name] for holder in holders if name in holder), "")

        file, _, point = nearest("data-from").partition(" ")
        cell = Cell(file, point, metric, self._place())
        if "data-value" in given:  # a mark in a drawing
            cell.texts.append(given["data-value"])
        self.cells.append(cell)
        return cell
