# SPDX-License-Identifier: BSD-3-Clause
"""A server written as examples/12-surviving-server outlives clients of which half misbehave."""

import os
import signal
import subprocess
from contextlib import AbstractContextManager

import pytest
from serving import Server, serving

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
CROWD = os.environ["RPMA_CROWD"]
SERVER = os.environ["RPMA_SERVER"]
CLIENTS = int(os.environ["CLIENTS"])
TRANSPORTS = ["auto", "tcp"]
LIMIT_S = 400


def serving_of(numbers: int, transport: str) -> AbstractContextManager[Server]:
    """Ends by itself after a number of rounds."""
    return serving([LAUNCHER, "--transport", transport, "--", SERVER, "server", "127.0.0.1", "0", str(numbers)])


def printed(server: Server) -> str:
    out, _ = server.process.communicate(timeout=60)
    assert server.process.returncode == 0, server.said()
    return out


def run(transport: str, *command: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [LAUNCHER, "--transport", transport, "--", *command],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S,
    )  # fmt: skip


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_server_outlives_its_clients(transport: str) -> None:
    good = CLIENTS // 2
    with serving_of(good, transport) as server:
        done = run(transport, CROWD, "127.0.0.1", server.port, str(good), "1")
        assert done.returncode == 0, done.stdout + done.stderr + server.said()
        assert f"{good} numbers received" in printed(server)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_client_that_has_given_up_is_not_the_servers_error(transport: str) -> None:
    """It asked while the server was stopped, and is gone when the server goes on."""
    with serving_of(1, transport) as server:
        server.signal(signal.SIGSTOP)
        assert run(transport, CROWD, "127.0.0.1", server.port, "0", "0").returncode == 0
        server.signal(signal.SIGCONT)
        assert run(transport, SERVER, "client", "127.0.0.1", server.port).returncode == 0
        assert "1 numbers received" in printed(server)
