# SPDX-License-Identifier: BSD-3-Clause
"""The report of a study in pairs: a line each figure, and what the words rest on."""

from collections.abc import Iterator

from rpma_report.studies import words
from rpma_report.studies.pairs import LAST, Both, Outcome
from rpma_report.text import shown


def lines(both: Both, outcome: Outcome) -> Iterator[str]:
    a, b = both.plans
    yield f"B ({shown(b.name)}) against A ({shown(a.name)}), in interleaved pairs:"
    for figure in outcome.figures:
        decision = figure.decision
        yield f"  {figure.name}: {decision.text()}, {decision.pairs} pairs"
    looks = ", ".join(map(str, outcome.looks)) or "none yet"
    yield f"{outcome.pairs} pairs of at most {LAST}; looks after: {looks}"
    if outcome.disturbed:
        again = "not used" if outcome.busy or outcome.refused else "measured again"
        yield f"{outcome.disturbed} disturbed pairs were {again}: other programs left too few cores free"
    if outcome.unknown:
        yield "For some runs it is unknown whether other programs took the cores"
    if outcome.figures:
        yield (
            f"A run counts as the median of its repeats. If nothing differs, the chance of any better or worse "
            f"is 5 % at most; same: within {100 * words.SAME:g} %. This is about these hosts in these minutes."
        )


def exit_code(outcome: Outcome) -> int:
    """1: something is worse; 3: nothing is, but not all is certain."""
    found = [figure.decision for figure in outcome.figures]
    if any(decision.word == "worse" for decision in found):
        return 1
    return 0 if found and all(decision.certain for decision in found) else 3
