# SPDX-License-Identifier: BSD-3-Clause
"""A comparison as JUnit: a test case for each figure that a condition, or else the words, judge.

What fails is a failure. What cannot be decided is an error where a condition asks, for no
pipeline may take it for passed, and is skipped where nothing was asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from rpma_report import quantity
from rpma_report.comparison import words
from rpma_report.comparison.changes import Comparison, Row
from rpma_report.comparison.limits import Findings, rows_of


@dataclass(frozen=True)
class Case:
    group: str
    name: str
    outcome: str = ""  # the element's name: failure, error, skipped; empty: passed
    message: str = ""


def render(found: Findings) -> str:
    root = ElementTree.Element("testsuites")
    for comparison in found.comparisons:
        cases = list(_of_conditions(comparison, found) if found.conditions else _of_words(comparison))
        _suite(root, f"{comparison.new.name} against {found.base.name}", cases)
    general = [_undetermined(u.condition.text, "any point", u.why) for u in found.undetermined if u.new is None]
    if general:
        _suite(root, found.base.name, general)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(root: ElementTree.Element, name: str, cases: Sequence[Case]) -> None:
    counted = {outcome: sum(case.outcome == outcome for case in cases) for outcome in ("failure", "error", "skipped")}
    suite = ElementTree.SubElement(root, "testsuite", {
        "name": name, "tests": str(len(cases)), "failures": str(counted["failure"]),
        "errors": str(counted["error"]), "skipped": str(counted["skipped"]),
    })  # fmt: skip
    for case in cases:
        element = ElementTree.SubElement(suite, "testcase", {"classname": case.group, "name": case.name})
        if case.outcome:
            ElementTree.SubElement(element, case.outcome, {"message": case.message})


def _of_words(comparison: Comparison) -> Iterator[Case]:
    for row in comparison.rows:
        if row.decides:
            outcome = {"worse": "failure", "unclear": "skipped"}.get(row.verdict.word, "")
            yield Case(row.pair.place.series, _name(row), outcome, _said(row))


def _of_conditions(comparison: Comparison, found: Findings) -> Iterator[Case]:
    for condition in found.conditions:
        failed = {id(f.row) for f in found.failed if f.condition is condition}
        unsure = [u for u in found.undetermined if u.condition is condition and u.new is comparison.new]
        places = {(u.place, u.figure): u for u in unsure}
        for row in rows_of(condition, comparison):
            name = f"{condition.text}: {_name(row)}"
            unknown = places.pop((row.pair.place, row.measure.name), None)
            if id(row) in failed:
                yield Case(row.pair.place.series, name, "failure", _said(row))
            elif unknown:
                yield Case(row.pair.place.series, name, "error", f"undetermined: {unknown.why}")
            else:
                yield Case(row.pair.place.series, name)
        for one in places.values():
            series, where = (one.place.series, one.place.where) if one.place else ("", "any point")
            yield _undetermined(condition.text, f"{where} {one.figure}".rstrip(), one.why, series)


def _undetermined(condition: str, where: str, why: str, series: str = "") -> Case:
    return Case(series, f"{condition}: {where}", "error", f"undetermined: {why}")


def _name(row: Row) -> str:
    return f"{row.pair.place.where} {row.measure.name}"


def _said(row: Row) -> str:
    base, new = words.values(row)
    span = words.interval(row.verdict)
    told = f"{quantity.signed(row.verdict.change)}{f' ({span})' if span else ''}"
    return f"{base} to {new}, {told}, {row.verdict.text()}"
