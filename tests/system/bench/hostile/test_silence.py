# SPDX-License-Identifier: BSD-3-Clause
"""An end of rpma-bench that stands still is taken for dead by the other, in bounded time.

SIGSTOP makes it so: its connections stay, and its device receives as long as there are buffers.
The server sends ALIVE every 10 s to a client that sends nothing; once a message is not received
for 5 s it gives up. A client waits 10 s for a completion.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Server, serving

LAUNCHER, BENCH, HOSTILE = (os.environ[name] for name in ("RPMA_SOFT_LAUNCHER", "RPMA_BENCH", "BENCH_HOSTILE"))
LIMIT_S = 120  # many times what is to be waited for
LONG_RUN = ("--size", "64", "--warmup", "0", "--duration", "1h", "--repeats", "1")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving([LAUNCHER, "--", BENCH, "server", "--once", "--port", "0"]) as one:
        yield one


def test_a_silent_client_is_taken_for_dead(server: Server) -> None:
    with subprocess.Popen(
        [LAUNCHER, "--", HOSTILE, "127.0.0.1", server.port, "hold"], stdout=subprocess.PIPE, text=True
    ) as client:
        try:
            assert client.stdout and client.stdout.readline() == "held\n"
            client.send_signal(signal.SIGSTOP)
            server.reports("client 127.0.0.1: no acknowledgement within 5 s (0 repeats")
        finally:
            client.kill()


def measures(client: subprocess.Popen[str]) -> None:
    """Waits until it has taken more time than a start does."""
    fields = [""]
    while not fields[0] or int(fields[11]) + int(fields[12]) < os.sysconf("SC_CLK_TCK"):
        assert client.poll() is None
        time.sleep(0.05)
        fields = Path(f"/proc/{client.pid}/stat").read_text().rpartition(")")[2].split()


def test_a_silent_server_is_taken_for_dead(server: Server) -> None:
    command = [LAUNCHER, "--", BENCH, "client", "127.0.0.1", "--port", server.port, "--op", "send", *LONG_RUN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:
        try:
            measures(client)
            server.signal(signal.SIGSTOP)
            _, said = client.communicate(timeout=LIMIT_S)
        finally:
            client.kill()
    assert client.returncode == 2
    assert f"server 127.0.0.1:{server.port}: no completion within 10 s" in said
