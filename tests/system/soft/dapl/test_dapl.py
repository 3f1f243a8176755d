# SPDX-License-Identifier: BSD-3-Clause
"""dtest of uDAPL on the software device: connections, messages, RDMA writes and reads, which it checks."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
LIMIT_S = 300
ADDRESS = "10.202.0.1"
# dat.conf(5): the provider that connects by the RDMA CM, on a network interface
REGISTRY = 'soft u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "wire 0" ""\n'
ENDS = "DAPL Test Complete. PASSED"

if shutil.which("dtest") is None:
    pytest.skip("no dtest here", allow_module_level=True)


def ip(*words: str) -> bool:
    return subprocess.run(["ip", *words], stderr=subprocess.DEVNULL, check=False).returncode == 0


@pytest.fixture
def network() -> Iterator[list[str]]:
    """What starts a program in a network of its own: dtest's port is fixed."""
    name = f"soft-dapl-{os.getpid()}"
    try:
        made = ip("netns", "add", name) and all(
            ip("-n", name, *words.split())
            for words in ("link set lo up", "link add wire type veth peer other",
                          f"address add {ADDRESS}/24 dev wire", "link set other up", "link set wire up")
        )  # fmt: skip
        if not made:
            pytest.skip("no network namespace can be made here")
        yield ["ip", "netns", "exec", name]
    finally:
        ip("netns", "delete", name)


@pytest.mark.parametrize("transport", ["local", "tcp"])
def test_dtest(transport: str, network: list[str], tmp_path: Path) -> None:
    registry, log = tmp_path / "dat.conf", tmp_path / "server"
    registry.write_text(REGISTRY)
    environment = {**os.environ, "DAT_OVERRIDE": str(registry)}
    command = [*network, LAUNCHER, "--transport", transport, "stdbuf", "-oL", "dtest", "-P", "soft", "-b", "65536"]
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out, env=environment) as server:
        try:
            end = time.monotonic() + LIMIT_S
            while "Server is waiting for client" not in log.read_text():
                assert server.poll() is None and time.monotonic() < end, log.read_text()
                time.sleep(0.02)
            client = subprocess.run([*command, "-h", ADDRESS], capture_output=True, text=True, timeout=LIMIT_S,
                                    env=environment)  # fmt: skip
            assert client.returncode == 0, client.stdout + client.stderr
            assert server.wait(LIMIT_S) == 0, log.read_text()
        finally:
            server.kill()
    for said, other in ((client.stdout, "server"), (log.read_text(), "client")):
        assert ENDS in said, said
        assert f"RDMA write buffer contains: {other} RDMA write data" in said
        # it does not wait until the other side has filled what it reads: what was written there is good too
        assert re.search(f"RDMA read buffer contains: ({other} RDMA read|(client|server) RDMA write) data", said)
