# SPDX-License-Identifier: BSD-3-Clause
"""What a connection costs when nothing happens on it, and how many there can be."""

import re
import signal
import time
from pathlib import Path

import pytest
from device import Device
from pair import Case, Pair, Side, pair, until

WINDOW_S = 1.0  # what is counted in it does not grow with it
RPING = Case("rping", "rping -s -a {address} -p {port}", "rping -c -a {address} -p {port}")
FEW_FILES = ("prlimit", "--nofile=128:128")


def wakeups(side: Side) -> dict[str, int]:
    """How often each thread has given up its core by itself: each time something woke it."""
    found = {}
    for thread in Path(f"/proc/{side.process.pid}/task").iterdir():
        match = re.search(r"(?m)^voluntary_ctxt_switches:\s+(\d+)", (thread / "status").read_text())
        assert match
        found[thread.name] = int(match[1])
    return found


def is_stopped(side: Side) -> bool:
    return set(side.members().values()) == {"T"}


def nothing_wakes(both: Pair, side: Side) -> None:
    """Once what was under way has come to rest."""
    both.require(until(lambda: rests(side)), f"the {side.name} never rests: {wakeups(side)}")


def rests(side: Side) -> bool:
    before = wakeups(side)
    time.sleep(WINDOW_S)
    return wakeups(side) == before


@pytest.mark.soft_only
@pytest.mark.parametrize("idle", ["server", "client"])
def test_nothing_wakes_an_idle_side(idle: str, device: Device) -> None:
    """rping waits for its peer, which is stopped: no thread of it runs, the device's included."""
    with pair(RPING, device) as both:
        sides = {"server": both.start_server(), "client": both.start_client()}
        waiting = sides.pop(idle)
        (stopped,) = sides.values()
        both.require(until(lambda: "rpma-soft: " in waiting.err()), "no link is named")
        stopped.signal_all(signal.SIGSTOP)
        both.require(until(lambda: is_stopped(stopped)), f"the {stopped.name} does not stop")
        nothing_wakes(both, waiting)


@pytest.mark.soft_only
def test_too_few_files_are_named(device: Device) -> None:
    """A connection takes descriptors: who has too few of them is told what to raise."""
    few = Case("ucmatose", "ucmatose -b {address} -p {port} -c 1000",
               "ucmatose -s {address} -p {port} -c 1000")  # fmt: skip
    with pair(few, device) as both:
        both.start_server()
        client = both.start("client", (*FEW_FILES, *device.client), few.client)
        status = client.wait(60)
        both.require(status is not None and status > 0, "the client does not fail")
        message = re.search(r"(?m)^rpma-soft: .*(RLIMIT_NOFILE|ulimit -n|open files)", client.err())
        both.require(message, "the client does not name the limit")
