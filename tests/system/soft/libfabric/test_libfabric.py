# SPDX-License-Identifier: BSD-3-Clause
"""libfabric's own programs on the software device: fi_info(1), fi_pingpong(1)."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from free_port import free_port, listens
from host_address import host_address, is_loopback

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
ADDRESS = host_address()
RUNS = int(os.environ.get("RUNS", "1"))  # for each provider and transport
LIMIT_S = 300
# fi_pingpong(1): by default 10 iterations of each of these sizes
SIZES = ["64", "256", "1k", "4k", "64k", "1m"]
ROW = re.compile(r"(?m)^(\d+[km]?) +10 +=10 ")

if is_loopback(ADDRESS):
    pytest.skip("this host has loopback addresses only, which libfabric leaves out", allow_module_level=True)


def soft(*command: str, options: str = "") -> list[str]:
    return ["env", f"RPMA_SOFT={options}", LAUNCHER, "--", *command]


def run(*command: str, options: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(soft(*command, options=options), capture_output=True, text=True, timeout=LIMIT_S)


@contextmanager
def started(log: Path, command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
        try:
            yield process
        finally:
            process.kill()


def until(happens, process: subprocess.Popen[bytes], what: str) -> None:
    end = time.monotonic() + LIMIT_S
    while not happens():
        assert process.poll() in (None, 0), f"{what}: ended with {process.returncode}"
        assert time.monotonic() < end, what
        time.sleep(0.01)


@pytest.mark.parametrize("provider", ["verbs", "verbs;ofi_rxm"])
def test_the_device_is_listed(provider: str) -> None:
    done = run("fi_info", "-p", provider)
    assert done.returncode == 0, done.stderr
    assert re.search(r"(?m)^ +domain: soft0$", done.stdout)
    assert re.search(rf"(?m)^provider: {provider}$", done.stdout)


def pingpong(provider: str, endpoint: str, transport: str, tmp_path: Path) -> None:
    """ofi_rxm closes its endpoint when it hears that the other side left, and with it goes that
    one's last message if it has not been polled yet: the device drops the completions of a
    destroyed queue pair, as most do. Who misses it polls for ever. So there the rows of the
    other side count: each is of messages both ways."""
    port, options = free_port(), f"transport:{transport}"
    common = ["stdbuf", "-oL", "fi_pingpong", "-p", provider, "-e", endpoint]
    logs = tmp_path / "server", tmp_path / "client"
    with started(logs[0], soft(*common, "-B", str(port), options=options)) as server:
        until(lambda: listens(port), server, "the server listens")
        with started(logs[1], soft(*common, "-P", str(port), ADDRESS, options=options)) as client:
            enough = any if provider == "verbs;ofi_rxm" else all
            until(lambda: enough(ROW.findall(log.read_text()) == SIZES for log in logs), client, "all rows")


@pytest.mark.parametrize("transport", ["local", "tcp"])
@pytest.mark.parametrize(("provider", "endpoint"), [("verbs", "msg"), ("verbs;ofi_rxm", "rdm"), ("verbs;ofi_rxd", "rdm")])
def test_pingpong(provider: str, endpoint: str, transport: str, tmp_path: Path) -> None:
    for _ in range(RUNS):
        pingpong(provider, endpoint, transport, tmp_path)


def test_refusals_are_told_with_their_reason_and_not_without_end() -> None:
    """fi_info(1) of libfabric 1 searches for the most inline data that there is, on each device."""
    if not run("fi_info", "--version").stdout.startswith("fi_info: 1."):
        pytest.skip("this libfabric does not search for inline data")
    done = run("fi_info", "-p", "verbs", options="verbose")
    told = [line for line in done.stderr.splitlines() if "max_inline_data" in line]
    assert told[0] == (
        "rpma-soft: ibv_create_qp: max_send_wr 1, max_send_sge 1, max_inline_data 512; "
        "the limits are 16384, 16, 256 (EINVAL)"
    )
    endings = ["(EINVAL)"] * 15 + ["(EINVAL); more of these are not printed"]
    assert len(told) <= len(endings), told
    assert all(line.endswith(ending) for line, ending in zip(told, endings, strict=False)), told
