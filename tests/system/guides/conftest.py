# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of guides share: a shell in which the commands of a block run."""

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

LIMIT_S = 300


def blocks(text: str) -> list[tuple[str, str]]:
    """Commands, and the output that stands below them."""
    return re.findall(r"(?m)^```sh\n((?:[^`\n].*\n)+)```\n\n```text\n((?:[^`\n].*\n)+)```", text)


class Shell:
    """Commands with the launcher on the path, and the servers that they leave."""

    def __init__(self, folder: Path) -> None:
        from free_port import free_port

        self.folder, self.port = folder, free_port()
        self.servers: list[subprocess.Popen[str]] = []
        self.environment = {**os.environ, "PATH": f"{os.environ['RPMA_BUILD_DIR']}/soft_device:{os.environ['PATH']}"}

    def start(self, command: str) -> subprocess.Popen[str]:
        command = re.sub(r"\b(rping|ibv_rc_pingpong)\b", rf"\1 -p {self.port}", command)
        return subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip

    def output(self, command: str) -> str:
        return self.start(command).communicate(timeout=LIMIT_S)[0]

    def gives(self, commands: str, expected: str, same: Callable[[str], str] = str) -> None:
        """Every line that is expected, with what differs from run to run made the SAME."""
        lines = commands.splitlines()
        self.servers = [self.start(f"exec {line.removesuffix(' &')}") for line in lines if line.endswith(" &")]
        clients = "\n".join(line for line in lines if not line.endswith(" &"))
        end = time.monotonic() + LIMIT_S
        while True:
            out = same(self.output(clients))
            missing = [line for line in same(expected).splitlines() if line not in out]
            if not missing:
                return
            # the server may not listen yet
            assert self.servers and self.servers[0].poll() is None and time.monotonic() < end, (missing, out)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    made = Shell(tmp_path)
    yield made
    for server in made.servers:
        server.kill()
        server.communicate()
