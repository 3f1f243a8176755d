# SPDX-License-Identifier: BSD-3-Clause
"""Programs that serve: the first line on standard output has the port, and their errors are kept."""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from signal import SIGTERM
from typing import Any

LIMIT_S = 300  # a hang is a failure


class Server:
    def __init__(self, command: list[str], env: dict[str, str] | None = None, **how: Any) -> None:
        self.log = tempfile.TemporaryFile("a+")  # each write of the program goes to its end
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log,
                                        text=True, env=env, **how)  # fmt: skip
        assert self.process.stdout is not None
        self.first = self.process.stdout.readline()
        port = re.search(r"port (\d+)", self.first)
        if port is None:
            self.process.kill()
            raise AssertionError(f"{command}: {self.first}{self.said()}")
        self.port = port[1]

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self, number: int = SIGTERM) -> int:
        self.signal(number)
        return self.process.wait(LIMIT_S)

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def reports(self, words: str) -> None:
        """It does, within LIMIT_S."""
        end = time.monotonic() + LIMIT_S
        ended = self.process.poll()
        while words not in self.said():
            assert ended is None and time.monotonic() < end, (ended, self.said())
            time.sleep(0.05)
            ended = self.process.poll()

    def threads(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/task"))


@contextmanager
def serving(command: list[str], env: dict[str, str] | None = None, **how: Any) -> Iterator[Server]:
    one = Server(command, env, **how)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()
