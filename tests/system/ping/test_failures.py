# SPDX-License-Identifier: BSD-3-Clause
"""Where the path is broken: the step is named, the end is bounded, the status as documented."""

import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest
from pinging import LIMIT_S, PING, STEPS, Server, check, command, for_others, ping, pinged, served, server, soft, told, until

BENCH = os.environ["RPMA_BENCH"]


@pytest.fixture
def one() -> Iterator[Server]:
    with server() as it:
        yield it


def stops_at(result: dict, step: str) -> None:
    """The step failed, and what comes after it was not done."""
    assert result["failure"]["step"] == step
    assert [one["name"] for one in result["steps"][:-1] if one["ns"] is None] == STEPS[STEPS.index(step) : -1]
    assert result["run"]["status"] == "failed"
    assert result["pings"]["transmitted"] == 0


def test_nobody_listens() -> None:
    result = pinged("1", code=2)
    stops_at(result, "connect")
    assert result["failure"]["cause"] == "refused"
    assert "rpma-ping --server" in result["failure"]["likely_cause"]


def test_a_listener_that_knows_no_rdma() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        stops_at(pinged(str(listener.getsockname()[1]), code=2), "connect")


def test_an_address_that_nobody_has() -> None:
    result = pinged("7205", code=2, host="192.0.2.77")
    assert result["failure"]["step"] in ("request", "connect")
    assert "192.0.2.77" in result["failure"]["text"]


def test_a_name_that_nobody_has() -> None:
    result = pinged("7205", code=2, host="no-such-host.invalid")
    stops_at(result, "resolve")
    assert result["failure"]["cause"] == "name"
    assert result["device"] is None and result["server"]["address"] is None


def test_a_device_that_is_not_there() -> None:
    done = subprocess.run([PING, "--device", "soft4711", "--json", "127.0.0.1"], capture_output=True, text=True,
                          timeout=LIMIT_S, env=soft())  # fmt: skip
    assert done.returncode == 3
    result = check(done.stdout, 3)
    stops_at(result, "device")
    assert result["failure"]["cause"] == "no_device"


def test_an_address_to_listen_on_that_is_not_ours() -> None:
    done = subprocess.run([PING, "--server", "--device", "soft", "--listen", "192.0.2.77"], capture_output=True,
                          text=True, timeout=LIMIT_S, env=soft())  # fmt: skip
    assert done.returncode == 2
    assert "192.0.2.77: expected one of" in told(done.stderr)


def test_a_server_tells_its_verdict_with_the_reason() -> None:
    """The name of the row alone, (failed), read as if the check itself had failed."""
    with server() as it:
        assert it.process.stdout is not None
        lines = [it.process.stdout.readline() for _ in range(2)]
    assert re.fullmatch(r"  readiness check of this memory: [A-Z_]+: [A-Z].*\.\n", lines[1]), lines


def test_a_port_that_is_taken(one: Server) -> None:
    done = subprocess.run([PING, "--server", "--device", "soft", "-p", one.port], capture_output=True, text=True,
                          timeout=LIMIT_S, env=soft())  # fmt: skip
    assert done.returncode == 2
    assert "another server listens there" in told(done.stderr)


@pytest.mark.parametrize("tool", [[PING, "--server", "--device", "soft"], [BENCH, "server", "--device", "soft"]])
def test_a_port_that_nobody_is_told(tool: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*tool, "-p", "0"], stdout=full, stderr=subprocess.PIPE, text=True,
                              timeout=LIMIT_S, env=soft())  # fmt: skip
    assert done.returncode == 2
    assert "--port 0: cannot write which port it is: No space left on device" in done.stderr


def test_a_ping_larger_than_a_slot(one: Server) -> None:
    result = pinged(one.port, "-s", "1M", code=2)
    stops_at(result, "region")
    assert "1 MiB" in result["failure"]["text"] and "256 KiB" in result["failure"]["text"]
    assert result["server"]["slot_bytes"] == 262144


def test_persistent_on_memory_that_is_not(one: Server) -> None:
    stops_at(pinged(one.port, "--flush", "persistent", code=2), "region")


