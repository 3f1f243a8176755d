#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Add up the runs of scripts/test and close as ctest does.

test_summary.py FOLDER SECONDS: what the runs left, and how long they took together.

scripts/test leaves a folder with one JUnit file per ctest run and a table
`steps` (name, exit status, seconds). A step without a JUnit
file counts as one test. A skip is read from ctest itself and, within a
test, from what cmocka, pytest and tests/vm/in_guest print: a test that passed
by skipping half of its cases must not look whole. With CI=true a skip that
tests/skips-allowed does not name is a failure.
"""

import fnmatch
import os
import re
import sys
import xml.etree.ElementTree
from pathlib import Path
from typing import NamedTuple

CMOCKA_SKIP = re.compile(r"^\[  SKIPPED \] (?P<case>[A-Za-z_]\S*)$", re.MULTILINE)
PYTEST_SKIP = re.compile(r"^SKIPPED \[\d+\] (?P<case>[^\s:]+)(?::\d+)?: (?P<why>.*)", re.MULTILINE)
GUEST_SKIP = re.compile(r"^skip (?P<case>[^\s:]+): (?P<why>.*)", re.MULTILINE)
ALLOWED = Path(__file__).resolve().parents[2] / "tests" / "skips-allowed"


class Skip(NamedTuple):
    test: str
    why: str


class Run(NamedTuple):
    name: str
    total: int
    failed: list[str]
    skips: list[Skip]
    seconds: int


def skips_within(test: str, output: str) -> list[Skip]:
    cmocka = {m["case"] for m in CMOCKA_SKIP.finditer(output)}
    told = {(Path(m["case"]).name, m["why"]) for m in PYTEST_SKIP.finditer(output)}
    told |= {(m["case"], m["why"]) for m in GUEST_SKIP.finditer(output)}
    return [Skip(f"{test}/{case}", "skipped by the test") for case in sorted(cmocka)] + [
        Skip(f"{test}/{case}", why) for case, why in sorted(told)
    ]


def read_ctest(name: str, junit: Path, status: int, seconds: int) -> Run:
    failed: list[str] = []
    skips: list[Skip] = []
    total = 0
    for case in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
        test = case.get("name", "?")
        output = case.findtext("system-out") or ""
        total += 1
        if case.get("status") in ("notrun", "disabled"):
            lines = [line for line in output.splitlines() if line.strip()]
            skips.append(Skip(test, lines[-1].strip() if lines else "not run"))
        elif case.get("status") == "run":
            skips += skips_within(test, output)
        else:
            failed.append(test)
    if status != 0 and not failed:
        total += 1
        failed.append(f"ctest itself (exit status {status})")
    return Run(name, total, failed, skips, seconds)


def read_runs(results: Path) -> list[Run]:
    runs = []
    for line in (results / "steps").read_text().splitlines():
        name, status, seconds = line.split("\t")
        junit = results / f"{name}.xml"
        if junit.exists():
            runs.append(read_ctest(name, junit, int(status), int(seconds)))
        else:
            failed = [name] if status != "0" else []
            runs.append(Run(name, 1, failed, [], int(seconds)))
    return runs


def allowed_patterns() -> dict[str, str]:
    lines = ALLOWED.read_text().splitlines() if ALLOWED.exists() else []
    rows = [line.split(maxsplit=1) for line in lines if line.strip() and line[0] != "#"]
    return {row[0]: row[1] for row in rows if len(row) == 2}


def is_allowed(skip: Skip, run: Run, patterns: dict[str, str]) -> bool:
    test = f"{run.name}:{skip.test}"
    names = (test, f"{test}:{'_'.join(skip.why.split())}")
    return any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in patterns)


def main() -> int:
    runs = read_runs(Path(sys.argv[1]))
    patterns = allowed_patterns()
    strict = os.environ.get("CI") == "true"
    total = sum(run.total for run in runs)
    failures = [f"{run.name}: {test}" for run in runs for test in run.failed]

    print(f"{'run':<20}{'tests':>8}{'failed':>8}{'skipped':>9}{'time':>9}")
    for run in runs:
        print(
            f"{run.name:<20}{run.total:>8}{len(run.failed):>8}{len(run.skips):>9}{run.seconds:>7} s"
        )
    for run in runs:
        for skip in run.skips:
            allowed = is_allowed(skip, run, patterns)
            note = "" if allowed else "  (not in tests/skips-allowed)"
            print(f"skipped  {run.name}: {skip.test}: {skip.why}{note}")
            if strict and not allowed:
                failures.append(f"{run.name}: {skip.test} (skipped, not in tests/skips-allowed)")
    for failure in failures:
        print(f"FAILED   {failure}")

    failed = min(len(failures), total)
    percent = 100 * (total - failed) // total if total else 0
    print(f"\n{percent}% tests passed, {failed} tests failed out of {total}")
    print(f"\nTotal Test time (real) = {float(sys.argv[2]):6.2f} sec")
    return 1 if failures or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
