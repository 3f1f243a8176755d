# SPDX-License-Identifier: BSD-3-Clause
"""The key of rpma-security(7): it opens pools through a real sshd, and nothing else."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from accepting import Setting, setting
from free_port import free_port

MANUAL = (Path(__file__).resolve().parents[3] / "doc/rpma-security.7").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def confined() -> Iterator[Setting]:
    """The words before the key are the manual's, with the daemon of the tests."""
    prefix = re.search(r'^(restrict,command=)"rpmemd"', MANUAL, re.MULTILINE)
    assert prefix
    with setting("sshd") as one:
        public = one.folder / "sshd/user.pub"
        public.write_text(f'{prefix[1]}"{one.rpmemd}" {public.read_text()}')
        yield one


def ssh(confined: Setting, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([confined.env["RPMEM_SSH"], "-o", "BatchMode=yes", *words], text=True, timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip


def test_a_pool_is_created_but_not_removed(confined: Setting) -> None:
    said = confined.case("persist_the_whole_pool")
    # the first call that fails: the key's command has no --remove
    assert re.search(r"ERROR: rpmem_remove\(.* cannot remove", said), said


def test_another_command_is_not_run(confined: Setting) -> None:
    done = ssh(confined, "target", f"touch {confined.folder}/touched; echo here")
    assert "here" not in done.stdout.split()
    assert not (confined.folder / "touched").exists()


def test_no_port_is_forwarded(confined: Setting) -> None:
    done = ssh(confined, "-o", "ExitOnForwardFailure=yes", "-R", f"{free_port()}:127.0.0.1:1", "target")
    assert done.returncode != 0
    assert "remote port forwarding failed" in done.stdout


def test_no_terminal_is_given(confined: Setting) -> None:
    assert "PTY allocation request failed" in ssh(confined, "-tt", "target").stdout
