# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --check names the fault of each faulty program, and is silent about each right one."""

import os
from typing import Any

import pytest
from programs import HERE, Program, Run, programs, run_all

FAULTY = programs("faulty") + programs("public")
RIGHT = programs("right")
ROUNDS = int(os.environ.get("ZOO_ROUNDS", "1"))
STATUS = 99  # when an error was found
PAGE = HERE.parents[2] / "doc/checking-rdma-programs.md"
# Known misses, each with its reason.
MISSED = {
    "answered_before_the_flush": "test_claims.py",
    "message_read_before_it_came": "test_watch.py",
    "old_value_used_at_once": "test_watch.py",
    "read_used_at_once": "test_watch.py",
    "read_waited_for_by_the_clock": "test_watch.py",
}


def name_of(program: Program) -> str:
    return f"{program.kind}/{program.name}"


@pytest.fixture(scope="module")
def faulty() -> dict[Program, Run]:
    return run_all(FAULTY, "--check")


@pytest.fixture(scope="module")
def right() -> list[dict[Program, Run]]:
    return [run_all(RIGHT, "--check") for _ in range(ROUNDS)]


def to_be_found() -> list[Any]:
    return [pytest.param(program, marks=pytest.mark.xfail(reason=MISSED[program.name], strict=True))
            if program.name in MISSED else program for program in FAULTY]  # fmt: skip


@pytest.mark.parametrize("program", to_be_found(), ids=name_of)
def test_a_fault_is_found(program: Program, faulty: dict[Program, Run]) -> None:
    run, expected = faulty[program], program.expected()
    found = run.findings()
    for either in expected.needed:
        assert any(one.identity in either for one in found), f"not found: {either}\n{run.err}"
    assert {one.identity for one in found} <= expected.allowed, run.err
    first = next(one for one in found if one.identity in expected.needed[0])
    places = [f"{expected.function} {program.name}.c:{line}" for line in program.lines()]
    assert any(first.names(place) for place in places), f"none of {places}\n{first.text}"
    assert first.names(expected.about), f"not about {expected.about}\n{first.text}"
    assert [word for word in run.named() if not first.names(word)] == [], first.text
    assert (run.status == STATUS) == any(one.is_error() for one in found), f"status {run.status}\n{run.err}"


@pytest.mark.parametrize("program", RIGHT, ids=name_of)
def test_nothing_is_said_about_a_right_one(program: Program, right: list[dict[Program, Run]]) -> None:
    for runs in right:
        run = runs[program]
        assert run.status == 0 and run.findings() == [], run
        assert run.summaries(), run.err
        assert all((errors, warnings) == (0, 0) for errors, warnings, _ in run.summaries()), run.err
        assert any(seen > 0 for _, _, seen in run.summaries()), run.err


def test_the_page_tells_how_many_are_found(faulty: dict[Program, Run], right: list[dict[Program, Run]]) -> None:
    """Its other rows are counted by check.counted-long."""
    page = PAGE.read_text(encoding="utf-8")
    assert f"| of {len(FAULTY)} programs with a mistake | of {len(RIGHT)} right ones |" in page
    counts = [sum(bool(run.findings()) for run in runs.values()) for runs in (faulty, right[0])]
    assert f"| rpma-soft --check | {counts[0]} | {counts[1]} |" in page
