# SPDX-License-Identifier: BSD-3-Clause
"""Ends a test that makes no progress, and names what it waited for.

A limit of time fails a healthy test on a busy host. So there is none while progress is seen: a
test goes on as long as one of its processes runs, waits for its turn or for a disk, or has used
processor time since the last look. A test that spins for ever ends by the processor time that it
has used.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

IDLE_LIMIT_S = 300.0
CPU_LIMIT_S = 5400.0
LOOK_EVERY_S = 5.0
IDLE_SHARE = 0.01  # timers that fire now and then are no progress
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    parent: int
    name: str
    state: str
    cpu_s: float


@dataclass
class Test:
    """A child of ctest with its descendants."""

    progress_at: float
    cpu_s: float = 0.0
    seen: set[int] = field(default_factory=set)


def processes() -> dict[int, Process]:
    """All of the host, see proc(5)."""
    found = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            head, _, tail = Path(entry.path, "stat").read_text(errors="replace").rpartition(")")
        except OSError:
            continue
        fields = tail.split()
        ticks = sum(int(value) for value in fields[11:15])  # its own, and of children it waited for
        found[int(entry.name)] = Process(int(fields[1]), head.partition("(")[2], fields[0],
                                         ticks / TICKS_PER_S)
    return found


def _threads_at_work(pid: int) -> bool:
    try:
        for thread in os.scandir(f"/proc/{pid}/task"):
            stat = Path(thread.path, "stat").read_text(errors="replace")
            if stat.rpartition(")")[2].split()[0] in "RD":
                return True
    except OSError:
        pass
    return False


def _family(parent: int, all_of_host: dict[int, Process]) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, process in all_of_host.items():
        children.setdefault(process.parent, []).append(pid)
    found, ahead = set(), [parent]
    while ahead:
        pid = ahead.pop()
        found.add(pid)
        ahead += children.get(pid, [])
    return found


def waits_for(pid: int, process: Process) -> str:
    """A process's name and where the kernel holds it."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        channel = Path(f"/proc/{pid}/wchan").read_text() or "?"
    except OSError:
        return f"{process.name} ({pid}): gone"
    return f"{process.name} ({pid}), state {process.state}, in {channel}: {command.strip()[:160]}"


class Watch:
    """Looks at the tests of one ctest; ended[] has a line for each process it has ended."""

    def __init__(self, ctest: int, idle_limit_s: float = IDLE_LIMIT_S) -> None:
        self.ctest = ctest
        self.idle_limit_s = idle_limit_s
        self.tests: dict[int, Test] = {}
        self.ended: list[str] = []
        self.looked_at = time.monotonic()

    def look(self) -> None:
        now, alive = time.monotonic(), processes()
        interval_s, self.looked_at = now - self.looked_at, now
        for pid in [pid for pid, process in alive.items() if process.parent == self.ctest]:
            test = self.tests.setdefault(pid, Test(now))
            test.seen = _family(pid, alive)
            cpu_s = sum(alive[member].cpu_s for member in test.seen)
            if (cpu_s - test.cpu_s > IDLE_SHARE * interval_s or
                    any(_threads_at_work(member) for member in test.seen)):
                test.progress_at = now
            test.cpu_s = max(cpu_s, test.cpu_s)
            if now - test.progress_at > self.idle_limit_s:
                self._end(test, alive, f"no progress for {self.idle_limit_s:.0f} s")
            elif test.cpu_s > CPU_LIMIT_S:
                self._end(test, alive, f"{CPU_LIMIT_S:.0f} s of processor time are used")
        self.tests = {pid: test for pid, test in self.tests.items() if pid in alive}

    def _end(self, test: Test, alive: dict[int, Process], why: str) -> None:
        self.ended += [f"{why}: {waits_for(pid, alive[pid])}" for pid in sorted(test.seen)]
        for pid in test.seen:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