def test_a_server_of_rpma_bench() -> None:
    with served([BENCH, "server", "--device", "soft", "--port", "0"]) as bench:
        result = pinged(bench.port, code=2)
        assert bench.end(signal.SIGTERM) == 143
    stops_at(result, "handshake")
    assert result["failure"]["cause"] == "wrong_peer"
    assert "rpma-bench" in result["failure"]["text"]


def test_a_client_of_rpma_bench(one: Server) -> None:
    done = subprocess.run([BENCH, "client", "127.0.0.1", "--device", "soft", "--port", one.port, "-q"],
                          capture_output=True, text=True, timeout=LIMIT_S, env=soft())  # fmt: skip
    assert done.returncode == 2
    assert "is a server of another tool, as rpma-ping" in done.stderr
    assert pinged(one.port, "-c", "1")["pings"]["received"] == 1


def counts(text: str) -> tuple[int, int]:
    line = next(line for line in text.splitlines() if "packets transmitted" in line)
    words = line.split()
    return int(words[0]), int(words[3])


def ending_server(words: str, number: int, *options: str) -> tuple[subprocess.CompletedProcess[str], Server]:
    """A client whose server gets a signal after the first ping."""
    with server(env=soft(words)) as it:
        client = subprocess.Popen(command(it.port, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, env=soft(words))  # fmt: skip
        until(client, "bytes from")
        it.signal(number)
        out, err = client.communicate(timeout=LIMIT_S)
        return subprocess.CompletedProcess([], client.returncode, out, err), it


@pytest.mark.parametrize("interval", ["1ms", "1h"])
@pytest.mark.parametrize("wait", ["poll", "event"])
@pytest.mark.parametrize("transport", ["local", "tcp"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_that_ends_is_a_lost_ping(transport: str, number: int, wait: str, interval: str) -> None:
    done, _ = ending_server(f"transport:{transport}", number, "-i", interval, "--wait", wait, "-W", "5")
    assert done.returncode == 1
    assert "closed the connection at ping" in told(done.stderr)
    assert "likely cause: the server ended or was killed" in done.stderr
    transmitted, received = counts(done.stdout)
    assert transmitted == received + 1


def test_a_server_that_is_killed_has_closed_the_connection() -> None:
    with server() as it:
        client = subprocess.Popen(command(it.port, "-i", "1ms", "-v", "--json"), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=soft())  # fmt: skip
        assert client.stderr is not None
        while "RDMA_CM_EVENT_ESTABLISHED" not in (seen := client.stderr.readline()):
            assert seen, it.said()
        it.signal(signal.SIGKILL)
        out, _ = client.communicate(timeout=LIMIT_S)
    assert client.returncode == 1
    assert check(out, 1)["failure"]["cause"] == "closed"


def test_a_server_that_is_stopped_loses_pings_and_no_more() -> None:
    # over tcp the server's process executes what its device would
    done, it = ending_server("transport:tcp", signal.SIGSTOP, "-i", "1s", "-W", "400ms", "-c", "3")
    assert done.returncode == 1
    line = told(done.stderr)
    assert "is lost: no completion of the" in line
    assert "likely cause: the server is stopped" in line
    transmitted, received = counts(done.stdout)
    assert transmitted > received >= 1


def test_pings_come_back_once_the_server_goes_on() -> None:
    words = soft("transport:tcp")
    with server(env=words) as it:
        client = subprocess.Popen(command(it.port, "-i", "1ms", "-W", "200ms"), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=words)  # fmt: skip
        until(client, "bytes from")
        it.signal(signal.SIGSTOP)
        until(client, "lost at ")
        it.signal(signal.SIGCONT)
        until(client, "bytes from")
        client.send_signal(signal.SIGINT)
        out, _ = client.communicate(timeout=LIMIT_S)
    assert client.returncode == 130
    transmitted, received = counts(out)
    assert transmitted > received


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_a_server_of_another_user() -> None:
    """The software device refuses it, and the line of the tool must not send anyone elsewhere."""
    with for_others() as other_user, served([*other_user, "--server", "--device", "soft", "-p", "0"]) as other:
        done = ping(other.port, "-c", "1", "--json")
    assert done.returncode == 2
    failure = check(done.stdout, 2)["failure"]
    assert (failure["step"], failure["cause"]) == ("connect", "unreachable")
    assert "the server runs as another user" in failure["likely_cause"]
    assert f"port {other.port}: refused, it belongs to another user" in done.stderr
