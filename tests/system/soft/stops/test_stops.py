# SPDX-License-Identifier: BSD-3-Clause
"""A client is stopped, at random moments of its work: no other client of the server waits more
than a second longer for it, and it goes on when it is continued.

RPMA_STOPS is how often, if not 25.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
TOOL = Path(os.environ["RPMA_TOOL"])
STOPS = int(os.environ.get("RPMA_STOPS", "25"))
LIMIT_S = 300
LONGER_S = 1.0

# Arguments of a server, of a client that works until it is interrupted, and of one that soon ends.
COMMANDS = {
    "rpma-ping": (
        ["--server", "--listen", "127.0.0.1", "--port", "0"],
        ["-f", "-q", "-s", "64,64K"],
        ["-c", "3", "-i", "0.01s"],
    ),
    "rpma-bench": (
        ["server", "--listen", "127.0.0.1", "--port", "0"],
        ["client", "--duration", "1h", "--warmup", "0", "--op", "write"],
        ["client", "--ops", "1000", "--warmup", "0", "--repeats", "1"],
    ),
}


def command(kind: int, port: str = "") -> list[str]:
    words = COMMANDS[TOOL.name][kind]
    if kind == 0:
        return [LAUNCHER, str(TOOL), *words]
    return [LAUNCHER, str(TOOL), *words[:1], "127.0.0.1", *words[1:], "--port", port] \
        if words[0] == "client" else [LAUNCHER, str(TOOL), *words, "-p", port, "127.0.0.1"]  # fmt: skip


def served(port: str) -> float:
    """Seconds that a client takes."""
    begun = time.monotonic()
    done = subprocess.run(command(2, port), capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return time.monotonic() - begun


@pytest.mark.parametrize("transport", ["auto", "tcp"])
def test_a_stopped_client_holds_no_other_up(transport: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RPMA_SOFT", f"transport:{transport}")
    chance = random.Random(1)
    with subprocess.Popen(command(0), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        port = re.search(r"port (\d+)", server.stdout.readline())
        assert port
        nothing = subprocess.DEVNULL
        with subprocess.Popen(command(1, port[1]), stdout=nothing, stderr=nothing) as busy:
            try:
                usual = max(served(port[1]) for _ in range(5))
                longest = 0.0
                for _ in range(STOPS):
                    time.sleep(chance.uniform(0, 0.02))  # the moment is what is chosen
                    busy.send_signal(signal.SIGSTOP)
                    longest = max(longest, served(port[1]))
                    busy.send_signal(signal.SIGCONT)
                    assert busy.poll() is None
                print(f"\n{TOOL.name}, {transport}: {usual:.2f} s, beside a stopped client at most {longest:.2f} s")
                assert longest <= usual + LONGER_S
                busy.send_signal(signal.SIGINT)
                busy.wait(LIMIT_S)
            finally:
                busy.kill()
                server.kill()
