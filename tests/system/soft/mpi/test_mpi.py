# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI on the software device, over UCX and over libfabric: all-to-all and one-sided, data checked."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from host_address import host_address, is_loopback
from path_writes import STRACE, changes

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
PROGRAM = os.environ["MPI_EXCHANGE"]
MPIRUN = os.environ["MPIRUN"]
RANKS = int(os.environ.get("RANKS", "2"))
LIMIT_S = 600
# exchange.c has four rounds of three sizes, two times two blocks, and a sum
WORDS = RANKS * (RANKS * (4 * (1 + 1000 + 40000) + 2 * (100 + 20000)) + 1)
if shutil.which(MPIRUN) is None:
    pytest.skip(f"there is no {MPIRUN}", allow_module_level=True)

VERSION = subprocess.run([MPIRUN, "--version"], capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout
IS_4 = re.search(r"\b4\.\d+\.\d+", VERSION) is not None
# Neither may take shared memory, and both have to leave the other alone. Open MPI 4 makes one-sided
# operations of messages in a part that 5 does not have. Beside 5 is UCX 1.18, whose strong fence asks for
# a flush that its rc_verbs does not have.
LIBRARIES = {
    "ucx": ["--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "opal_common_ucx_tls", "any", "--mca",
            "opal_common_ucx_devices", "any", "-x", "UCX_NET_DEVICES=soft0:1", "-x", "UCX_TLS=rc_v,ud_v,self",
            *([] if IS_4 else ["-x", "UCX_FENCE_MODE=weak"])],
    "libfabric": ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include",
                  "verbs;ofi_rxm", "--mca", "osc", "pt2pt" if IS_4 else "^ucx,sm"],
}  # fmt: skip


def exchange(library: str, transport: str, tmp_path: Path, *before: str) -> None:
    if library == "libfabric" and is_loopback(host_address()):
        pytest.skip("this host has loopback addresses only, which libfabric leaves out")
    command = [MPIRUN, "--oversubscribe", "--allow-run-as-root", "-n", str(RANKS), *LIBRARIES[library],
               *before, LAUNCHER, "-v", "--transport", transport, PROGRAM]  # fmt: skip
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"ok {RANKS} ranks, {WORDS} words checked\n"
    # every rank has met another one on the device, and by this way alone
    links = re.findall(r"(?m)^rpma-soft: \S+ port \d+(?: \(pid \d+\))?: (\w+)", done.stderr)
    assert len(links) >= RANKS and set(links) == {transport}, done.stderr


@pytest.mark.parametrize("transport", ["local", "tcp"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_exchange(library: str, transport: str, tmp_path: Path) -> None:
    exchange(library, transport, tmp_path)


@pytest.mark.parametrize("library", LIBRARIES)
def test_nothing_is_written(library: str, tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("no strace here")
    traces = tmp_path / "traces"
    traces.mkdir()
    exchange(library, "local", tmp_path, *STRACE, "-o", str(traces / "of"))
    # Open MPI makes shared memory at its start, although it is not to use it; UCX names its threads
    allowed = ("/dev/null", "/dev/tty", "/dev/shm/open_mpi.", "/dev/shm/vader_segment.", "/proc/self/task/", str(tmp_path))
    assert list(changes(traces, *allowed)) == []
