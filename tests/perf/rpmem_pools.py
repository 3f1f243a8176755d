# SPDX-License-Identifier: BSD-3-Clause
"""What the measurements of librpmem share: a target on this host, reached by a stub of ssh, with its
daemon on core 1, whose pools are files in shared memory that are declared to be persistent (APM);
and a daemon of bare lanes, for the same work by hand."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sides import ON_CLIENT, ON_SERVER, SECONDS

STUB = Path(__file__).resolve().parents[1] / "system/rpmem/ssh-stub"
SHARED = "/dev/shm"
MIB = 1 << 20
LANES_SIZE = 8 * MIB
RELAXED = "1"


class Programs(NamedTuple):
    """In the order of the command lines."""

    soft: str
    rpmemd: str
    lane_daemon: str
    measured: str


class ByHand(NamedTuple):
    address: str
    port: str
    token: str


class Target:
    """A pool set directory; each run has a new set, as a part that is there is not created again."""

    def __init__(self, programs: Programs, folder: Path) -> None:
        self.programs, self.folder, self.runs = programs, folder, 0
        folder.chmod(0o755)
        rpmemd = folder / "rpmemd"
        log = folder / "log"
        rpmemd.write_text(f"#!/bin/sh\nexec {' '.join(ON_SERVER)} {programs.rpmemd} --poolset-dir={folder} "
                          f'--log-file={log} --log-level=notice --persist-apm "$@"\n')  # fmt: skip
        rpmemd.chmod(0o755)
        self.log = log
        self.env = os.environ | {
            "RPMEM_SSH": str(STUB),
            "RPMEM_CMD": str(rpmemd),
            "RPMEM_ENABLE_VERBS": "1",
            "RPMEM_ENABLE_SOCKETS": "0",
            "PMEM_IS_PMEM_FORCE": "1",
            "LD_BIND_NOW": "1",  # or the first calls of all functions are made by one
        }

    def command(self, size: int, *words: str, wrapper: list[str] | None = None) -> list[str]:
        """The program that is measured, with a pool of this size."""
        self.runs += 1
        name = f"{self.runs}.set"
        (self.folder / name).write_text(f"PMEMPOOLSET\nOPTION NOHDRS\n{size} {self.folder}/{self.runs}.part\n")
        p = self.programs
        pinned = [] if wrapper else ON_CLIENT  # valgrind starves the device's thread on one core
        return [*pinned, p.soft, *(wrapper or []), p.measured, name, str(size), *words]

    def run(self, size: int, *words: str, wrapper: list[str] | None = None, faults: str = "") -> list[str]:
        """The lines that it prints; the pool is gone afterwards."""
        command = self.command(size, *words, wrapper=wrapper)
        done = subprocess.run(command, env=self.env | {"RPMA_SOFT": faults}, stdout=subprocess.PIPE,
                              text=True, timeout=SECONDS)  # fmt: skip
        (self.folder / f"{self.runs}.part").unlink(missing_ok=True)
        if done.returncode != 0:
            log = self.log.read_text() if self.log.exists() else ""
            raise SystemExit(f"{' '.join(command)} failed ({done.returncode}): {log[-500:]}")
        return done.stdout.splitlines()

    @contextlib.contextmanager
    def by_hand(self) -> Iterator[ByHand]:
        """A lane for one client, in memory like that of the pools."""
        pool = self.folder / "lanes"
        command = [*ON_SERVER, self.programs.soft, self.programs.lane_daemon, "rdma", "apm",
                   str(pool), str(LANES_SIZE), "1"]  # fmt: skip
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                words = process.stdout.readline().split() if process.stdout else []
                if len(words) != 4:
                    raise SystemExit(f"{' '.join(command)}: {words}")
                yield ByHand(*words[:3])
            finally:
                process.kill()
        pool.unlink()


@contextlib.contextmanager
def target(programs: Programs) -> Iterator[Target]:
    with tempfile.TemporaryDirectory(prefix="rpmem-perf-", dir=SHARED) as folder:
        yield Target(programs, Path(folder))
