# SPDX-License-Identifier: BSD-3-Clause
"""What the programs of the zoo do on the device as it is: what their users would see on hardware."""

import re

import pytest
from programs import Program, Run, programs, run, run_all

FAULTY = programs("faulty") + programs("public")
RIGHT = programs("right")
RARE = 10  # runs


def name_of(program: Program) -> str:
    return f"{program.kind}/{program.name}"


@pytest.fixture(scope="module")
def runs() -> dict[Program, Run]:
    return run_all(FAULTY + RIGHT)


def test_the_zoo_is_large_enough() -> None:
    assert len(programs("faulty")) >= 45 and len(RIGHT) >= 25
    assert len(programs("public")) == 7 and len(programs("adversary")) == 4


@pytest.mark.parametrize("program", FAULTY, ids=name_of)
def test_a_faulty_one_shows_what_its_first_lines_tell(program: Program, runs: dict[Program, Run]) -> None:
    assert program.lines() and program.expected().needed
    assert re.search(program.shows(), runs[program].shown()), runs[program]


@pytest.mark.parametrize("program", RIGHT, ids=name_of)
def test_a_right_one_is_right(program: Program, runs: dict[Program, Run]) -> None:
    assert runs[program].status == 0, runs[program]


@pytest.mark.parametrize("program", programs("adversary"), ids=name_of)
def test_trust_in_an_order_that_is_not_promised_is_rarely_punished(program: Program) -> None:
    """Rarely, not never: a thread of the device that waits for its processor is enough."""
    done = [run(program)]
    while done[-1].status != 0 and len(done) < RARE:
        done.append(run(program))
    assert done[-1].status == 0, done
