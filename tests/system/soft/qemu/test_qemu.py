# SPDX-License-Identifier: BSD-3-Clause
"""QEMU's migration over RDMA on the software device: the memory of a guest arrives as it was."""

import os
import random
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from free_port import free_port, listens
from host_address import host_address, is_loopback

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
QEMU = "qemu-system-x86_64"
LIMIT_S = 300
PLACE = 16 << 20  # in the memory of the guest, which never runs
SIZE = 24 << 20
PROMPT = b"(qemu) "

if shutil.which(QEMU) is None:
    pytest.skip(f"no {QEMU} here", allow_module_level=True)
if is_loopback(host_address()):
    pytest.skip("this host has loopback addresses only, which the RDMA CM binds to no device", allow_module_level=True)


class Machine:
    """A guest, and its monitor."""

    def __init__(self, folder: Path, name: str, transport: str, *options: str):
        self.path = folder / name
        self.log = folder / f"{name}.log"
        command = [LAUNCHER, "-v", "--transport", transport, QEMU, "-nodefaults", "-no-user-config", "-display", "none",
                   "-machine", "pc,accel=tcg", "-m", "64", "-S",
                   "-chardev", f"socket,id=monitor,path={self.path},server=on,wait=off", "-mon", "monitor",
                   *options]  # fmt: skip
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.monitor: socket.socket | None = None

    def until(self, happens, what: str) -> None:
        end = time.monotonic() + LIMIT_S
        while not happens():
            assert self.process.poll() is None, f"{what}: QEMU has ended: {self.log.read_text()}"
            assert time.monotonic() < end, f"{what}: {self.log.read_text()}"
            time.sleep(0.02)

    def answer(self) -> str:
        """All until the next prompt."""
        assert self.monitor is not None
        text = b""
        while not text.endswith(PROMPT):
            more = self.monitor.recv(4096)
            assert more, self.log.read_text()
            text += more
        return text.decode(errors="replace")

    def ask(self, command: str) -> str:
        if self.monitor is None:
            self.until(self.path.exists, "the monitor")
            self.monitor = socket.socket(socket.AF_UNIX)
            self.monitor.settimeout(LIMIT_S)
            self.monitor.connect(str(self.path))
            self.answer()
        self.monitor.sendall(command.encode() + b"\n")
        return self.answer()

    def has_migrated(self) -> bool:
        status = re.search(r"Migration status: (\w+)", self.ask("info migrate"))
        assert status is None or status[1] not in ("failed", "cancelled"), self.log.read_text()
        return status is not None and status[1] == "completed"

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.monitor is not None:
            self.monitor.close()


@contextmanager
def machine(folder: Path, name: str, transport: str, *options: str) -> Iterator[Machine]:
    made = Machine(folder, name, transport, *options)
    try:
        yield made
    finally:
        made.end()


@pytest.mark.parametrize("pinned", ["on", "off"])
@pytest.mark.parametrize("transport", ["local", "tcp"])
def test_memory_arrives(transport: str, pinned: str, tmp_path: Path) -> None:
    pattern, arrived = tmp_path / "pattern", tmp_path / "arrived"
    pattern.write_bytes(random.Random(1).randbytes(SIZE))
    port, capability = free_port(), f"migrate_set_capability rdma-pin-all {pinned}"
    where = f"rdma:{host_address()}:{port}"
    with (
        machine(tmp_path, "to", transport, "-incoming", "defer") as to,
        machine(tmp_path, "from", transport, "-device",
                f"loader,file={pattern},addr={PLACE:#x},force-raw=on") as source,
    ):  # fmt: skip
        to.ask(capability)
        to.ask(f"migrate_incoming {where}")
        to.until(lambda: listens(port), "the destination listens")
        source.ask(capability)
        source.ask("migrate_set_parameter max-bandwidth 10G")
        source.ask(f"migrate -d {where}")
        source.until(source.has_migrated, "the migration")
        to.until(to.has_migrated, "its end")
        assert "paused" in to.ask("info status")
        to.ask(f'pmemsave {PLACE:#x} {SIZE:#x} "{arrived}"')
        assert arrived.read_bytes() == pattern.read_bytes()
        assert f": {transport} (" in source.log.read_text()
