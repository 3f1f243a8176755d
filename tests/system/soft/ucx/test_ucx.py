# SPDX-License-Identifier: BSD-3-Clause
"""UCX's own programs, unchanged, on the software device: ucx_info(1), ucx_perftest(1)."""

import os
import re
import shutil
import subprocess
import time

import pytest
from free_port import free_port, listens

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
LIMIT_S = 300
ITERATIONS = 200
# options: a get needs room on its own side, so it has no short one
TESTS = [
    ("put_lat", []), ("put_bw", []), ("put_bw", ["-s", "65536", "-D", "zcopy"]),
    ("get", ["-s", "4096", "-D", "bcopy"]), ("get", ["-s", "65536", "-D", "zcopy"]),
    ("fadd", ["-s", "8"]), ("cswap", ["-s", "8"]), ("am_lat", []), ("am_bw", ["-s", "8192", "-D", "zcopy"]),
]  # fmt: skip

if shutil.which("ucx_info") is None:
    pytest.skip("no ucx_info here", allow_module_level=True)


def test_the_devices_are_listed() -> None:
    """uct_ib takes a device only if its node in /dev/infiniband is there."""
    done = subprocess.run([LAUNCHER, "ucx_info", "-d"], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"Transport: (\w+)\n# +Device: (soft\d+:1)", done.stdout)
    assert ("rc_verbs", "soft0:1") in found and ("ud_verbs", "soft0:1") in found


def perftest(transport: str, options: list[str], environment: dict[str, str]) -> None:
    port = free_port()
    command = [LAUNCHER, "--transport", transport, "ucx_perftest", "-p", str(port), "-n", str(ITERATIONS),
               "-w", "10", *options]  # fmt: skip
    env = {**os.environ, **environment}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env) as server:
        try:
            end = time.monotonic() + LIMIT_S
            while not listens(port):
                assert server.poll() is None and time.monotonic() < end, "the server does not listen"
                time.sleep(0.01)
            done = subprocess.run([*command, "127.0.0.1"], capture_output=True, text=True, timeout=LIMIT_S, env=env)
            assert done.returncode == 0 and server.wait(LIMIT_S) == 0, done.stdout + done.stderr
        finally:
            server.kill()
    assert re.search(rf"(?m)^Final: +{ITERATIONS} ", done.stdout), done.stdout


@pytest.mark.parametrize("transport", ["local", "tcp"])
@pytest.mark.parametrize(("test", "options"), TESTS, ids=lambda value: "".join(value))
def test_connections(test: str, options: list[str], transport: str) -> None:
    perftest(transport, ["-t", test, "-d", "soft0:1", "-x", "rc_verbs", *options], {})


@pytest.mark.parametrize("transport", ["local", "tcp"])
def test_datagrams(transport: str) -> None:
    perftest(transport, ["-t", "am_lat", "-d", "soft0:1", "-x", "ud_verbs"], {})


@pytest.mark.parametrize("transport", ["local", "tcp"])
def test_tags_over_datagrams(transport: str) -> None:
    """UCP, which MPI uses, with nothing but datagrams."""
    perftest(transport, ["-t", "tag_lat"], {"UCX_NET_DEVICES": "soft0:1", "UCX_TLS": "ud_verbs,self"})


@pytest.mark.parametrize("transport", ["local", "tcp"])
@pytest.mark.parametrize("test", ["tag_lat", "stream_bw", "ucp_put_lat", "ucp_get", "ucp_fadd"])
def test_protocols_over_connections(test: str, transport: str) -> None:
    """UCP makes its connections by datagrams."""
    perftest(transport, ["-t", test, "-s", "8"], {"UCX_NET_DEVICES": "soft0:1", "UCX_TLS": "rc_v,ud_v,self"})
