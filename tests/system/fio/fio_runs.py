# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this folder share: Debian's fio with the engine of this build, run as server
and as client on the software device, each with a mark and a folder of its own, so that what it
leaves can be seen."""

import json
import os
import re
import signal
import subprocess
import threading
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
ENGINE_DIR = Path(os.environ["FIO_ENGINE_DIR"])
FIO = os.environ.get("FIO", "/usr/bin/fio")
NATIVE = os.environ.get("FIO_NATIVE") == "1"
MODES = [
    "apm",
    "gpspm",
    pytest.param("native", marks=pytest.mark.skipif(not NATIVE, reason="this build has no native flush")),
]
LIMIT_S = 120  # a hang is a failure
CLOCK = "clock_gettime"  # another one fio tries on all processors for 0.1 s
KIB = 1024
ALIASES = [f"librpma_{method}_{role}" for method in ("apm", "gpspm") for role in ("client", "server")]


# file systems that are known to keep what is synced, as stat(1) names them
STORES = {"ext2/ext3", "xfs", "btrfs", "f2fs", "jfs", "zfs"}


def file_system(folder: Path) -> str:
    return subprocess.run(["stat", "-f", "-c", "%T", folder], check=True, capture_output=True, text=True).stdout.strip()


def mostly_long(values: Iterable[Any], *short: Any) -> list[Any]:
    """Parameters of which only these are for every day."""
    return [value if value in short else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.long)
            for value in values]  # fmt: skip


def with_mode(mode: Any, *values: Any, is_long: bool) -> Any:
    """Values and a mode of MODES, with its mark for what this build may lack."""
    name, marks = (mode, ()) if isinstance(mode, str) else (mode.values[0], mode.marks)
    return pytest.param(*values, name, marks=[*marks, *([pytest.mark.long] if is_long else [])])


def modes_but_mostly(daily: int) -> list[Any]:
    """All of MODES, of which one is for every day."""
    return [with_mode(mode, is_long=at != daily) for at, mode in enumerate(MODES)]


def fio_version() -> str:
    return subprocess.run([FIO, "--version"], capture_output=True, check=True, text=True).stdout.strip()


def another_fio(folder: Path, version: str) -> str:
    """Debian's fio with another version in its mouth, of the same length."""
    content, own = Path(FIO).read_bytes(), f"{fio_version()}\0".encode()
    assert len(own) == len(version) + 1 and own in content
    program = folder / "fio"
    program.write_bytes(content.replace(own, f"{version}\0".encode()))
    program.chmod(0o755)
    return str(program)


def environment(soft: str = "", **more: str) -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": str(ENGINE_DIR), "RPMA_SOFT": soft, **more}


def words(**options: Any) -> list[str]:
    return [f"--{key}={value}" for key, value in options.items()]


class Lines:
    """What comes from a pipe, kept as it comes."""

    def __init__(self, pipe: IO[str]) -> None:
        self.pipe = pipe
        self.text = ""
        self.ended = False
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self.keep, daemon=True)
        self.thread.start()

    def keep(self) -> None:
        for line in self.pipe:
            with self.changed:
                self.text += line
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def wait_for(self, pattern: str) -> re.Match[str]:
        with self.changed:
            self.changed.wait_for(lambda: re.search(pattern, self.text) or self.ended, LIMIT_S)
            match = re.search(pattern, self.text)
            assert match is not None, f"no {pattern} in: {self.text}"
            return match

    def end(self) -> str:
        """All of it, once every writer has gone."""
        self.thread.join(LIMIT_S)
        assert self.ended, f"the pipe still has a writer: {self.text}"
        return self.text


