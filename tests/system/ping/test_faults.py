# SPDX-License-Identifier: BSD-3-Clause
"""What the software device can let go wrong, by rpma-soft(1): each is told for what it is."""

import os
import re
import subprocess
from collections.abc import Iterator

import pytest
from pinging import LIMIT_S, PING, Server, check, command, pinged, server, soft, told


@pytest.fixture(scope="module")
def one() -> Iterator[Server]:
    with server() as it:
        yield it


# flushes are native here, so that the only reads are those that fetch what was written
@pytest.mark.parametrize("operation", ["write", "read"])
@pytest.mark.parametrize("size", ["1", "64", "100K"])
def test_one_corrupt_byte_is_seen(one: Server, operation: str, size: str) -> None:
    words = soft(f"corrupt:op={operation},at=3")
    result = pinged(one.port, "-c", "5", "-i", "0", "-s", size, code=1, env=words)
    assert [p["end"] for p in result["pings"]["first"]] == ["back"] * 2 + ["corrupt"] + ["back"] * 2
    assert result["pings"]["corrupt"] == 1 and result["pings"]["lost"] == 0
    assert result["failure"]["step"] == "compare"
    assert result["failure"]["cause"] == "corrupt"
    assert "1 of " in result["failure"]["text"]


def test_a_corrupt_ping_has_its_line(one: Server) -> None:
    done = subprocess.run(command(one.port, "-c", "2", "-i", "0"), capture_output=True, text=True, timeout=LIMIT_S,
                          env=soft("corrupt:op=write,at=1"))  # fmt: skip
    assert done.returncode == 1
    assert " CORRUPT\n" in done.stdout and " of 64 bytes differ" in done.stdout
    assert "2 received, +1 corrupted, 0% packet loss" in done.stdout


# a flush is a read behind the write on this device, unless it has its own; test_ping.c has all statuses of all steps
@pytest.mark.parametrize(
    ("operation", "at", "step", "status", "cause", "remedy"),
    [("write", 2, "write", "REM_ACCESS_ERR", "no_access", "registered"), ("read+flush", 3, "flush", "RETRY_EXC_ERR", "lost", "server"),
     ("read+flush", 4, "read", "REM_OP_ERR", None, "ODP"), ("write", 2, "write", "FATAL_ERR", "device_gone", "driver")],
)  # fmt: skip
def test_a_status_is_told_with_its_step(one: Server, operation: str, at: int, step: str, status: str, cause: str | None, remedy: str) -> None:
    result = pinged(one.port, "-c", "5", "-i", "0", code=1, env=soft(f"complete:op={operation},at={at},status={status}"))
    assert result["failure"]["step"] == step
    assert result["failure"]["wc_status"] == status
    assert result["failure"]["cause"] == cause
    assert remedy in result["failure"]["likely_cause"]
    assert result["pings"]["received"] == 1 and result["pings"]["lost"] == 1


@pytest.mark.parametrize(("fault", "cause"), [("refuse", "refused"), ("unreachable", "unreachable")])
def test_a_connection_that_comes_to_nothing(one: Server, fault: str, cause: str) -> None:
    result = pinged(one.port, "-c", "1", code=2, env=soft(fault))
    assert result["failure"]["step"] == "connect"
    assert result["failure"]["cause"] == cause


def test_memory_that_cannot_be_registered(one: Server) -> None:
    """Connecting registers some too; the last registration is that of the pings."""
    steps = []
    for at in range(1, 6):
        done = subprocess.run(command(one.port, "-c", "1", "--json"), capture_output=True, text=True, timeout=LIMIT_S,
                              env=soft(f"register:at={at}"))  # fmt: skip
        result = check(done.stdout, done.returncode)
        if done.returncode == 0:
            break
        assert done.returncode == 2
        assert "Cannot allocate memory" in result["failure"]["text"]
        assert result["failure"]["cause"] in ("memlock", "no_memory")
        assert re.search("ulimit -l|no memory left", result["failure"]["likely_cause"])
        assert result["failure"]["librpma"] == "RPMA_E_PROVIDER"
        steps.append(result["failure"]["step"])
    assert done.returncode == 0
    assert steps[-1] == "register"


