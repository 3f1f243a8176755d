# SPDX-License-Identifier: BSD-3-Clause
"""A server stopped by a signal while its device goes on: it is said after two missed signs of life,
and the run ends a minute after the last one, by rpma-bench(1)."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

BENCH = os.environ["RPMA_BENCH"]
LIMIT_S = 180  # a hang is a failure
SILENT_S = 60
ENV = {**os.environ, "RPMA_SOFT": "transport:local"}


def start_server() -> tuple[subprocess.Popen[str], str]:
    server = subprocess.Popen([BENCH, "server", "--device", "soft", "--port", "0"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, env=ENV)  # fmt: skip
    assert server.stdout is not None
    port = re.search(r"port (\d+)", server.stdout.readline())
    assert port
    return server, port[1]


@pytest.mark.parametrize("duration", ["10m", "5s"])
def test_a_stopped_server_is_told_of_and_given_up(duration: str) -> None:
    """It is missed in the measurement, or when it has to report."""
    server, port = start_server()
    try:
        client = subprocess.Popen([BENCH, "client", "127.0.0.1", "--device", "soft", "--port", port, "--warmup", "0",
                                   "--duration", duration, "--op", "read", "-v", "--json"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)  # fmt: skip
        assert client.stderr is not None
        for _ in ("control", "measuring"):  # librpma logs each connection
            while "RDMA_CM_EVENT_ESTABLISHED" not in (line := client.stderr.readline()):
                assert line
        server.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        result, said = client.communicate(timeout=LIMIT_S)
    finally:
        server.kill()
        server.wait()
    assert client.returncode == 2
    assert "has given no sign of life for 25 s" in said
    assert f"gave no sign of life for {SILENT_S} s" in said
    assert time.monotonic() - begun > SILENT_S - 10 - 1  # it may have been heard up to 10 s before
    failure = json.loads(result)["run"]["failure"]
    assert (failure["step"], failure["cause"]) == ("message", "no_answer")