def processes_with(word: str) -> list[int]:
    """Those that have it in their environment; a job of fio's is in a session of its own."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and word.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:  # another user's, or it has gone meanwhile
            pass
    return found


def segments_of(pid: int) -> list[str]:
    """System V shared memory that this process made and that was not removed."""
    rows = Path("/proc/sysvipc/shm").read_text().splitlines()
    column = rows[0].split().index("cpid")
    return [row for row in rows[1:] if row.split()[column] == str(pid)]


class Run:
    """One fio, started; `kill` and `end` are for all its processes."""

    def __init__(self, folder: Path, *options: str, soft: str = "", fio: str = FIO, **env: str) -> None:
        self.folder = folder
        mark = uuid.uuid4().hex
        self.mark = f"FIO_RUN={mark}"
        self.process = subprocess.Popen(
            [LAUNCHER, fio, *options], cwd=folder, env=environment(soft, FIO_RUN=mark, **env), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdout is not None and self.process.stderr is not None
        self.out = Lines(self.process.stdout)
        self.errors = Lines(self.process.stderr)
        self.port = ""

    def listening(self) -> str:
        self.port = self.errors.wait_for(r"librpma server: listening on \S+ port (\d+)")[1]
        return self.port

    def signal(self, number: int) -> None:
        """To fio alone, as kill(1) does."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """All its processes at once, as if its host had gone."""
        while left := self.left():
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.poll()
        self.process.wait(LIMIT_S)

    def end(self) -> int:
        """Its exit status; nothing of it is left."""
        code = self.process.wait(LIMIT_S)
        assert self.left() == []
        assert segments_of(self.process.pid) == []
        self.errors.end()
        self.out.end()
        return code

    def left(self) -> list[int]:
        return processes_with(self.mark)

    def said(self) -> str:
        return self.errors.end()

    def told(self) -> list[str]:
        """What the engine said, but that it waits; fio's own lines, and the device's, are left out."""
        return [line for line in self.said().splitlines() if "librpma" in line and "waiting for" not in line]

    def document(self) -> dict[str, Any]:
        """All that is on its standard output is one JSON object."""
        found = json.loads(self.out.end())
        assert isinstance(found, dict)
        return found


@contextmanager
def server(folder: Path, soft: str = "", **options: Any) -> Iterator[Run]:
    """A server of 1 MiB of DRAM for any client, unless the options say otherwise."""
    defaults = {"size": "1m", "port": 0, "busy_wait_polling": 0, "clocksource": CLOCK}
    run = Run(folder, *words(name="server", ioengine="librpma", role="server", **{**defaults, **options}), soft=soft)
    try:
        run.listening()
        yield run
    finally:
        run.kill()


@contextmanager
def client(folder: Path, port: str, soft: str = "", **options: Any) -> Iterator[Run]:
    defaults = {"port": port, "output-format": "json", "verify_state_save": 0, "clocksource": CLOCK}
    given = {key: value for key, value in options.items() if value is not None}
    run = Run(folder, *words(name="client", ioengine="librpma", **{**defaults, **given}), soft=soft)
    try:
        yield run
    finally:
        run.kill()


class Done:
    """A client that has ended, with nothing left."""

    def __init__(self, run: Run) -> None:
        self.code = run.end()
        self.said = run.said()
        self.told = run.told()
        self.run = run
        self.out = run.out.text  # fio prints a line before the JSON for a job that failed

    @property
    def document(self) -> dict[str, Any]:
        return self.run.document()

    @property
    def job(self) -> dict[str, Any]:
        """The results of its first job."""
        return dict(self.document["jobs"][0])

    def jobs(self) -> list[dict[str, Any]]:
        return list(self.document["jobs"])

    def ios(self, direction: str) -> int:
        return sum(int(job[direction]["total_ios"]) for job in self.jobs())


def facts(job: dict[str, Any]) -> dict[str, str]:
    """What the engine has in a job's options in fio's JSON."""
    return dict(word.split("=", 1) for word in job["job options"]["librpma"].split())


def run_client(folder: Path, port: str, soft: str = "", code: int = 0, **options: Any) -> Done:
    """To its end, which has this status."""
    with client(folder, port, soft, **options) as run:
        done = Done(run)
    assert done.code == code, done.said + done.out
    if code == 0 and not {"continue_on_error", "output"} & options.keys():
        assert all(job["error"] == 0 for job in done.jobs()), done.said
    return done


def run_fio(folder: Path, *options: str, soft: str = "", fio: str = FIO, **env: str) -> tuple[int, str, str]:
    """Anything else: its status, what it printed, and its errors."""
    run = Run(folder, *options, soft=soft, fio=fio, **env)
    try:
        code = run.end()
    finally:
        run.kill()
    return code, run.out.text, run.errors.text


def refused(run: Run, *parts: str) -> str:
    """It fails, with one line of the engine that has these parts in it."""
    code = run.end()
    assert code == 1, run.said()
    lines = [line for line in run.told() if re.match("librpma( server)?: ", line)]
    found = [line for line in lines if all(part in line for part in parts)]
    assert len(found) == 1, f"one line with {parts} expected: {run.said()}"
    return found[0]


def patterned(begin: int, size: int) -> bytes:
    """A block as verify_pattern="rpma"%o makes it: a word and the block's offset in its file."""
    piece = b"rpma" + begin.to_bytes(8, "little")
    return (piece * (size // len(piece) + 1))[:size]


PATTERN: dict[str, Any] = {"verify": "pattern", "verify_pattern": '"rpma"%o'}
