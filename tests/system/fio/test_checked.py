# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --check compares what a job's last line calls flushed to persistence, and what an fsync made so,
with what the device has seen flushed.

A flush by read is not enough where the caches of the CPU take what a device writes (ddio=on): a server
that states the contrary (direct_write_to_pmem) leaves such a flush out.
"""

import subprocess
from pathlib import Path

import pytest
from fio_runs import CLOCK, FIO, KIB, LAUNCHER, LIMIT_S, environment, words
from free_port import free_port

REGION = 64 * KIB
POLICIES = {"each": {"flush": "each", "iodepth": 4}, "fsync": {"flush": "fsync", "fsync": 4}}


def checked(folder: Path, ddio: str, mode: str, **policy: object) -> subprocess.CompletedProcess[str]:
    (folder / "region").write_bytes(bytes(REGION))
    port = free_port()
    server = words(name="server", role="server", port=port, filename="region", direct_write_to_pmem=int(mode == "apm"))
    client = words(name="client", port=port, mode=mode, rw="randwrite", norandommap=1, **policy)
    everywhere = words(ioengine="librpma", clocksource=CLOCK, bs=4 * KIB, size=REGION)
    command = [LAUNCHER, "--check=not-durable", "-f", f"powerfail:at=1000000000,ddio={ddio}", FIO, *everywhere, *server, *client]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=LIMIT_S)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("mode", "ddio"), [("apm", "off"), ("gpspm", "on")])
def test_nothing_is_reported_of_what_is_durable(tmp_path: Path, mode: str, ddio: str, policy: str) -> None:
    done = checked(tmp_path, ddio, mode, **POLICIES[policy])
    assert done.returncode == 0 and "not-durable" not in done.stderr, done.stderr
    assert "flushed to persistence" in done.stderr, done.stderr


@pytest.mark.parametrize("policy", POLICIES)
def test_a_flush_that_leaves_data_in_the_caches_is_reported(tmp_path: Path, policy: str) -> None:
    done = checked(tmp_path, "on", "apm", **POLICIES[policy])
    assert "== rpma-soft: not-durable: " in done.stderr, done.stderr
    assert "in the caches of the CPU, and not flushed from there" in done.stderr, done.stderr


def test_nothing_is_called_durable_that_was_not_flushed(tmp_path: Path) -> None:
    done = checked(tmp_path, "on", "apm", flush="none")
    assert done.returncode == 0 and "not-durable" not in done.stderr, done.stderr
