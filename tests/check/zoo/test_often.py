# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --check looks at a part of the requests once there were many of one place, and tells it."""

import re
import subprocess

import pytest
from programs import BUILT, HERE, LAUNCHER

FIRST, EACH = 128, 16  # as in sq_check.c, and in the manual


def run(check: str, right: int, last: int, each: int = 1) -> tuple[int, int, str]:
    """The status, how often the mistake was seen, and the last line."""
    done = subprocess.run([LAUNCHER, check, BUILT / "zoo_often", str(right), str(last), str(each)],
                          capture_output=True, text=True, timeout=600)  # fmt: skip
    source = (HERE / "often.c").read_text().splitlines()
    lines = [number for number, line in enumerate(source, 1) if "/* HERE */" in line]
    found = re.findall(r"(?m)^== rpma-soft: source-changed: ", done.stderr)
    assert len(found) <= 1 and (not found or f"often.c:{lines[0]}" in done.stderr), done.stderr
    times = re.search(r"(?m)^== rpma-soft: source-changed at .*: seen (\d+) times$", done.stderr)
    return done.returncode, int(times[1]) if times else len(found), done.stderr.splitlines()[-1]


def test_the_first_requests_of_a_place_are_all_held() -> None:
    status, seen, last = run("--check", FIRST - 64, 64)
    # a thread that is stopped for a millisecond between its post and the next line may miss it
    assert (status, "held" in last) == (99, False) and seen > 32, last


def test_a_mistake_in_later_ones_is_found_by_some_of_them() -> None:
    status, seen, last = run("--check", FIRST, 1600)
    held = re.search(rf" {FIRST + 1600} requests seen, (\d+) of them held ", last)
    assert held is not None and 1600 / EACH / 2 < int(held[1]) - FIRST < 1600 / EACH * 2, last
    assert status == 99 and (int(held[1]) - FIRST) / 2 < seen <= int(held[1]) - FIRST, last


@pytest.mark.parametrize("right", [FIRST, FIRST + 1, FIRST + 7])
def test_a_mistake_that_is_made_once_in_a_ring_is_found(right: int) -> None:
    status, seen, last = run("--check", right, 200 * EACH, EACH)
    assert status == 99 and 0 < seen < 200, last


@pytest.mark.parametrize("check", ["--check=every", "--check=every,source-changed"])
def test_every_one_is_held_if_asked_for(check: str) -> None:
    status, seen, last = run(check, FIRST, 64)
    assert (status, "held" in last) == (99, False) and seen > 32, last


def test_nothing_is_said_about_right_ones() -> None:
    status, seen, last = run("--check", 100 * FIRST, 0)
    assert (status, seen) == (0, 0), last


def test_what_later_ones_were_is_known() -> None:
    """The queue had signaled ones in all of its slots before."""
    done = subprocess.run([LAUNCHER, "--check", BUILT / "zoo_often", str(FIRST + 1), "full"],
                          capture_output=True, text=True, timeout=600)  # fmt: skip
    assert re.findall(r"(?m)^== rpma-soft: ([a-z-]+): ", done.stderr) == ["sq-full"], done.stderr
    assert "none of these requests is signaled" in done.stderr
    of_queue = re.search(r"is full: (\d+) of (\d+) slots are taken", done.stderr)
    assert of_queue is not None and f"unsignaled      {of_queue[1]} since" in done.stderr, done.stderr
