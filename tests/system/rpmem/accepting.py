# SPDX-License-Identifier: BSD-3-Clause
"""The settings of the acceptance tests: how the daemon is reached, and what lanes are made of."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sshd import SSHD, Sshd

ACCEPT = os.environ["RPMEM_ACCEPT"]
RPMEMD = os.environ["RPMEMD"]
LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
STUB = Path(__file__).parent / "ssh-stub"
LIMIT_S = 1000  # the cases have a limit of their own


class Setting:
    """`lanes`: tcp or soft. `ssh`: RPMEM_SSH, a program without arguments.

    Some cases run the daemon as a user who may not reach the build, so what it needs is copied.
    """

    def __init__(self, folder: Path, lanes: str, ssh: Path, env: dict[str, str]) -> None:
        self.folder, self.lanes = folder, lanes
        self.pools, self.log = folder / "pools", folder / "log"
        self.pools.mkdir()
        self.pools.chmod(0o755)
        self.log.touch()
        over_ssh = ssh != STUB  # it does not hand on what is preloaded
        launched = f"{self._launcher()} -- " if lanes == "soft" and over_ssh else ""
        self.options = f"--poolset-dir={self.pools} --log-file={self.log} --log-level=notice"
        self.program = str(shutil.copy(RPMEMD, folder / "rpmemd-program"))
        self.rpmemd = self.script("rpmemd", f'exec {launched}{self.program} {self.options} "$@"')
        self.env = {
            **os.environ,
            "RPMEM_SSH": str(ssh),
            "RPMEM_CMD": str(self.rpmemd),
            "RPMEM_ENABLE_SOCKETS": str(int(lanes == "tcp")),
            "RPMEM_ENABLE_VERBS": str(int(lanes == "soft")),
            "RPMEM_LOG_LEVEL": "0",
            "RPMEM_ACCEPT_TARGET": "127.0.0.1",
            "RPMEM_ACCEPT_DIR": str(self.pools),
            **env,
        }

    def _launcher(self) -> Path:
        """With the device beside it, where it looks."""
        built, here = Path(LAUNCHER).parent, self.folder / "device"
        here.mkdir()
        shutil.copy(built / "librpma-soft.so", here)
        shutil.copytree(built / "librpma-soft", here / "librpma-soft")
        return Path(shutil.copy(LAUNCHER, here))

    def script(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def command(self, *words: str) -> list[str]:
        return [*([LAUNCHER, "--"] if self.lanes == "soft" else []), ACCEPT, *words]

    def case(self, name: str, **variables: str) -> str:
        """What one of accept.c printed."""
        env = {**self.env, "RPMA_TEST_CASE": name, **variables}
        return subprocess.run(self.command(), env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=LIMIT_S).stdout  # fmt: skip

    def logged(self, lines: int = 8) -> str:
        return "\n".join(self.log.read_text().splitlines()[-lines:])


@contextmanager
def real_ssh(folder: Path) -> Iterator[Path]:
    """A program that is ssh(1), to a server of our own."""
    if not SSHD:
        pytest.skip("sshd is not installed")
    server = Sshd(folder)
    try:
        if not server.answers():
            pytest.skip("no sshd can run here")
        program = folder / "ssh"
        program.write_text(f'#!/bin/sh\nexec {" ".join(server.client)} "$@"\n')
        program.chmod(0o755)
        yield program
    finally:
        server.close()


@contextmanager
def folder_of_its_own() -> Iterator[Path]:
    """What a connection of sshd has started may still write there when sshd has ended."""
    folder = Path(tempfile.mkdtemp(prefix="rpmem-accept-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        for tries_left in reversed(range(500)):
            try:
                shutil.rmtree(folder)
                break
            except OSError:
                if not tries_left:
                    raise
                time.sleep(0.02)


@contextmanager
def setting(name: str) -> Iterator[Setting]:
    """tcp, soft: by a stub of ssh; sshd, sshd-soft: by a real one, over TCP or the software device."""
    with folder_of_its_own() as folder:
        lanes = "soft" if name.endswith("soft") else "tcp"
        if not name.startswith("sshd"):
            yield Setting(folder, lanes, STUB, {})
            return
        (folder / "sshd").mkdir()
        with real_ssh(folder / "sshd") as ssh:
            yield Setting(folder, lanes, ssh, {})
