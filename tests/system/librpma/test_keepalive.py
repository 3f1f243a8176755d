# SPDX-License-Identifier: BSD-3-Clause
"""What examples/14-keepalive does about a client that is silent, and about one that has vanished."""

import os
import subprocess

import pytest
from serving import LIMIT_S, serving

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
EXAMPLE = os.environ["RPMA_KEEPALIVE"]


def server_says(*faults: str) -> str:
    """The last line of the server, whose device may have faults."""
    with serving([LAUNCHER, *faults, "--", EXAMPLE, "server", "127.0.0.1", "0"]) as server:
        client = subprocess.Popen([LAUNCHER, "--", EXAMPLE, "client", "127.0.0.1", server.port],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            out, _ = server.process.communicate(timeout=LIMIT_S)
        finally:
            client.kill()
            client.wait()
    assert server.process.returncode == 0
    return out


def test_a_client_that_is_silent_is_kept() -> None:
    assert server_says() == "2 messages\n"


# The connection breaks after the first N operations of the server: its empty writes, and no others.
@pytest.mark.parametrize("answers", [0, 1])
def test_a_client_that_has_vanished_is_noticed(answers: int) -> None:
    assert server_says("-f", f"drop:after={answers}") == (
        "the client has vanished after 0 messages: transport retry counter exceeded\n"
    )
