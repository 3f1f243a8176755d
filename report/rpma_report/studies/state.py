# SPDX-License-Identifier: BSD-3-Clause
"""A study's directory: results by their ids, a log each, the state, and the lock.

A result that is there is whole and measured: it takes its name only after it was
checked and is on disk. So the study can be killed at any moment, and what the state
file adds is small: whose directory it is, the last setting that was confirmed, and how
long measurements took. Nothing of programs, hosts or the environment is in it.
"""

import fcntl
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rpma_report.atomic_file import NotWritten, write_atomically
from rpma_report.failure import Failure
from rpma_report.studies.plan import Job, Plan
from rpma_report.text import shown

if TYPE_CHECKING:
    from rpma_report.studies.pairs import Both

KIND = "rpma-report-study-state/1"
_FILE, _LOCK = "study.json", "lock"
_LEFT_BEHIND_S = 60.0  # a program that was told to end has so long
_POLL_S = 0.2
_MOST = 1e12  # measurements, or seconds of them


@dataclass
class State:
    digest: str
    setting: str | None = None  # the last requirement that was said to be met
    seconds: dict[str, list[float]] = field(default_factory=dict)  # by tool: how many, how long

    def took(self, tool: str, seconds: float) -> None:
        count, whole = self.seconds.get(tool, [0, 0.0])
        self.seconds[tool] = [count + 1, round(whole + seconds, 3)]


class Directory:
    """The directory of one study; only one process works in it at a time."""

    def __init__(self, path: Path, plan: "Plan | Both") -> None:
        self.path, self._plan = path, plan
        try:
            path.mkdir(parents=True, exist_ok=True)
            there = sorted(entry.name for entry in path.iterdir() if entry.name != _LOCK)
        except OSError as error:
            raise NotWritten(f"{shown(path)}: cannot be a study's directory: {error.strerror}") from error
        if there and _FILE not in there:
            text = f"is not the directory of a study: it holds {shown(there[0], 60)} and no {_FILE}"
            raise Failure(f"{shown(path)}: {text}")
        self.lock = self._locked()
        self.state = self._state()
        try:
            for name in ("results", "logs", "work"):
                (path / name).mkdir(exist_ok=True)
        except OSError as error:
            text = f"no folder can be made there: {error.strerror}"
            raise NotWritten(f"{shown(error.filename)}: {text}") from error
        self.save()

    def result(self, job: Job) -> Path:
        return self.path / "results" / f"{job.id}.json"

    def part(self, job: Job) -> Path:
        """The file in which the result grows; not yet one."""
        return self.path / "results" / f".{job.id}.part"

    @property
    def work(self) -> Path:
        """The directory in which programs run."""
        return self.path / "work"

    def log(self, job: Job) -> Path:
        return self.path / "logs" / f"{job.id}.log"

    def left(self) -> list[Job]:
        return [job for job in self._plan.queue if not self.result(job).exists()]

    def keep(self, job: Job, seconds: float) -> None:
        """The part is checked: it becomes a result."""
        with self.part(job).open("rb") as file:
            os.fsync(file.fileno())
        os.replace(self.part(job), self.result(job))
        folder = os.open(self.path / "results", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        self.state.took(job.tool, seconds)
        self.save()

    def save(self) -> None:
        told = {
            "schema": KIND,
            "study": self._plan.name,
            "plan_sha256": self.state.digest,
            "setting": self.state.setting,
            "seconds": self.state.seconds,
            "results": {job.id: job.subject for job in self._plan.jobs},
        }
        write_atomically(self.path / _FILE, (json.dumps(told, indent=1) + "\n").encode())

    def close(self) -> None:
        self.lock.close()

    def _locked(self) -> IO[bytes]:
        """Its measurements hold it as well: that of a killed study keeps others out until it ends."""
        try:
            lock = (self.path / _LOCK).open("a+b")
        except OSError as error:
            raise NotWritten(f"{shown(self.path)}: cannot be written to: {error.strerror}") from error
        end = time.monotonic() + _LEFT_BEHIND_S
        while not _taken(lock):
            if _holder_lives(lock) or time.monotonic() > end:
                lock.close()
                text = "another study, or a measurement that one left behind, is at work in it"
                raise Failure(f"{shown(self.path)}: {text}")
            time.sleep(_POLL_S)
        lock.truncate(0)
        lock.write(str(os.getpid()).encode())
        lock.flush()
        return lock

    def _state(self) -> State:
        file = self.path / _FILE
        if not file.exists():
            return State(self._plan.digest)
        told = _read(file)
        if told["plan_sha256"] != self._plan.digest:
            text = "is the directory of another plan; give another one with --dir"
            raise Failure(f"{shown(self.path)}: {text}")
        return State(told["plan_sha256"], told["setting"], told["seconds"])


def _taken(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder_lives(lock: IO[bytes]) -> bool:
    """The study, that is; what it measured may outlive it for a moment."""
    lock.seek(0)
    text = lock.read(20)
    try:
        os.kill(int(text), 0)
    except (ValueError, ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _is_taken_time(value: Any) -> bool:
    """How many, how long."""
    sound = isinstance(value, list) and len(value) == 2
    return sound and all(type(n) in (int, float) and 0 <= n <= _MOST for n in value)


def _read(file: Path) -> dict[str, Any]:
    from rpma_report.sources.document import BadResult, read

    told = read(file).document
    sound = (
        told.get("schema") == KIND
        and isinstance(told.get("plan_sha256"), str)
        and isinstance(told.get("setting"), str | None)
        and isinstance(told.get("seconds"), dict)
        and all(map(_is_taken_time, told["seconds"].values()))
    )
    if not sound:
        raise BadResult(str(file), "top level", "is not the state of a study of this version")
    return told
