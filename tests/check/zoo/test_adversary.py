# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --adversary: who trusts an order that nothing promises fails, and all others do not.

ADVERSARY_SEEDS is how many seeds the right programs run with.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
from programs import Program, Run, programs, run

SEEDS = range(1, int(os.environ.get("ADVERSARY_SEEDS", "2")) + 1)
TRUSTING = programs("adversary")
WITHIN = 20  # seeds
WAYS: dict[str, tuple[str, ...]] = {
    "alone": (),
    "checked": ("--check",),
    "over TCP": ("--transport=tcp",),
    "delayed": ("-f", "delay:time=10us..100us"),
}
# a run of seconds, in which nothing is posted
FEW = {"thread_that_polls_an_idle_queue"}
AT_ONCE = 12


def name_of(program: Program) -> str:
    return program.name


def with_seed(program: Program, seed: int, *options: str) -> Run:
    return run(program, f"--adversary={seed}", *options)


def runs_of(way: str) -> list[tuple[Program, int]]:
    seeds = SEEDS if way == "alone" else SEEDS[: max(1, len(SEEDS) // 20)]
    return [(one, seed) for one, seed in product(programs("right"), seeds) if seed == 1 or one.name not in FEW]


@pytest.mark.parametrize("way", WAYS)
def test_a_right_program_is_right_with_each_seed(way: str) -> None:
    pairs = runs_of(way)
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        runs = pool.map(lambda pair: with_seed(*pair, *WAYS[way]), pairs)
        failed = [(program.name, seed, done) for (program, seed), done in zip(pairs, runs)
                  if done.status != 0 or done.findings()]  # fmt: skip
    assert failed == []


def first_that_fails(program: Program) -> tuple[int, Run]:
    for seed in range(1, WITHIN + 1):
        done = with_seed(program, seed)
        if done.status != 0:
            return seed, done
    pytest.fail(f"{program.name}: no seed of {WITHIN} shows it")


@pytest.mark.parametrize("program", TRUSTING, ids=name_of)
def test_trust_in_an_order_that_is_not_promised_fails_and_the_seed_repeats_it(program: Program) -> None:
    seed, done = first_that_fails(program)
    assert f"ended with status {done.status}; this repeats the run: " in done.err
    assert f" --adversary={seed} " in done.err
    # where the other thread or process does not run meanwhile, it cannot see what is there so far
    assert sum(with_seed(program, seed).status != 0 for _ in range(5)) >= 3
