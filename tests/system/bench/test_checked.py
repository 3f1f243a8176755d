# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --check compares what rpma-bench has measured as persistent with what the device has seen flushed."""

import os
import subprocess
from pathlib import Path

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
BENCH, NO_FLUSH = os.environ["RPMA_BENCH"], os.environ["RPMA_BENCH_NO_FLUSH"]
# a platform on which what a read flushes is durable; the power fails after more operations than there are
PLATFORM = "powerfail:at=1000000000,domain=adr,ddio=off"
LIMIT_S = 300


def measured(program: str, folder: Path, persist: str) -> subprocess.CompletedProcess[str]:
    (folder / "target").write_bytes(bytes(1 << 20))
    command = [LAUNCHER, "--check=not-durable", "-f", PLATFORM, program, "local", "--device", "soft", "--target", "target",
               "--force", "--direct-write-to-pmem", "--persist", persist, "--size", "64,1000", "--ops", "50",
               "--repeats", "1", "--warmup", "0"]  # fmt: skip
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S)


@pytest.mark.parametrize("persist", ["apm", "append", "gpspm", "none"])
def test_nothing_is_reported_of_what_is_durable(tmp_path: Path, persist: str) -> None:
    done = measured(BENCH, tmp_path, persist)
    assert done.returncode == 0 and "not-durable" not in done.stderr, done.stderr


@pytest.mark.parametrize("persist", ["apm", "append"])
def test_a_missing_flush_is_reported(tmp_path: Path, persist: str) -> None:
    done = measured(NO_FLUSH, tmp_path, persist)
    assert "== rpma-soft: not-durable: " in done.stderr, done.stderr
    assert " of the peer of QP 0x" in done.stderr and "not flushed" in done.stderr or "moves it out" in done.stderr
