# SPDX-License-Identifier: BSD-3-Clause
"""Child processes that never outlive us, and signals that end a run cleanly."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from types import FrameType
from typing import Any, Sequence

from failure import Failure, Stopped

PR_SET_PDEATHSIG = 1
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_libc = ctypes.CDLL(None)


def note(message: str) -> None:
    """Say what takes long; runs that find everything in the cache say nothing."""
    print(f"vm: {message}", file=sys.stderr, flush=True)


def stop_on_signals() -> None:
    def stop(number: int, _frame: FrameType | None) -> None:
        for other in STOPPING:
            signal.signal(other, signal.SIG_IGN)
        raise Stopped(number)

    for number in STOPPING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def _die_with_parent() -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def start(command: Sequence[str], **kwargs: Any) -> subprocess.Popen[bytes]:
    """Start COMMAND in a session of its own, so that a terminal's Ctrl-C reaches
    us alone and we decide what ends when."""
    if not shutil.which(command[0]):
        raise Failure(f"{command[0]} is not installed")
    return subprocess.Popen(command, start_new_session=True, preexec_fn=_die_with_parent,
                            **kwargs)


def kill(child: subprocess.Popen[bytes]) -> None:
    """End CHILD and what it started in its session."""
    if child.poll() is None:
        try:
            os.killpg(child.pid, signal.SIGTERM)
            child.wait(timeout=15)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def run(command: Sequence[str], **kwargs: Any) -> tuple[int, str]:
    """Run COMMAND to its end; return its status and what it printed."""
    child = start(command, stdin=kwargs.pop("stdin", subprocess.DEVNULL),
                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)
    try:
        output, _ = child.communicate()
    except BaseException:
        kill(child)
        raise
    return child.returncode, output.decode(errors="replace")


def checked(what: str, command: Sequence[str], **kwargs: Any) -> str:
    """Like run(); a failure is told in one line with the command's last words."""
    status, output = run(command, **kwargs)
    if status:
        raise Failure(f"{what}: {last_words(output) or f'{command[0]} ended with {status}'}")
    return output


def last_words(output: str) -> str:
    """The line of OUTPUT that explains the failure: the first error, else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("E:") or "error:" in line.lower()]
    return (errors[:1] or lines or [""])[-1]
