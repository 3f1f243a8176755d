# SPDX-License-Identifier: BSD-3-Clause
"""What a power failure leaves of a log that rpma_append() writes: an end that names what is there.

append_power.c fails the power of a target once for each seed, at operations that the seeds choose,
with one to eight appends under way. Without the flush of the record, or on a platform whose caches
lose what a read has flushed, the same judge sees losses.

The target may instead persist the log itself, when a message asks for it, and then answer.

Without that flush each failure comes between the write of an end and its flush: each line is rolled
back with probability 1/2, so the end stays and its record loses a line in 1/4 of the seeds or more.
The bound is five standard deviations below; the seeds being fixed, no run differs from another.
"""

import math
import os
import re
import subprocess
from pathlib import Path

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
APPEND_POWER = os.environ["RPMA_APPEND_POWER"]
NATIVE = os.environ["RPMA_NATIVE"] == "1"
SEEDS = int(os.environ["SEEDS"])
FEWER = max(SEEDS // 10, 4)
PERSISTS = ["msync", "fdatasync", *(["pmem"] if os.environ.get("HAVE_LIBPMEM") == "1" else [])]
ADR, ADR_DDIO, EADR = "domain=adr,ddio=off", "domain=adr,ddio=on", "domain=eadr,ddio=on"


def failures(tmp_path: Path, how: str, method: str, platform: str, seeds: int, transport: str = "auto"):
    """The ends that name what is gone, the logs with acknowledged records lost, and the failures that took lines."""
    done = subprocess.run(
        [LAUNCHER, "--transport", transport, "--", APPEND_POWER, how, method, platform, str(seeds), tmp_path / "log"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 + seeds,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr[-2000:]
    counts = re.fullmatch(
        r"(\d+) failures, (\d+) ends that name what is gone, (\d+) with acknowledged records lost\n", done.stdout
    )
    assert counts and int(counts[1]) == seeds, done.stdout
    back = re.findall(r"power fails at operation .* not durable, (\d+) rolled back", done.stderr)
    assert len(back) == seeds, done.stderr[-2000:]
    took = sum(int(lines) > 0 for lines in back)
    print(f"{how} {method} {platform} {transport}: {done.stdout.strip()}, {took} with lines put back")
    return int(counts[2]), int(counts[3]), took


def least(probability: float, seeds: int) -> float:
    return seeds * probability - 5 * math.sqrt(seeds * probability * (1 - probability))


@pytest.mark.parametrize(
    "how,method,platform,transport,seeds",
    [
        ("append", "read", ADR, "auto", SEEDS),
        ("append", "auto", ADR, "auto", FEWER),
        ("append", "read", EADR, "auto", FEWER),
        ("append", "read", ADR, "tcp", FEWER),
        ("listed", "read", ADR, "auto", SEEDS),
        ("listed", "read", ADR, "tcp", FEWER),
        ("listed", "auto", ADR, "auto", FEWER),
        *([("append", "auto", ADR_DDIO, "auto", SEEDS), ("append", "auto", ADR_DDIO, "tcp", FEWER)] if NATIVE else []),
    ],
)
def test_the_end_names_what_is_there(
    tmp_path: Path, how: str, method: str, platform: str, transport: str, seeds: int
) -> None:
    gone, lost, took = failures(tmp_path, how, method, platform, seeds, transport)
    assert (gone, lost) == (0, 0)
    if seeds >= 100 and platform != EADR:  # else the test would prove little
        assert took >= least(0.3, seeds)


@pytest.mark.parametrize("method", ["read", "auto"])
def test_a_missing_flush_shows(tmp_path: Path, method: str) -> None:
    gone, _, _ = failures(tmp_path, "unflushed", method, ADR, FEWER)
    assert gone >= max(1, least(0.25, FEWER))


def test_a_platform_without_direct_write_shows(tmp_path: Path) -> None:
    _, lost, _ = failures(tmp_path, "append", "read", ADR_DDIO, FEWER)
    assert lost >= max(1, least(0.5, FEWER))


@pytest.mark.parametrize("how", PERSISTS)
def test_what_the_target_persisted_is_there(tmp_path: Path, how: str) -> None:
    _, lost, _ = failures(tmp_path, how, "read", ADR_DDIO, FEWER)
    assert lost == 0


def test_an_answer_persists_nothing(tmp_path: Path) -> None:
    gone, lost, _ = failures(tmp_path, "nothing", "read", ADR_DDIO, FEWER)
    assert gone + lost >= max(1, least(0.5, FEWER))
