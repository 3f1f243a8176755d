# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of lanes share: the daemon of a pool that is one file, and its clients."""

import os
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DAEMON = os.environ["RPMEM_LANE_DAEMON"]
CLIENT = os.environ["RPMEM_LANE_CLIENT"]
HOSTILE = os.environ["RPMEM_LANE_HOSTILE"]
LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
LIMIT_S = 120  # a hang is a failure
MIB = 1 << 20
WAYS = [("rdma", "gpspm"), ("rdma", "apm"), ("tcp", "gpspm")]


class Daemon:
    """rpmem_lane_daemon with a new pool; `faults` are words of RPMA_SOFT for clients."""

    def __init__(self, transport: str, method: str, nlanes: int, size: int = 8 * MIB, *more: str) -> None:
        self.transport, self.nlanes, self.size = transport, nlanes, size
        self.directory = tempfile.TemporaryDirectory(prefix="rpmem-lanes-")
        self.pool = Path(self.directory.name) / "pool"
        self.log = tempfile.TemporaryFile("w+")
        command = [DAEMON, transport, method, str(self.pool), str(size), str(nlanes), *more]
        self.process = subprocess.Popen(
            self.launched(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline().split()
        assert len(line) == 4, self.said()
        self.address, self.port, self.token, self.method = line

    def launched(self, command: list[str]) -> list[str]:
        return [LAUNCHER, "--", *command] if self.transport == "rdma" else command

    def command(self, test: str, seed: int = 1, work_queue: int = 50, **changed: str) -> list[str]:
        words = {
            "address": self.address,
            "port": self.port,
            "token": self.token,
            "size": str(self.size),
            "nlanes": str(self.nlanes),
            **changed,
        }
        command = [CLIENT, self.transport, self.method, *words.values(), str(work_queue), test, str(seed)]
        return self.launched(command)

    def client(
        self,
        test: str,
        seed: int = 1,
        work_queue: int = 50,
        faults: str = "",
        open_files: int = 0,
        **changed: str,
    ) -> subprocess.CompletedProcess[str]:
        limit = (open_files, open_files)
        return subprocess.run(
            self.command(test, seed, work_queue, **changed),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env={**os.environ, "RPMA_SOFT": faults},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit) if open_files else None,
        )

    def good(self, test: str, seed: int = 1, work_queue: int = 50, faults: str = "", **changed: Any) -> str:
        """A client that finds all well."""
        done = self.client(test, seed, work_queue, faults, **changed)
        assert done.returncode == 0, done.stdout + done.stderr + self.said()
        return done.stdout

    def hostile_command(self, test: str, lane: int, *more: str) -> list[str]:
        words = [self.address, self.port, self.token, str(self.size), str(lane), test, *more]
        return self.launched([HOSTILE, self.transport, *words])

    @contextmanager
    def working(self, command: list[str]) -> Iterator[subprocess.Popen[str]]:
        """A client that works until it is lost, and has begun."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as client:
            try:
                assert client.stdout is not None
                assert client.stdout.readline() == "working\n"
                yield client
            finally:
                client.kill()

    def fuzz(self, lane: int, rounds: int, seed: int) -> None:
        done = subprocess.run(
            self.hostile_command("fuzz", lane, str(rounds), str(seed)),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        assert done.returncode == 0, done.stdout + done.stderr + self.said()

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def end(self, limit_s: int = LIMIT_S) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(limit_s)

    def kill(self) -> None:
        """It is dead when this returns, not only about to be."""
        self.process.kill()
        self.process.wait()


@contextmanager
def daemon(transport: str, method: str, nlanes: int = 4, size: int = 8 * MIB, *more: str) -> Iterator[Daemon]:
    """It ends well unless it was killed."""
    one = Daemon(transport, method, nlanes, size, *more)
    try:
        yield one
        if one.process.poll() is None:
            assert one.end() == 0, one.said()
    finally:
        one.kill()
        one.directory.cleanup()
