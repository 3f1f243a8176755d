# SPDX-License-Identifier: BSD-3-Clause
"""An end of rpma-bench that stands still is taken for dead by the other, in bounded time.

SIGSTOP makes it so: its connections stay, and its device receives as long as there are buffers.
The server sends ALIVE every 10 s to a client that sends nothing; once a message is not received
for 5 s it gives up. A client waits 10 s for a completion.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

LAUNCHER, BENCH, HOSTILE = (os.environ[name] for name in ("RPMA_SOFT_LAUNCHER", "RPMA_BENCH", "BENCH_HOSTILE"))
LIMIT_S = 120  # many times what is to be waited for
LONG_RUN = ("--size", "64", "--warmup", "0", "--duration", "1h", "--repeats", "1")
Process = subprocess.Popen[str]


def start(*words: str) -> Process:
    return subprocess.Popen(
        [LAUNCHER, "--", BENCH, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def running(*words: str) -> Iterator[Process]:
    process = start(*words)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def server() -> Iterator[tuple[Process, str]]:
    with running("server", "--once", "--port", "0") as process:
        assert process.stdout
        port = re.search(r"port (\d+)", process.stdout.readline())
        assert port
        yield process, port[1]


def test_a_silent_client_is_taken_for_dead(server: tuple[Process, str]) -> None:
    process, port = server
    with subprocess.Popen(
        [LAUNCHER, "--", HOSTILE, "127.0.0.1", port, "hold"], stdout=subprocess.PIPE, text=True
    ) as client:
        try:
            assert client.stdout and client.stdout.readline() == "held\n"
            client.send_signal(signal.SIGSTOP)
            assert process.stderr
            said = process.stderr.readline()
        finally:
            client.kill()
    assert "client 127.0.0.1: no acknowledgement within 5 s (0 repeats" in said


def measures(client: Process) -> None:
    """Waits until it has taken more time than a start does."""
    fields = [""]
    while not fields[0] or int(fields[11]) + int(fields[12]) < os.sysconf("SC_CLK_TCK"):
        assert client.poll() is None
        time.sleep(0.05)
        fields = Path(f"/proc/{client.pid}/stat").read_text().rpartition(")")[2].split()


def test_a_silent_server_is_taken_for_dead(server: tuple[Process, str]) -> None:
    process, port = server
    with running("client", "127.0.0.1", "--port", port, "--op", "send", *LONG_RUN) as client:
        measures(client)
        process.send_signal(signal.SIGSTOP)
        _, said = client.communicate(timeout=LIMIT_S)
    assert client.returncode == 2
    assert f"server 127.0.0.1:{port}: no completion within 10 s" in said
