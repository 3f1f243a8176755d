# SPDX-License-Identifier: BSD-3-Clause
"""rpma-ping built with the shared librpma, each end over the library of its own: ours, and
Debian's of both releases."""

import os
import subprocess
from pathlib import Path

import pytest
from free_port import free_port
from host_address import host_address, is_loopback
from pinging import LIMIT_S, Server, check, served

SHARED, LAUNCHER = os.environ["RPMA_PING_SHARED"], os.environ["RPMA_SOFT_LAUNCHER"]
ADDRESS = host_address()
FETCH = Path(__file__).resolve().parents[3] / "tests/fetch-reference"


def folder(library: str) -> str:
    if library == "ours":
        return os.environ["RPMA_LIBRARY"]
    release = {"1.2.0": "bookworm", "1.3.0": "trixie"}[library]
    reference = subprocess.run([FETCH, release], stdout=subprocess.PIPE, text=True)
    if reference.returncode != 0:
        pytest.skip("Debian's librpma could not be fetched")
    return str(next(Path(reference.stdout.strip()).glob("usr/lib/*/librpma.so.0")).parent)


def over(library: str) -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": folder(library), "RPMA_SOFT": ""}


def run(library: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LAUNCHER, "--", SHARED, *words], capture_output=True, text=True, timeout=LIMIT_S,
                          env=over(library))  # fmt: skip


def loaded(process: Server) -> str:
    maps = Path(f"/proc/{process.process.pid}/maps").read_text()
    return next(line.split()[-1] for line in maps.splitlines() if "/librpma.so" in line)


# 1.3.0 needs a younger C library than this release's: tests/vm runs that
PAIRS = [("ours", "ours"), ("1.2.0", "ours"), ("ours", "1.2.0"), ("1.2.0", "1.2.0")]


@pytest.mark.parametrize(("serves", "pings"), PAIRS)
@pytest.mark.parametrize("flush", ["visibility", "persistent"])
def test_both_ends(serves: str, pings: str, flush: str, tmp_path: Path) -> None:
    if serves == "1.2.0" and is_loopback(ADDRESS):
        pytest.skip("this host has loopback addresses only")
    port = str(free_port())
    command = [LAUNCHER, "--", SHARED, "--server", "-p", port, "-t", f"{tmp_path}/target:64K",
               "--direct-write-to-pmem", "--listen", ADDRESS]  # fmt: skip
    with served(command, over(serves)) as it:
        assert loaded(it).startswith(str(Path(folder(serves)).resolve()))
        for wait in ("poll", "event"):
            done = run(pings, "-p", port, "-c", "5", "-i", "0", "--flush", flush, "--wait", wait, "--json", ADDRESS)
            assert done.returncode == 0, done.stderr
            result = check(done.stdout, 0)
            assert result["pings"]["received"] == 5
            assert result["pings"]["flush"] == flush
        done = run(pings, "-p", port, "-c", "1", "-s", "1M", "--json", ADDRESS)
        assert check(done.stdout, 2)["failure"]["step"] == "region"


@pytest.mark.parametrize("option", [("-p", "0"), ("--allow", "127.0.0.1")])
def test_what_an_older_library_cannot_do_is_told(option: tuple[str, str]) -> None:
    done = run("1.2.0", "--server", "--listen", ADDRESS, *option)
    assert done.returncode == 2
    assert f"{'--port 0' if option[0] == '-p' else '--allow'}: this librpma is older than 1.4" in done.stderr


def test_a_refused_port_is_told_over_an_older_library_too() -> None:
    done = run("1.2.0", "-p", "1", "-c", "1", "--json", ADDRESS)
    assert check(done.stdout, 2)["failure"]["step"] == "connect"
