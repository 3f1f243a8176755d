# SPDX-License-Identifier: BSD-3-Clause
"""Which given result is which of those a page names: by SHA-256, else by run or by name.

A page lists its results in the order they were given to create. One that is found by
its run or its name only has been changed since.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rpma_report.model import SHA_DIGITS, Run
from rpma_report.text import shown


@dataclass(frozen=True)
class Listed:
    """A result as a page names it."""

    sha256: str
    run_id: str  # "-": it has none
    file: str


@dataclass(frozen=True)
class Assigned:
    runs: tuple[Run, ...]  # in the order of the page
    complete: bool  # each result of the page was given, and no other
    changed: tuple[str, ...]  # results that are no longer those of the page
    foreign: tuple[str, ...]  # what is missing, or of no use


def assign(listed: Sequence[Listed], given: Sequence[Run]) -> Assigned:
    left = list(given)
    found: dict[int, Run] = {}
    changed: list[str] = []
    for same in (_by_content, _by_run, _by_name):
        for number, of_page in enumerate(listed):
            run = None if number in found else next((run for run in left if same(of_page, run)), None)
            if run is None:
                continue
            left = [other for other in left if other is not run]
            found[number] = run
            if same is not _by_content:
                changed.append(_changed(of_page, run))
    foreign = [f"{shown(run.file)} does not belong to the page" for run in left]
    foreign += [f"no result was given for {shown(of_page.file)}, SHA-256 {shown(of_page.sha256)}"
                for number, of_page in enumerate(listed) if number not in found]  # fmt: skip
    if not listed:
        foreign.append("it names no results, so nothing can be derived again: make it again with this rpma-report, "
                       "then rpma-report verify PAGE RESULT...")  # fmt: skip
    runs = tuple(_as_listed(of_page, found[n]) for n, of_page in enumerate(listed) if n in found)
    complete = bool(listed) and len(found) == len(listed) and not left
    return Assigned(runs if listed else tuple(given), complete, tuple(changed), tuple(foreign))


def _by_content(of_page: Listed, run: Run) -> bool:
    return of_page.sha256 == run.sha256


def _by_run(of_page: Listed, run: Run) -> bool:
    return run.run_id is not None and of_page.run_id == run.run_id


def _by_name(of_page: Listed, run: Run) -> bool:
    return of_page.file == run.file


def _changed(of_page: Listed, run: Run) -> str:
    return f"{run.file} does not match: SHA-256: printed {shown(of_page.sha256)}, derived {run.sha256}"


def _as_listed(of_page: Listed, run: Run) -> Run:
    """Under the name that it has on the page: a copy of another name is no difference."""
    file = of_page.sha256[:SHA_DIGITS]
    name = shown(of_page.file, 60) if run.is_named_by_file else run.name
    return replace(run, file=of_page.file, name=name, points=tuple(replace(p, file=file) for p in run.points))


@dataclass(frozen=True)
class Beside:
    changed: tuple[str, ...]
    foreign: tuple[str, ...]


def side_by_side(listed: Sequence[Listed], given: Sequence[str]) -> Beside:
    """The results of a page and those given, in one order; a directory may have more or fewer than it had."""
    found = [one(text) for text in given]
    pairs = [(a, b) for a, b in zip(listed, found, strict=False) if a.sha256 != b.sha256]
    changed = (f"{b.file} does not match: SHA-256: printed {shown(a.sha256)}, derived {b.sha256}" for a, b in pairs)
    number = f"it is of {len(listed):,} files, {len(found):,} are given"
    return Beside(tuple(changed), (number,) if len(listed) != len(found) else ())


def one(text: str) -> Listed:
    """SHA-256, run and name, as a page has them."""
    sha256, run_id, file = [*text.split(" ", 2), "", "", ""][:3]
    return Listed(sha256, run_id, file)
