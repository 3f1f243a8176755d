# SPDX-License-Identifier: BSD-3-Clause
"""A name of several addresses: each is tried in order, whichever of them has the server.

The names are in a file of hosts of a mount namespace of their own. 127.0.0.1 and ::1 are
of two devices of the software device.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pinging import LIMIT_S, PING, check, command, served, server, soft

BENCH = os.environ["RPMA_BENCH"]
LIVE = ["127.0.0.1", "::1"]
DEAD = ["127.9.9.9", "127.8.8.8"]
# root needs no user namespace, and may not make one where it is in a chroot
UNSHARE = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
USER = [] if os.geteuid() == 0 else ["-U", "--preserve-credentials"]
NAMESPACE = [*UNSHARE, "sh", "-ec", 'mount --bind "$0" /etc/hosts; exec "$@"']


@pytest.fixture(scope="module", autouse=True)
def namespaces() -> None:
    if subprocess.run([*UNSHARE, "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace can be made here")


def where(hosts: Path, addresses: list[str], words: list[str], name: str = "several") -> subprocess.CompletedProcess[str]:
    """WORDS where the NAME has these ADDRESSES, in this order."""
    hosts.write_text("".join(f"{address} {name}\n" for address in addresses))
    return subprocess.run([*NAMESPACE, str(hosts), *words], capture_output=True, text=True, timeout=LIMIT_S, env=soft())


# test_dial.c has the other orders
@pytest.mark.parametrize("live", LIVE)
def test_ping_finds_the_address_with_the_server(tmp_path: Path, live: str) -> None:
    with server("--listen", live) as it:
        for name, order in (("localhost", LIVE), ("several", [*DEAD, live])):
            done = where(tmp_path / "hosts", order, command(it.port, "-c", "1", host=name), name)
            assert done.returncode == 0, (order, done.stderr)
            assert live in done.stdout


@pytest.mark.parametrize("live", LIVE)
def test_bench_finds_the_address_with_the_server(tmp_path: Path, live: str) -> None:
    words = [BENCH, "client", "--device", "soft", "--test=lat", "--op=write", "--persist=none", "--duration=10ms",
             "--warmup=0s", "--repeats=1", "--quiet"]  # fmt: skip
    serve = [BENCH, "server", "--device", "soft", "--port=0", "--target=dram:1M", "--listen", live]
    with served(serve) as it:
        for name, order in (("localhost", LIVE), ("several", [*DEAD, live])):
            done = where(tmp_path / "hosts", order, [*words, "-p", it.port, name], name)
            assert done.returncode == 0, (order, done.stderr)


@contextmanager
def network(hosts: Path, addresses: list[str]) -> Iterator[list[str]]:
    """The command that enters a network of its own with these addresses, where the name "several" has
    them, and where the name server, which all other names are asked of, does not answer."""
    hosts.write_text("".join(f"{address} several\n" for address in addresses))
    resolv = hosts.with_name("resolv.conf")
    resolv.write_text("nameserver 127.0.0.1\n")
    make = ('mount --bind "$0" /etc/hosts; mount --bind "$1" /etc/resolv.conf; ip link set lo up; shift; '
            'for i; do ip addr add "$i/32" dev lo; done; exec "$python" -c "$silent"')
    silent = ("import socket, sys; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
              "s.bind(('127.0.0.1', 53)); print(flush=True); sys.stdin.read()")
    with subprocess.Popen([*UNSHARE, "-n", "sh", "-ec", make, str(hosts), str(resolv), *addresses],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "silent": silent, "python": sys.executable}) as it:  # fmt: skip
        assert it.stdout is not None
        it.stdout.readline()
        try:
            yield ["nsenter", "-t", str(it.pid), "-r", "-m", "-n", *USER]
        finally:
            it.kill()


def test_silent_ones_leave_time_to_the_last(tmp_path: Path) -> None:
    """A server that is stopped does not answer; it has its share of the limit, and no more."""
    addresses = ["127.1.0.1", "127.1.0.2", "127.1.0.3"]
    with network(tmp_path / "hosts", addresses) as enter:
        serve = [*enter, PING, "--server", "--device", "soft", "--listen"]
        with (served([*serve, addresses[0], "-p", "0"]) as first, served([*serve, addresses[1], "-p", first.port]) as second,
              served([*serve, addresses[2], "-p", first.port])):  # fmt: skip
            first.signal(signal.SIGSTOP)
            second.signal(signal.SIGSTOP)
            done = subprocess.run([*enter, *command(first.port, "-c", "1", host="several")], capture_output=True,
                                  text=True, timeout=LIMIT_S, env=soft())  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"several ({addresses[2]})" in done.stdout


def test_a_deadline_holds_for_a_silent_name_server(tmp_path: Path) -> None:
    """getaddrinfo itself would wait for 10 s: resolv.conf(5), timeout and attempts."""
    with network(tmp_path / "hosts", ["127.1.0.1"]) as enter:
        done = subprocess.run([*enter, *command("7205", "-w", "0.2", "--json", host="one.of.nowhere")],
                              capture_output=True, text=True, timeout=LIMIT_S, env=soft())  # fmt: skip
    assert done.returncode == 2
    failure = check(done.stdout, 2)["failure"]
    assert (failure["step"], failure["cause"]) == ("resolve", "name")
    assert failure["text"] == "cannot resolve the host name one.of.nowhere: no answer within 0.201 s"


def test_a_family_leaves_the_others_out(tmp_path: Path) -> None:
    with server("--listen", "127.0.0.1") as it:
        done = where(tmp_path / "hosts", LIVE, command(it.port, "-6", "-c", "1", host="several"))
    assert done.returncode == 2
    assert "[::1]" in done.stderr and "127.0.0.1" not in done.stderr
