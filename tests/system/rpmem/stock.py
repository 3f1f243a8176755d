# SPDX-License-Identifier: BSD-3-Clause
"""Debian 12's own PMDK over our librpmem.so.1: pools with a replica on a target, which is this
host, reached by ssh-stub. What its tests share."""

import fcntl
import os
import random
import re
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LIBRARY = Path(os.environ["RPMEM_LIBRARY"])
RPMEMD = os.environ["RPMEMD"]
LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
LIMIT_S = 300  # a hang is a failure
MIB = 1 << 20
ENDLESS = 1 << 40  # transactions
WORDS = 512  # that a transaction writes of a page, at most
resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # programs are to abort here

# How lanes reach the daemon: what the client is started with, and its environment.
WAYS: dict[str, tuple[list[str], dict[str, str]]] = {
    "rdma": ([LAUNCHER, "--transport", "local", "--"], {}),
    "rdma-tcp": ([LAUNCHER, "--transport", "tcp", "--"], {}),
    "sockets": ([], {"RPMEM_ENABLE_VERBS": "0", "RPMEM_ENABLE_SOCKETS": "1"}),
    "rxe": ([], {"RPMEM_ENABLE_VERBS": "1"}),  # the kernel's device, in a guest
}
SOME_WAYS = os.environ.get("STOCK_WAYS", "rdma rdma-tcp sockets").split()
# Parts in MiB of the local and the remote replica, and their options.
LAYOUTS: dict[str, tuple[list[int], list[int], list[str]]] = {
    "one": ([32], [32], []),
    "parts": ([8, 16, 8], [16, 8, 16], []),
    "single-header": ([16, 16], [8, 24, 8], ["OPTION SINGLEHDR"]),
}


@cache
def pmdk() -> Path:
    """The directory usr of Debian's packages. A guest has no network, and gets STOCK_PMDK."""
    folder = os.environ.get("STOCK_PMDK")
    if folder is None:
        fetched = subprocess.run([HERE.parents[1] / "fetch-pmdk", "bookworm"], stdout=subprocess.PIPE, text=True)
        if fetched.returncode != 0:
            pytest.skip("Debian 12's PMDK could not be fetched")
        folder = fetched.stdout.strip()
    usr = Path(folder) / "usr"
    tried = subprocess.run([usr / "bin/pmempool", "--version"], env=environment(usr), capture_output=True)
    if tried.returncode != 0:
        pytest.skip("Debian 12's PMDK does not run here")
    return usr


def libraries(usr: Path) -> Path:
    return next(usr.glob("lib/*/libpmemobj.so.1")).parent


def environment(usr: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": f"{LIBRARY.parent}:{libraries(usr)}", "RPMA_SOFT": "", **more}


@cache
def ledger_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="rpmem-ledger-")


@cache
def ledger() -> str:
    """ledger.c, built with Debian's headers and libpmemobj."""
    usr, program = pmdk(), f"{ledger_folder().name}/ledger"
    found = libraries(usr)
    subprocess.run(["cc", "-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-I", HERE.parents[2],
                    "-isystem", usr / "include", "-o", program, HERE / "ledger.c", f"-L{found}",
                    f"-Wl,-rpath-link,{found}", "-lpmemobj"], check=True)  # fmt: skip
    return program


def wait_while(true: Callable[[], object], limit_s: float = 30) -> None:
    end = time.monotonic() + limit_s
    while it := true():
        assert time.monotonic() < end, it
        time.sleep(0.01)


