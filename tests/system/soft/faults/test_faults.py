# SPDX-License-Identifier: BSD-3-Clause
"""Each fault, on one side of two programs over librpma: what the program sees of it.

The program is that of a neighbouring folder: scenarios that say which error, event or completion
ended them.
"""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
SCENARIOS = os.environ["SOFT_EVERY_CALL"]
TRANSPORT = os.environ["TRANSPORT"]
ADDRESS = "127.0.0.1"
LIMIT_S = 300


@contextmanager
def start(faults: list[str], *command: object) -> Iterator[subprocess.Popen]:
    words = [LAUNCHER, "-v", "--transport", TRANSPORT]
    for fault in faults:
        words += ["-f", fault]
    with subprocess.Popen(
        words + [str(word) for word in command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen, before: bytes = b"") -> str:
    out, err = process.communicate(timeout=LIMIT_S)
    text = (before + out + err).decode()
    assert process.returncode == 0, text
    return text


def run(scenario: str, *client_faults: str) -> tuple[str, str]:
    """What the client and the server said; the client has the faults."""
    with start([], SCENARIOS, "server", scenario, ADDRESS) as server:
        first = server.stdout.readline()
        port = first.decode().split()[1]
        with start(list(client_faults), SCENARIOS, "client", scenario, ADDRESS, port) as client:
            text = said(client)
        return text, said(server, first)


def hits(text: str, fault: str) -> int:
    found = re.search(rf"^rpma-soft: fault {re.escape(fault)}: (\d+) of \d+ hit", text, re.M)
    assert found, text
    return int(found[1])


def test_a_delay_is_waited_for() -> None:
    started = time.monotonic()
    client, _ = run("data", "delay:time=100ms,op=flush+read")
    # two flushes, which are reads here, overlap; the read comes after they have completed
    assert time.monotonic() - started >= 0.2
    assert "done" in client and hits(client, "delay:time=100ms,op=flush+read") == 3


def test_a_rate_is_kept() -> None:
    started = time.monotonic()
    client, _ = run("data", "rate:1kB")  # 128 to write and 128 to read, one after the other
    assert time.monotonic() - started >= 0.25
    assert "done" in client


def test_a_receiver_that_is_late_is_waited_for() -> None:
    client, server = run("messages", "rnr:at=1,times=3")
    assert "done" in client and "done" in server
    assert hits(client, "rnr:at=1,times=3") == 1


def test_a_dropped_connection_ends_both_sides() -> None:
    client, server = run("data", "drop:after=2")
    assert "completion: transport retry counter exceeded" in client
    assert "given up" in client and "given up" in server


def test_connecting_is_refused() -> None:
    client, _ = run("data", "refuse")
    assert "event: Connection rejected" in client


def test_connecting_finds_nobody() -> None:
    client, _ = run("data", "unreachable")
    assert "event: Connection unreachable" in client


def test_a_registration_fails() -> None:
    client, _ = run("data", "register:at=1")
    assert "error rpma_mr_reg RPMA_E_PROVIDER" in client


def test_memory_that_cannot_be_pinned_is_paged_on_demand() -> None:
    faults = [f"register:at={at},errno=EOPNOTSUPP" for at in (1, 2)]
    client, server = run("data", *faults)
    assert "done" in client and "done" in server


def test_an_operation_completes_with_an_error() -> None:
    client, server = run("data", "complete:op=write,at=1,status=REM_ACCESS_ERR")
    assert "completion: remote access error" in client
    assert "given up" in server


def test_faults_stack() -> None:
    client, server = run("messages", "delay:time=20ms", "rnr:every=1", "delay:time=1ms..2ms")
    assert "done" in client and "done" in server
    assert hits(client, "delay:time=20ms") == hits(client, "delay:time=1ms..2ms") == 1
