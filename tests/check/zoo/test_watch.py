# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --check=watch: who uses memory before its completion is stopped there by the processor."""

import pytest
from programs import Program, Run, programs, run, run_all

EARLY = ["message_read_before_it_came", "old_value_used_at_once", "read_used_at_once", "read_waited_for_by_the_clock"]
RIGHT = programs("right")
DENIED = "the processor cannot watch memory here"


@pytest.fixture(scope="module")
def right() -> dict[Program, Run]:
    return run_all(RIGHT, "--check=watch")


@pytest.mark.parametrize("name", EARLY)
def test_an_early_use_is_found(name: str) -> None:
    program = Program("faulty", name)
    expected = program.expected()
    done = run(program, "--check=watch")
    if DENIED in done.err:
        pytest.skip("the processor cannot watch memory here")
    assert [finding.identity for finding in done.findings()] == ["early-read"], done.err
    text = done.findings()[0].text
    posted, used = (f"{name}.c:{line}" for line in program.lines())
    assert f"     used at         {expected.function} {used}" in text, text
    assert posted in text and done.findings()[0].names(expected.about), text
    assert all(done.findings()[0].names(word) for word in done.named()), text
    assert done.status == 99


@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.name)
def test_nothing_is_said_about_a_right_one(program: Program, right: dict[Program, Run]) -> None:
    done = right[program]
    assert (done.status, done.findings()) == (0, []), done
