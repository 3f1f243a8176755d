# SPDX-License-Identifier: BSD-3-Clause
"""What the seeds of rpma-soft --adversary choose: everything that is allowed, and the same again."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
PROGRAM = os.environ["CHECK_SCHEDULES"]
SEEDS = range(1, 33)
AGAIN = 4
LIMIT_S = 300
# with fences, and in the order of the posts, the program looks for itself
ALLOWED = {
    "two-queues first",
    "two-queues second",
    "read-write 1",
    "read-write 2",
    "read-send 0",
    "read-send 1",
    "atomic-send 0",
    "atomic-send 1",
    "write in order, completion at once",
    "write in order, completion late",
    "write in parts, completion at once",
    "write in parts, completion late",
    "read whole",
    "read in parts",
    "message whole",
    "message in parts",
}


IN_PARTS = {line for line in ALLOWED if "in parts" in line}


def schedule(seed: int, words: str, *options: str) -> list[str]:
    done = subprocess.run([LAUNCHER, f"--adversary={seed}{words}", *options, PROGRAM], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT_S)  # fmt: skip
    assert done.returncode == 0, done
    return done.stdout.splitlines()


def schedules(*options: str, words: str = "") -> list[list[str]]:
    with ThreadPoolExecutor(max_workers=4) as pool:
        return list(pool.map(lambda seed: schedule(seed, words, *options), SEEDS))


def all_of(runs: list[list[str]]) -> set[str]:
    # both may come while the system has stopped the thread
    return {line for lines in runs for line in lines} - {"two-queues none"}


@pytest.fixture(scope="module", name="chosen")
def all_schedules() -> list[list[str]]:
    return schedules()


def test_all_that_is_allowed_is_chosen_by_some_seed(chosen: list[list[str]]) -> None:
    assert all_of(chosen) == ALLOWED


def test_no_two_seeds_choose_all_the_same(chosen: list[list[str]]) -> None:
    assert len({tuple(lines) for lines in chosen}) > len(SEEDS) * 3 // 4


def test_a_seed_chooses_the_same_again(chosen: list[list[str]]) -> None:
    runs = [chosen, *(schedules() for _ in range(AGAIN))]
    for of_seed in zip(*runs):
        # a thread that the system stops for milliseconds between two calls may find more done
        most = max(of_seed.count(one) for one in of_seed)
        assert most >= 2, of_seed


@pytest.mark.parametrize(
    ("words", "not_allowed"),
    [
        (",late", {"read-write 2", "read-send 0", "atomic-send 0", *IN_PARTS}),
        (",parts", {"read-write 2", "read-send 0", "atomic-send 0"}),
        (",passes", IN_PARTS),
        (",parts,passes", set()),
    ],
)
def test_less_may_differ(words: str, not_allowed: set[str]) -> None:
    assert all_of(schedules(words=words)) == ALLOWED - not_allowed


def test_between_processes_the_same_is_allowed() -> None:
    assert all_of(schedules("-f", "forced-remote")) == ALLOWED
