# SPDX-License-Identifier: BSD-3-Clause
"""A server written as examples/12-surviving-server outlives clients of which half misbehave."""

import os
import signal
import subprocess

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
CROWD = os.environ["RPMA_CROWD"]
SERVER = os.environ["RPMA_SERVER"]
CLIENTS = int(os.environ["CLIENTS"])
TRANSPORTS = ["auto", "tcp"]
LIMIT_S = 400


class Server:
    """Ends by itself after a number of rounds."""

    def __init__(self, numbers: int, transport: str) -> None:
        self.process = subprocess.Popen(
            [LAUNCHER, "--transport", transport, "--", SERVER, "server", "127.0.0.1", "0", str(numbers)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout
        self.port = self.process.stdout.readline().split()[1]

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def end(self) -> str:
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err
        return out


def run(transport: str, *command: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [LAUNCHER, "--transport", transport, "--", *command],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S,
    )  # fmt: skip


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_server_outlives_its_clients(transport: str) -> None:
    good = CLIENTS // 2
    with Server(good, transport) as server:
        done = run(transport, CROWD, "127.0.0.1", server.port, str(good), "1")
        assert done.returncode == 0, done.stdout + done.stderr + server.end()
        assert f"{good} numbers received" in server.end()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_client_that_has_given_up_is_not_the_servers_error(transport: str) -> None:
    """It asked while the server was stopped, and is gone when the server goes on."""
    with Server(1, transport) as server:
        server.process.send_signal(signal.SIGSTOP)
        assert run(transport, CROWD, "127.0.0.1", server.port, "0", "0").returncode == 0
        server.process.send_signal(signal.SIGCONT)
        assert run(transport, SERVER, "client", "127.0.0.1", server.port).returncode == 0
        assert "1 numbers received" in server.end()