class Stock:
    """Two folders, `local` and `target`, each with the set of its replica."""

    def __init__(self, way: str, folder: Path, layout: str = "one", remotes: int = 1) -> None:
        self.way, self.folder = way, folder
        self.random = random.Random(way + layout)
        self.local, self.target = folder / "local", folder / "target"
        self.local.mkdir()
        self.target.mkdir()
        here, there, options = LAYOUTS[layout]
        self.parts = [self.local / f"part{i}" for i in range(len(here))]
        self.remote_parts = [folder / f"remote{r}.part{i}" for r in range(remotes) for i in range(len(there))]
        self.set, self.alone = self.local / "pool.set", self.local / "alone.set"
        self.lines = [*options, *(f"{size}M {part}" for size, part in zip(here, self.parts))]
        self.remotes = [f"remote{r}.set" for r in range(remotes)]
        for r, name in enumerate(self.remotes):
            parts = self.remote_parts[r * len(there) :]
            lines = [*options, *(f"{size}M {part}" for size, part in zip(there, parts))]
            self.write_set(self.target / name, lines)
        self.write_set(self.alone, self.lines)
        self.write_sets()
        self.journal = folder / "journal"
        self.log = folder / "rpmemd.log"

    @staticmethod
    def write_set(file: Path, lines: list[str]) -> None:
        file.write_text("\n".join(["PMEMPOOLSET", *lines]) + "\n")

    def write_sets(self) -> None:
        self.write_set(self.set, [*self.lines, *(f"REPLICA target {name}" for name in self.remotes)])

    def daemon(self, *words: str) -> str:
        return " ".join([RPMEMD, f"--poolset-dir={self.target}", f"--log-file={self.log}", "--log-level=info", *words])

    def environment(self) -> dict[str, str]:
        return environment(pmdk(), RPMEM_SSH=str(HERE / "ssh-stub"), RPMEM_CMD=self.daemon(),
                           **WAYS[self.way][1])  # fmt: skip

    # --- programs ---

    def start(self, *command: object) -> subprocess.Popen[str]:
        """The launcher becomes the program, so that to kill the one is to kill the other."""
        words = [*WAYS[self.way][0], *map(str, command)]
        return subprocess.Popen(words, env=self.environment(), text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip

    def run(self, *command: object) -> subprocess.CompletedProcess[str]:
        with self.start(*command) as process:
            try:
                out, error = process.communicate(timeout=LIMIT_S)
            finally:
                process.kill()
        return subprocess.CompletedProcess([*map(str, command)], process.returncode, out, error)

    def good(self, *command: object) -> str:
        done = self.run(*command)
        assert done.returncode == 0, f"{done.args}: {done.returncode}: {done.stdout}{done.stderr}{self.said()}"
        return done.stdout

    def pmempool(self, *words: object) -> str:
        return self.good(pmdk() / "bin/pmempool", *words)

    def pmempool_fails(self, *words: object) -> str:
        done = self.run(pmdk() / "bin/pmempool", *words)
        assert done.returncode == 1, f"{words}: {done.returncode}: {done.stdout}{done.stderr}{self.said()}"
        return done.stdout + done.stderr

    def said(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    # --- the pool ---

    def create(self) -> None:
        self.pmempool("create", "--layout=ledger", "obj", self.set)

    def work(self, transactions: int = 5) -> None:
        """Each of 16 threads performs that many, and the invariants hold before and after."""
        self.good(ledger(), "work", self.set, self.journal, transactions, WORDS)

    @contextmanager
    def working(self, words: int = WORDS) -> Iterator[subprocess.Popen[str]]:
        """Its threads go on until it is killed."""
        process = self.start(ledger(), "work", self.set, self.journal, ENDLESS, words)
        try:
            assert process.stdout is not None
            if process.stdout.readline() != "works\n":
                raise AssertionError(process.communicate(timeout=LIMIT_S)[1] + self.said())
            yield process
        finally:
            process.kill()
            process.communicate()

    def check(self) -> int:
        """The invariants hold. How many transactions there are."""
        return int(self.good(ledger(), "check", self.set, self.journal).split()[0])

    def sync(self) -> None:
        self.pmempool("sync", self.set)

    def check_parts(self) -> None:
        """pmempool finds each replica consistent by itself. Of several parts, also of a set without replicas, it
        checks none alone: then all headers are right."""
        if len(self.parts) == 1 and len(self.remote_parts) == len(self.remotes):
            for part in [*self.parts, *self.remote_parts]:
                assert self.pmempool("check", "-v", part).rstrip().endswith(": consistent")
            return
        for part in [*self.parts, *self.remote_parts]:
            if "OPTION SINGLEHDR" not in self.lines or part in (self.parts[0], self.remote_parts[0]):
                assert re.search(r"^Checksum +: 0x\w+ \[OK\]$", self.pmempool("info", part), re.MULTILINE)

    def lose_local(self) -> None:
        for part in self.parts:
            part.unlink(missing_ok=True)

    def lose_remote(self) -> None:
        for part in self.remote_parts:
            part.unlink(missing_ok=True)

    def restore(self) -> int:
        """From the remote replica alone."""
        self.lose_local()
        self.sync()
        self.check_parts()
        return self.check()

    # --- what must not stay ---

    def daemons(self) -> list[str]:
        """Command lines that have the target's folder: rpmemd, and the shell that runs it."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                line = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if f"={self.target} ".encode() in line.replace(b"\0", b" "):
                found.append(f"{process.name}: {line!r}")
        return found

    def wait_for_daemons(self) -> None:
        wait_while(self.daemons)

    def locked(self) -> list[Path]:
        found = []
        for part in self.parts:
            # one that sync has not completed has no permissions
            with suppress(FileNotFoundError, PermissionError), open(part, "rb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    found.append(part)
        return found

    def kill(self, process: subprocess.Popen[str], delay_s: float) -> bool:
        """After this time. False: it had ended by then. Neither a lock nor a daemon stays."""
        try:
            _, error = process.communicate(timeout=delay_s)
        except subprocess.TimeoutExpired:
            process.kill()
            _, error = process.communicate()
        wait_while(self.locked)
        self.wait_for_daemons()
        assert process.returncode in (0, -signal.SIGKILL), f"{process.returncode}: {error}{self.said()}"
        return process.returncode != 0


@contextmanager
def stock(way: str, layout: str = "one", remotes: int = 1) -> Iterator[Stock]:
    """No daemon may stay."""
    with tempfile.TemporaryDirectory(prefix="rpmem-stock-") as folder:
        one = Stock(way, Path(folder), layout, remotes)
        yield one
        one.wait_for_daemons()
