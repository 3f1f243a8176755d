# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --adversary: who trusts an order that nothing promises fails, and all others do not.

The seeds of right programs may be run in shares, and those that passed are remembered: see tests/seeds.py.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, product

import pytest
from programs import LAUNCHER, Program, Run, programs, run
from seeds import Tally, seeds

SEEDS = seeds(os.environ.get("ZOO_SEEDS", "2"))
TRUSTING = programs("adversary")
WITHIN = 20  # seeds
WAYS: dict[str, tuple[str, ...]] = {
    "alone": (),
    "checked": ("--check",),
    "over-TCP": ("--transport=tcp",),
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
    """By seed, so that a run that is stopped has run all programs with the first ones."""
    share = SEEDS if way == "alone" else SEEDS[: max(1, len(SEEDS) // 20)]
    return [(one, seed) for seed, one in product(share, programs("right")) if seed == 1 or one.name not in FEW]


@pytest.mark.parametrize("way", WAYS)
def test_a_right_program_is_right_with_each_seed(way: str) -> None:
    tally = Tally(LAUNCHER)

    def failure(program: Program, seed: int) -> tuple[str, int, Run] | None:
        done = with_seed(program, seed, *WAYS[way])
        if done.status != 0 or done.findings():
            return program.name, seed, done
        tally.add(f"{way}/{program.name}", seed)
        return None

    left = [pair for pair in runs_of(way) if not tally.has(f"{way}/{pair[0].name}", pair[1])]
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        try:
            failed = [one for one in pool.map(lambda pair: failure(*pair), left) if one is not None]
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    assert failed == []


def first_that_fails(program: Program) -> tuple[int, Run]:
    for seed in range(1, WITHIN + 1):
        done = with_seed(program, seed)
        if done.status != 0:
            return seed, done
    pytest.fail(f"{program.name}: no seed of {WITHIN} shows it")


def test_over_tcp_the_last_byte_of_a_write_may_come_first() -> None:
    program = Program("adversary", "last_byte_polled")
    seeds = [*range(1, WITHIN + 1)] * 5  # on a busy host the process that polls seldom runs meanwhile
    runs = (with_seed(program, seed, "--transport=tcp") for seed in seeds)
    assert any(done.status == 1 and "is not whole" in done.out for done in runs)


@pytest.mark.parametrize("program", TRUSTING, ids=name_of)
def test_trust_in_an_order_that_is_not_promised_fails_and_the_seed_repeats_it(program: Program) -> None:
    seed, done = first_that_fails(program)
    assert f"ended with status {done.status}; this repeats the run: " in done.err
    assert f" --adversary={seed} " in done.err
    # where the other thread or process does not run meanwhile, it cannot see what is there so far
    failed = (with_seed(program, seed).status != 0 for _ in range(20))
    assert list(islice(filter(None, failed), 3)) == [True] * 3
