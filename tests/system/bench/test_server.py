# SPDX-License-Identifier: BSD-3-Clause
"""rpma-bench server as its operator sees it: where it listens, whom it names, and what --once counts."""

import os
import re
import socket
import subprocess
import time
from contextlib import AbstractContextManager

import pytest
from host_address import has_ipv6
from serving import LIMIT_S, Server, serving

BENCH = os.environ["RPMA_BENCH"]
SOFT = ("--device", "soft")
SHORT = (*SOFT, "--ops", "10", "--warmup", "0", "--repeats", "1", "--size", "64", "--persist", "none", "--quiet")
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}"


def server_with(*options: str) -> AbstractContextManager[Server]:
    return serving([BENCH, "server", *SOFT, "--port", "0", "--target", "dram:64K", *options])


def ended(server: Server) -> list[str]:
    """The lines on its clients."""
    server.end()
    return [line for line in server.said().splitlines() if re.search(TIME, line)]


def client(host: str, port: str, *options: str) -> int:
    command = [BENCH, "client", host, "--port", port, *SHORT, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False).returncode


def test_all_addresses_serve_and_are_listed() -> None:
    hosts = ["127.0.0.1", "::1"] if has_ipv6() else ["127.0.0.1"]
    wildcard = "::" if has_ipv6() else "0.0.0.0"
    with server_with("--listen", wildcard) as server:
        assert server.first.startswith(f"rpma-bench server: listening on {wildcard} port ")
        assert [client(host, server.port) for host in hosts] == [0] * len(hosts)
        lines = ended(server)
        assert "--allow" in server.said()
        assert server.process.stdout is not None
        listed = re.findall(r"^  address (\S+) \(soft\d+\)$", server.process.stdout.read(), re.M)
    assert set(hosts) <= set(listed)
    for host, line in zip(hosts, lines, strict=True):
        assert re.fullmatch(rf"rpma-bench server: {TIME} client {host}: served 1 repeat in \d+\.\d s", line)


def test_with_allow_a_wildcard_warns_of_nothing() -> None:
    with server_with("--listen", "0.0.0.0", "--allow", "192.0.2.77") as server:
        assert client("127.0.0.1", server.port) == 2
        (line,) = ended(server)
        assert "warning" not in server.said()
    assert re.search(TIME + " rejected client 127.0.0.1: its address is not in --allow$", line)


def test_a_client_dies_while_the_server_registers() -> None:
    register = ("--test", "register", "--size", "64", "--warmup", "0", "--duration", "60s", "--quiet")
    with server_with() as server:
        idle = server.threads()
        with subprocess.Popen([BENCH, "client", "127.0.0.1", "--port", server.port, *SOFT, *register]) as dying:
            while server.threads() < idle + 2:  # the client's, and the one that registers
                assert dying.poll() is None
                time.sleep(0.01)
            dying.kill()
        server.reports("closed the connection")
        assert client("127.0.0.1", server.port) == 0


def test_once_is_not_used_up_by_a_client_that_measures_nothing() -> None:
    with server_with("--once") as server:
        assert client("127.0.0.1", server.port, "--size", "1M") == 2  # it has 64 KiB
        with socket.socket() as scan:
            scan.settimeout(LIMIT_S)
            scan.connect_ex(("127.0.0.1", int(server.port)))
        assert client("127.0.0.1", server.port) == 0
        assert server.process.wait(LIMIT_S) == 0


@pytest.mark.parametrize("options", [("--quiet",), ("--listen", "0.0.0.0", "--quiet")], ids=["one", "all"])
def test_a_quiet_server_says_nothing_of_its_clients(options: tuple[str, ...]) -> None:
    with server_with(*options) as server:
        assert client("127.0.0.1", server.port) == 0
        assert ended(server) == []
        assert server.said() == ""
