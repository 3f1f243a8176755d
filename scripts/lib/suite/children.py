# SPDX-License-Identifier: BSD-3-Clause
"""Commands in sessions of their own, which end with us."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from trees import ROOT
from watch import LOOK_EVERY_S, Watch

STOP_LIMIT_S = 20


class Children:
    """All that run now. After stop() none is started any more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self.is_stopped = False

    def run(self, command: list[str], log: Path, environment: dict[str, str] | None = None,
            niceness: int = 0, watched: bool = False) -> tuple[int, list[str]]:
        """The exit status, and a line for each process that the watch has ended."""
        with open(log, "ab") as output:
            with self._lock:
                if self.is_stopped:
                    return -signal.SIGTERM, []
                child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output,
                                         stderr=subprocess.STDOUT, start_new_session=True,
                                         preexec_fn=_nicer(niceness),
                                         env={**os.environ, **(environment or {})})
                self._running.add(child)
            watch = Watch(child.pid)
            while True:
                try:
                    status = child.wait(LOOK_EVERY_S)
                    break
                except subprocess.TimeoutExpired:
                    if watched:
                        watch.look()
            with self._lock:
                self._running.discard(child)
        return status, watch.ended

    def stop(self) -> None:
        """Ends all: politely, as tests of guests and servers clean up, then for good."""
        with self._lock:
            self.is_stopped = True
            running = list(self._running)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for child in running:
                _signal_session(child, number)
            for child in running:
                try:
                    child.wait(STOP_LIMIT_S)
                except subprocess.TimeoutExpired:
                    pass


def _nicer(by: int) -> Callable[[], None]:
    """The niceness of a session counts where the kernel shares processors by session: sched(7)."""
    def nicer() -> None:
        os.nice(by)
        if by and os.access("/proc/self/autogroup", os.W_OK):
            Path("/proc/self/autogroup").write_text(str(by))

    return nicer


def _signal_session(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """ctest gives its tests no session of their own, but some start one: those end with it."""
    if child.poll() is not None:
        return
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        pass
