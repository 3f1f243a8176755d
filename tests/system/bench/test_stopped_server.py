# SPDX-License-Identifier: BSD-3-Clause
"""A server stopped by a signal while its device goes on: it is said after two missed signs of life,
and the run ends a minute after the last one, by rpma-bench(1)."""

import json
import os
import signal
import subprocess
import time

import pytest
from serving import serving

BENCH = os.environ["RPMA_BENCH"]
LIMIT_S = 180  # a hang is a failure
SILENT_S = 60
ENV = {**os.environ, "RPMA_SOFT": "transport:local"}


@pytest.mark.parametrize("duration", ["10m", "5s"])
def test_a_stopped_server_is_told_of_and_given_up(duration: str) -> None:
    """It is missed in the measurement, or when it has to report."""
    with serving([BENCH, "server", "--device", "soft", "--port", "0"], ENV) as server:
        client = subprocess.Popen([BENCH, "client", "127.0.0.1", "--device", "soft", "--port", server.port, "--warmup", "0",
                                   "--duration", duration, "--op", "read", "-v", "--json"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)  # fmt: skip
        assert client.stderr is not None
        for _ in ("control", "measuring"):  # librpma logs each connection
            while "RDMA_CM_EVENT_ESTABLISHED" not in (line := client.stderr.readline()):
                assert line
        server.signal(signal.SIGSTOP)
        begun = time.monotonic()
        result, said = client.communicate(timeout=LIMIT_S)
    assert client.returncode == 2
    assert "has given no sign of life for 25 s" in said
    assert f"gave no sign of life for {SILENT_S} s" in said
    assert time.monotonic() - begun > SILENT_S - 10 - 1  # it may have been heard up to 10 s before
    failure = json.loads(result)["run"]["failure"]
    assert (failure["step"], failure["cause"]) == ("message", "no_answer")
