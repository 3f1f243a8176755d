# SPDX-License-Identifier: BSD-3-Clause
"""A secret between hosts: two network namespaces joined by a wire, a server in one.

rpma-ping connects by the CM and over the link of its queue pair: both have to be proven.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from serving import LIMIT_S, Server, serving

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
PING = os.environ["RPMA_PING"]
ADDRESS = "10.202.0.1"
OURS = "a secret that two hosts share"
OTHER = "a secret of another pair of hosts"


def call(*words: str) -> str:
    return subprocess.run(words, check=True, text=True, capture_output=True).stdout


@pytest.fixture(scope="module")
def hosts() -> Iterator[list[str]]:
    """The names of two namespaces; the first has ADDRESS."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces: needs root")
    names = [f"secret-{os.getpid()}-{side}" for side in "ab"]
    try:
        try:
            for name in names:
                call("ip", "netns", "add", name)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("no network namespace can be made here")
        call("ip", "-n", names[0], "link", "add", "wire", "type", "veth",
             "peer", "wire", "netns", names[1])  # fmt: skip
        for host, name in enumerate(names, 1):
            call("ip", "-n", name, "address", "add", f"10.202.0.{host}/24", "dev", "wire")
            for link in ("lo", "wire"):
                call("ip", "-n", name, "link", "set", link, "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


def environment(secret: str | None) -> dict[str, str]:
    own = {key: value for key, value in os.environ.items() if key != "RPMA_SOFT_SECRET"}
    return own if secret is None else {**own, "RPMA_SOFT_SECRET": secret}


def inside(name: str, *words: str) -> list[str]:
    return ["ip", "netns", "exec", name, LAUNCHER, "-v", *words]


def server(hosts: list[str], secret: str | None, *options: str) -> AbstractContextManager[Server]:
    return serving(inside(hosts[0], *options, PING, "--server", "--listen", ADDRESS, "--port", "0"), environment(secret))


def ping(hosts: list[str], port: str, secret: str | None, *options: str) -> tuple[int, str]:
    done = subprocess.run(
        inside(hosts[1], *options, PING, "-c", "2", "-i", "0.1s", "-p", port, ADDRESS),
        capture_output=True, text=True, env=environment(secret), timeout=LIMIT_S, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_a_pair_with_the_secret_works(hosts: list[str], tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(OURS + "\n")
    file.chmod(0o600)
    with server(hosts, OURS) as one:
        status, text = ping(hosts, one.port, None, "-f", f"secret:{file}")
        assert status == 0 and "2 received" in text, text
        one.end()
        assert "refused" not in one.said()


@pytest.mark.parametrize(
    "ours, theirs, reason",
    [
        (OTHER, OURS, "its secret is not that of this process (RPMA_SOFT_SECRET)"),
        (None, OURS, "it requires a secret (RPMA_SOFT_SECRET), and this process has none"),
        (OURS, None, "it has no secret (RPMA_SOFT_SECRET), but this process has"),
    ],
)
def test_another_is_refused_and_told_why(
    hosts: list[str], ours: str | None, theirs: str | None, reason: str
) -> None:
    with server(hosts, theirs) as one:
        status, text = ping(hosts, one.port, ours)
        assert status != 0 and f"{ADDRESS} port {one.port}: refused, {reason}" in text, text
        if theirs is not None:
            one.end()
            assert "does not prove to have the secret" in one.said()


def ports_of(name: str) -> list[str]:
    """Where something listens: proc(5), /proc/net/tcp."""
    lines = call("ip", "netns", "exec", name, "cat", "/proc/net/tcp").splitlines()[1:]
    fields = [line.split() for line in lines]
    return [str(int(field[1].split(":")[1], 16)) for field in fields if field[3] == "0A"]


def shake(hosts: list[str], port: str, secret: str) -> list[str]:
    script = str(Path(__file__).with_name("handshake.py"))
    words = ["ip", "netns", "exec", hosts[1], sys.executable, script, ADDRESS, port, secret]
    return call(*words).splitlines()


def test_a_replay_gets_nothing(hosts: list[str]) -> None:
    """Neither by the CM nor by the link: who knows the secret is admitted, and what it sent is of no use to who recorded it."""
    with server(hosts, OURS) as one:
        status, text = ping(hosts, one.port, OURS)
        assert status == 0, text
        ports = ports_of(hosts[0])
        assert one.port in ports and len(ports) >= 2
        for each in ports:
            assert shake(hosts, each, OURS) == ["admitted", "replay: 0 bytes"]
            assert shake(hosts, each, OTHER) == ["hung up on the proof", "replay: 0 bytes"]
        status, text = ping(hosts, one.port, OURS)
        assert status == 0, text


def test_processes_of_one_host_need_none(hosts: list[str]) -> None:
    """The kernel tells whose they are."""
    with server(hosts, OURS, "--transport", "tcp") as one:
        status, text = ping([hosts[0], hosts[0]], one.port, None, "--transport", "tcp")
        assert status == 0, text
