# SPDX-License-Identifier: BSD-3-Clause
"""The results of the steps of scripts/test: tests, failures, skips; and the lines that close a run.

A step of ctest leaves a JUnit file; another one counts as one test. A skip is read from ctest
and, within a test, from what cmocka, pytest and tests/vm/in_guest print: a test that passed by
skipping half of its cases must not look whole. With CI=true a skip that tests/skips-allowed does
not name is a failure.
"""

from __future__ import annotations

import fnmatch
import os
import re
import xml.etree.ElementTree
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import failures
from trees import ROOT

RESULTS = ROOT / "build/test-results"
ALLOWED = ROOT / "tests/skips-allowed"
CMOCKA_SKIP = re.compile(r"^\[  SKIPPED \] (?P<case>[A-Za-z_]\S*)$", re.MULTILINE)
PYTEST_SKIP = re.compile(r"^SKIPPED \[\d+\] (?P<case>[^\s:]+)(?::\d+)?: (?P<why>.*)", re.MULTILINE)
GUEST_SKIP = re.compile(r"^skip (?P<case>[^\s:]+): (?P<why>.*)", re.MULTILINE)


class Skip(NamedTuple):
    test: str
    why: str


@dataclass
class Outcome:
    """The results of one step."""

    name: str
    tree: str = ""
    seconds: int = 0
    total: int = 0
    failed: dict[str, list[str]] = field(default_factory=dict)  # a test, and lines about it
    skips: list[Skip] = field(default_factory=list)
    times: dict[str, float] = field(default_factory=dict)  # a test, and its seconds
    stopped: bool = False  # before its end: neither passed nor failed


def skips_within(test: str, output: str) -> list[Skip]:
    cmocka = {m["case"] for m in CMOCKA_SKIP.finditer(output)}
    told = {(Path(m["case"]).name, m["why"]) for m in PYTEST_SKIP.finditer(output)}
    told |= {(m["case"], m["why"]) for m in GUEST_SKIP.finditer(output)}
    return [Skip(f"{test}/{case}", "skipped by the test") for case in sorted(cmocka)] + [
        Skip(f"{test}/{case}", why) for case, why in sorted(told)
    ]


def _keep_output(step: str, test: str, output: str) -> Path:
    log = RESULTS / step / f"{test.replace('/', '_')}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(output, encoding="utf-8")
    return log


def read_ctest(name: str, tree: str, junit: Path, status: int, seconds: int) -> Outcome:
    outcome = Outcome(name, tree, seconds)
    for case in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
        test = case.get("name", "?")
        output = case.findtext("system-out") or ""
        outcome.total += 1
        outcome.times[test] = float(case.get("time", "0"))
        if case.get("status") in ("notrun", "disabled"):
            lines = [line for line in output.splitlines() if line.strip()]
            outcome.skips.append(Skip(test, lines[-1].strip() if lines else "not run"))
        elif case.get("status") == "run":
            outcome.skips += skips_within(test, output)
        else:
            log = _keep_output(name, test, output)
            outcome.failed[test] = [*failures.lines(tree, test, output),
                                    f"whole output: {os.path.relpath(log, ROOT)}"]
    if status != 0 and not outcome.failed:
        outcome.total += 1
        outcome.failed["ctest itself"] = [f"exit status {status}"]
    return outcome


def allowed_patterns() -> dict[str, str]:
    lines = ALLOWED.read_text().splitlines() if ALLOWED.exists() else []
    rows = [line.split(maxsplit=1) for line in lines if line.strip() and line[0] != "#"]
    return {row[0]: row[1] for row in rows if len(row) == 2}


def is_allowed(skip: Skip, tree: str, patterns: dict[str, str]) -> bool:
    test = f"{tree}:{skip.test}"
    names = (test, f"{test}:{'_'.join(skip.why.split())}")
    return any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in patterns)


def forbid_skips(outcome: Outcome) -> list[str]:
    """Lines about those that are not allowed; with CI=true they become failures. All are kept in a file."""
    patterns, lines = allowed_patterns(), []
    for skip in outcome.skips:
        line = f"skipped  {outcome.name}: {skip.test}: {skip.why}"
        with open(RESULTS / "skipped", "a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        if is_allowed(skip, outcome.tree or outcome.name, patterns):
            continue
        lines.append(f"{line}  (not in tests/skips-allowed)")
        if os.environ.get("CI") == "true":
            outcome.failed[skip.test] = [f"skipped, not in tests/skips-allowed: {skip.why}"]
    return lines


def closing_lines(outcomes: list[Outcome], seconds: float) -> list[str]:
    """The table of steps, then the failures, then what ctest closes with."""
    lines = [f"{'step':<20}{'tests':>8}{'failed':>8}{'skipped':>9}{'time':>9}"]
    lines += [f"{o.name:<20}{o.total:>8}{len(o.failed):>8}{len(o.skips):>9}{o.seconds:>7} s" for o in outcomes]
    for outcome in outcomes:
        if outcome.stopped:
            lines.append(f"STOPPED  {outcome.name}")
        for test, about in outcome.failed.items():
            lines += [f"FAILED   {outcome.name}: {test}", *(f"         {line}" for line in about)]
    total = sum(outcome.total for outcome in outcomes)
    failed = min(sum(len(outcome.failed) for outcome in outcomes), total)
    percent = 100 * (total - failed) // total if total else 0
    return [*lines, "", f"{percent}% tests passed, {failed} tests failed out of {total}", "",
            f"Total Test time (real) = {seconds:6.2f} sec"]