# root is exempt from the limit as long as it has the capability
LITTLE = [*(["setpriv", "--bounding-set", "-ipc_lock"] if os.geteuid() == 0 else []), "prlimit", "--memlock=65536"]
UNLIMITED = ["prlimit", "--memlock=unlimited"]


@pytest.mark.parametrize(
    ("limit", "cause", "remedy"), [(LITTLE, "memlock", "no more than 64 KiB"), (UNLIMITED, "no_memory", "no memory left")]
)
def test_the_limit_is_blamed_where_there_is_one(one: Server, limit: list[str], cause: str, remedy: str) -> None:
    """The kernel fails with ENOMEM in both cases: ibv_reg_mr(3)."""
    if subprocess.run([*limit, "true"], capture_output=True).returncode != 0:
        pytest.skip("this process may not lift its limit of locked memory")
    done = subprocess.run([*limit, *command(one.port, "-c", "1", "--json")], capture_output=True, text=True,
                          timeout=LIMIT_S, env=soft("register"))  # fmt: skip
    failure = check(done.stdout, 2)["failure"]
    assert failure["cause"] == cause and remedy in failure["likely_cause"]


def test_memory_that_a_server_cannot_register() -> None:
    done = subprocess.run([PING, "--server", "--device", "soft", "-p", "0"], capture_output=True, text=True,
                          timeout=LIMIT_S, env=soft("register"))  # fmt: skip
    assert done.returncode == 2
    line = told(done.stderr)
    assert line.startswith("rpma-ping: register: ") and "[RPMA_E_PROVIDER]" in line and "likely cause: " in line


def test_a_connection_that_breaks(one: Server) -> None:
    result = pinged(one.port, "-c", "50", "-i", "0", code=1, env=soft("drop:after=7"))
    assert result["pings"]["received"] == 2
    assert result["pings"]["lost"] == 1
    assert result["failure"]["step"] in ("write", "flush", "read")


@pytest.mark.parametrize("wait", ["poll", "event"])
def test_late_pings_are_lost_and_the_next_one_is_not(one: Server, wait: str) -> None:
    # the third write takes its time: what is behind it waits too
    words = soft("delay:op=write,at=3,time=2500ms")
    result = pinged(one.port, "-c", "8", "-i", "0", "-W", "1", "--wait", wait, code=1, env=words)
    ends = [p["end"] for p in result["pings"]["first"]]
    assert ends[:3] == ["back", "back", "late"] and ends[-1] == "back"
    assert result["failure"]["step"] == "write"
    assert result["failure"]["cause"] == "no_answer"
    assert "within 1.00 s" in result["failure"]["text"]


def without(call: int) -> dict[str, str]:
    """What a call leaves that was to free something is no leak of ours."""
    return {**soft(f"call:at={call}"), "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def test_each_call_that_fails_ends_in_words(one: Server) -> None:
    good = 0
    for at in range(1, 80):
        done = subprocess.run(command(one.port, "-c", "1", "--json"), capture_output=True, text=True, timeout=LIMIT_S,
                              env=without(at))  # fmt: skip
        assert done.returncode in (0, 1, 2, 3, 70), (at, done.stderr)
        result = check(done.stdout, done.returncode)
        if done.returncode == 0:
            good += 1
            continue
        assert result["failure"]["step"] in told(done.stderr), at
    assert good > 0


def test_each_call_of_a_server_that_fails_ends_in_words() -> None:
    for at in range(1, 60):
        it = subprocess.Popen([PING, "--server", "--device", "soft", "-p", "0"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=without(at))  # fmt: skip
        assert it.stdout is not None
        serves = " port " in it.stdout.readline()
        if serves:
            it.terminate()
        _, said = it.communicate(timeout=LIMIT_S)
        assert it.returncode == 143 if serves else it.returncode in (2, 3, 70), (at, said)
        assert serves or told(said)
