# SPDX-License-Identifier: BSD-3-Clause
"""Runs one program to its end, or to the end of its time; never leaves it behind.

It gets a process group of its own, so that a key of the terminal reaches the study
alone, which then ends the program in order. Should the study be killed, the kernel
tells the program to end.
"""

import ctypes
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from rpma_report.studies import remote
from rpma_report.text import shown

_PR_SET_PDEATHSIG = 1
_GRACE_S = 10.0
_REMOTE_GRACE_S = remote.GRACE_S + 5.0
_TICK_S = 1.0
_MAX_LOG_BYTES = 4096  # at the end of a log, which are looked at
_libc = ctypes.CDLL(None)


Tick = Callable[[], None]


class NotRun(Exception):
    """Why there is no result, in one line."""


def run(words: Sequence[str], stdin: bytes, out: IO[bytes], log: Path, folder: Path, timeout_s: float,
        held: Sequence[int] = (), tick: Tick = lambda: None) -> int:  # fmt: skip
    """The exit code; `held` are descriptors that it keeps open as long as it lives."""
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        process = _start(words, given, out, log, folder, held)
        try:
            return _wait(process, timeout_s, tick)
        finally:
            _stop(process)


def run_remote(words: Sequence[str], stdin: bytes, out: IO[bytes], log: Path, folder: Path,
               timeout_s: float, held: Sequence[int] = (), tick: Tick = lambda: None) -> int:  # fmt: skip
    """The same of an ssh: the end of its standard input ends the program on the other host."""
    process = _start(words, subprocess.PIPE, out, log, folder, held)
    feeder = threading.Thread(target=_feed, args=(process, stdin), daemon=True)
    feeder.start()
    try:
        return _wait(process, timeout_s, tick)
    finally:
        try:
            _end_input(process, feeder)
        finally:
            _stop(process)


def _start(words: Sequence[str], stdin: IO[bytes] | int, out: IO[bytes], log: Path, folder: Path,
           held: Sequence[int]) -> subprocess.Popen[bytes]:  # fmt: skip
    log.unlink(missing_ok=True)
    with log.open("xb") as errors:
        try:
            return subprocess.Popen(
                list(words), stdin=stdin, stdout=out, stderr=errors, cwd=folder, bufsize=0,
                start_new_session=True, pass_fds=tuple(held), preexec_fn=_end_with_parent,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a name of a program"
            raise NotRun(f"{shown(Path(words[0]).name, 60)} cannot be started: {reason}") from error


def _feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    """In a thread: an ssh that still connects takes nothing."""
    assert process.stdin
    left = memoryview(data)
    try:
        while left:
            left = left[os.write(process.stdin.fileno(), left) :]
    except OSError:
        pass


def _end_input(process: subprocess.Popen[bytes], feeder: threading.Thread) -> None:
    """Gives the other host the time to end its program; what still feeds waits for an ssh that hangs."""
    assert process.stdin
    if not feeder.is_alive():
        process.stdin.close()
    try:
        process.wait(0 if feeder.is_alive() else _REMOTE_GRACE_S)
    except subprocess.TimeoutExpired:
        pass


def _end_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait(process: subprocess.Popen[bytes], timeout_s: float, tick: Tick) -> int:
    end = time.monotonic() + timeout_s
    while True:
        left = end - time.monotonic()
        if left <= 0:
            raise NotRun(f"took longer than {timeout_s:.0f} s (timeout_s)")
        try:
            return process.wait(min(_TICK_S, left))
        except subprocess.TimeoutExpired:
            tick()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """And what it started: all of its group."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            pass
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def last_words(log: Path) -> str:
    """The last line of a log."""
    with log.open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - _MAX_LOG_BYTES, 0))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return shown(lines[-1].strip(), 200) if lines else ""
