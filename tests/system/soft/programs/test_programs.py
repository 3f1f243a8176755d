# SPDX-License-Identifier: BSD-3-Clause
"""Debian's programs, unchanged, on an RDMA device: all of cases.py in one environment."""

import os
import random
import re
import subprocess
from pathlib import Path

import pytest
from cases import CASES
from device import Device
from pair import LIMIT_S, Case, run


def alone(device: Device, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*device.server, *command],
        capture_output=True, text=True, check=False, timeout=LIMIT_S, env=device.environment,
    )  # fmt: skip


def marked(case: Case) -> object:
    marks = [pytest.mark.long] * case.long + [pytest.mark.ipv4_only] * case.ipv4_only
    marks += [pytest.mark.soft_only] * case.soft_only + [pytest.mark.kernel_only] * case.kernel_only
    return pytest.param(case, id=case.name, marks=marks)


@pytest.mark.parametrize("case", map(marked, CASES))
def test_pair(case: Case, device: Device) -> None:
    run(case, device)
    assert device.written() == []


def test_rcopy(device: Device) -> None:
    """A file over sockets over RDMA: rcopy(1). Its server takes files without end."""
    folder = Path(os.environ["TMPDIR"])
    original, copy = folder / "original", folder / "copy"
    original.write_bytes(random.Random(1).randbytes(5_000_001))
    copy.unlink(missing_ok=True)
    run(Case("rcopy", "rcopy -p {port}", f"rcopy {original} {{address}}:{copy} -p {{port}}", server_ends=False), device)
    assert copy.read_bytes() == original.read_bytes()


@pytest.mark.ipv4_only
def test_udpong_needs_infiniband(device: Device) -> None:
    """Sockets of datagrams make an address handle without a GRH, which no device has on RoCE: udpong(1)."""
    for _ in range(5):  # its port is a free one of UDP, while those of the device are TCP's
        done = alone(device, "udpong", "-s", device.address)
        if "Address already in use" not in done.stderr:
            break
    assert done.returncode == 255 and "rconnect: " in done.stderr, done
    assert device.is_kernel or "ibv_create_ah: is_global 0" in done.stderr, done


def test_ibv_devices(device: Device) -> None:
    done = alone(device, "ibv_devices")
    assert done.returncode == 0
    name = "rxe0" if device.is_kernel else r"soft\d+"
    assert re.search(rf"(?m)^ +{name} +\t[0-9a-f]{{16}}$", done.stdout), done.stdout


def test_ibv_devinfo(device: Device) -> None:
    done = alone(device, "ibv_devinfo", "-v")
    assert done.returncode == 0
    assert done.stderr == ""
    for line in (
        r"transport:\s+InfiniBand \(0\)",
        r"phys_port_cnt:\s+1",
        r"state:\s+PORT_ACTIVE \(4\)",
        r"active_mtu:\s+4096 \(5\)",
        r"link_layer:\s+Ethernet",
        rf"GID\[\s*\d\]:\s+{'' if device.is_ipv6 else '::ffff:'}{re.escape(device.address)}[,\s]",
    ):
        assert re.search(line, done.stdout), f"{line} not in:\n{done.stdout}"
