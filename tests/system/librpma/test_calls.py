# SPDX-License-Identifier: BSD-3-Clause
"""The calls that are new in librpma 1.4, between two processes of this host and over TCP.

calls.c has the cases. Here they meet what only the software device can do: a connection that breaks
after N operations, an operation that fails, a network that takes its time.
"""

import os
import re
import subprocess

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
CALLS = os.environ["RPMA_CALLS"]
NATIVE = os.environ["RPMA_NATIVE"] == "1"
LIMIT_S = 650
CASES = ["overrun", "queue"]
TRANSPORTS = ["auto", "tcp"]


def run(
    case: str, *soft: str, transport: str = "auto", method: str = "auto", **environment: str
) -> subprocess.CompletedProcess:
    return subprocess.run(
        [LAUNCHER, "--transport", transport, *soft, "--", CALLS, case, "127.0.0.1", method],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, env=os.environ | environment,
    )  # fmt: skip


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("case", CASES)
def test_case(case: str, transport: str) -> None:
    done = run(case, transport=transport)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("method", ["auto", "read", "native"])
def test_flushes(method: str, transport: str) -> None:
    done = run("flushes", transport=transport, method=method)
    if method == "native" and not NATIVE:
        assert done.returncode == 77 and "flushes natively" in done.stderr
    else:
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("attempt", range(5))
def test_a_killed_target(attempt: int, transport: str) -> None:
    done = run("killed", transport=transport)
    assert done.returncode == 0, done.stderr


def reported(done: subprocess.CompletedProcess) -> list[int]:
    """How many were started, reported done, reported as failed, not reported."""
    assert done.returncode == 0, done.stderr
    counts = re.search(r"(\d+) started, (\d+) reported done, (\d+) failed, (\d+) not reported", done.stderr)
    assert counts, done.stderr
    return [int(count) for count in counts.groups()]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("after", [1, 2, 15, 16, 17, 31, 33, 100, 127, 129, 500, 2003])
def test_a_connection_that_breaks(after: int, transport: str) -> None:
    """In the first batch, at its edges, when the queue is full, and later."""
    started, succeeded, failed, _ = reported(run("broken", "-f", f"drop:after={after}", transport=transport))
    assert 2 * started > after >= succeeded  # a write with its flush is two operations
    assert failed > 0


@pytest.mark.parametrize("status", ["REM_ACCESS_ERR", "RETRY_EXC_ERR", "LOC_PROT_ERR"])
@pytest.mark.parametrize("at", [1, 8, 40, 333])
def test_an_operation_that_fails(status: str, at: int) -> None:
    started, succeeded, failed, _ = reported(run("broken", "-f", f"complete:op=write,at={at},status={status}"))
    assert started >= at > succeeded
    assert failed > 0


@pytest.mark.parametrize("case", ["flushes", "killed", "queue"])
def test_a_network_that_takes_its_time(case: str) -> None:
    done = run(case, "-f", "delay:time=1us..50us")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("method", ["auto", "read"])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_random_sequences(transport: str, method: str) -> None:
    """A thousand of 200 calls each, with send queues of 1 to 16 slots; fewer where each is a system call."""
    seeds = "1-1000" if transport == "auto" and method == "auto" else "1001-1200"
    done = run("random", transport=transport, method=method, RPMA_SEEDS=seeds)
    assert done.returncode == 0, done.stderr[-300:]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_random_sequences_whose_target_dies(transport: str, seed: int) -> None:
    done = run("random", transport=transport, RPMA_SEEDS=f"{seed}-{seed}", RPMA_DIES="1")
    assert done.returncode == 0, done.stderr[-300:]
