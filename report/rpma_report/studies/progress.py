# SPDX-License-Identifier: BSD-3-Clause
"""How far a study is: a bar with the time that is left on a terminal, else a line each measurement."""

import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from rpma_report.studies.plan import Job
from rpma_report.text import shown

_WIDTH = 24


def estimate_s(left: Iterable[Job], seconds: Mapping[str, Sequence[float]]) -> float | None:
    """From what measurements with the same tool took, else from all; None before the first."""
    count, whole = (sum(value[i] for value in seconds.values()) for i in (0, 1))
    if not count:
        return None
    total = 0.0
    for tool, number in Counter(job.tool for job in left).items():
        known, took = seconds.get(tool, (0, 0.0))
        total += number * (took / known if known else whole / count)
    return total


def duration(seconds: float | None) -> str:
    """1:02:03 or 2:03"""
    if seconds is None:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def bar(done: int, of: int, left_s: float | None, subject: str) -> str:
    filled = _WIDTH * done // max(of, 1)
    return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{of}  {duration(left_s)} left  {subject}"


class Progress:
    """Writes to standard error, so that standard output stays clean."""

    def __init__(self, of: int, stream: TextIO | None = None) -> None:
        self._of, self._stream = of, stream or sys.stderr
        self._live = self._stream.isatty()
        self._started = 0.0

    def begin(self, done: int, left_s: float | None, job: Job) -> None:
        self._started = time.monotonic()
        self.tick(done, left_s, job)

    def tick(self, done: int, left_s: float | None, job: Job) -> None:
        if self._live:
            gone = time.monotonic() - self._started
            rest = None if left_s is None else max(left_s - gone, 0)
            self._stream.write("\r" + bar(done, self._of, rest, shown(job.subject, 40)) + "\x1b[K")
            self._stream.flush()

    def end(self, done: int, job: Job, outcome: str) -> None:
        """A failure stays to be read on a terminal too."""
        if not self._live or outcome != "measured":
            clear = "\r\x1b[K" if self._live else ""
            self._stream.write(f"{clear}{done}/{self._of} {job.subject}: {outcome}\n")
            self._stream.flush()

    def close(self) -> None:
        if self._live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
