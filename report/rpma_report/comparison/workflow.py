# SPDX-License-Identifier: BSD-3-Clause
"""A comparison as workflow commands of GitHub: ::error, ::warning and ::notice.

A command is a line, and its message is escaped as the runner takes it back: "%", carriage
return and line feed; in the title also ":" and ",". Every line is a command, so that no
text of a result can pass for one.
"""

from collections.abc import Iterator, Sequence

from rpma_report.comparison import words
from rpma_report.comparison.changes import Comparison
from rpma_report.comparison.limits import Findings
from rpma_report.comparison.severity import ranked
from rpma_report.page.document import Note
from rpma_report.quantity import signed

_TITLE = "rpma-report compare"
_MAX_LINES = 50


def commands(found: Findings, alarms: Sequence[Note]) -> Iterator[str]:
    for text in words.failed(found, _MAX_LINES):
        yield command("error", text)
    for text in words.undetermined(found, _MAX_LINES):
        yield command("warning", f"undetermined: {text}")
    for comparison in found.comparisons:
        if not found.conditions:
            yield from _worse(comparison)
        yield command("notice", f"{comparison.new.name} against {found.base.name}: {words.tally(comparison)}")
    for note in alarms:
        yield command("notice", " ".join((note.heading, *note.lines)))
    if found.passed:
        yield command("notice", f"passed: {found.asked}")


def _worse(comparison: Comparison) -> Iterator[str]:
    rows = [row for row in ranked(comparison.rows) if row.verdict.word == "worse"]
    for row in rows[:_MAX_LINES]:
        text = f"{comparison.new.name}, {row.pair.place}: {row.measure.name} {signed(row.verdict.change)}"
        yield command("warning", f"{text} ({words.interval(row.verdict)}), worse")
    if len(rows) > _MAX_LINES:
        yield command("warning", f"and {len(rows) - _MAX_LINES} more are worse")


def command(kind: str, message: str) -> str:
    return f"::{kind} title={_property(_TITLE)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
