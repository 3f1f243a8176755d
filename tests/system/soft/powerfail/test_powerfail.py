# SPDX-License-Identifier: BSD-3-Clause
"""What a failure of power at the target takes from a log that a writer appends to.

For each seed a target and a writer run under rpma-soft, the power of the target
fails at an operation that the seed chooses, and the target's file is looked at: it
must have every record that the writer was told is durable, or, where the
writer was told so wrongly, it must miss one in a share of the seeds.

That share has a bound from below. A record has two lines, each undurable line is
rolled back with probability 1/2, so L undurable lines all survive with 2^-L. With p
the least probability of a loss, the losses in n seeds are at least np - 5 sqrt(np(1-p)),
but for one set of seeds in millions; the seeds being fixed, no run differs from another.
"""

import math
import os
import random
import re
import signal
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
APPEND = os.environ["SOFT_APPEND"]
SEEDS = int(os.environ["SEEDS"])
LIMIT_S = 300
RECORD_BYTES = 128
WORDS = RECORD_BYTES // 8
MOST_RECORDS = 16  # acknowledged before the power fails; the log has room for 64


@dataclass
class Way:
    """How the writer appends: operations at the target a record, and which it may fail at."""

    how: str
    operations: int
    persist: str = "nothing"
    fail_after: int = 0  # operations of the record that is in the making

    def last_operation(self, records: int) -> int:
        return records * self.operations + self.fail_after + 1


FLUSH = Way("flush", 2)
UNFLUSHED = Way("none", 1)
FLUSH_BEFORE = Way("before", 2)
MESSAGE = Way("message", 2, "msync")
MESSAGE_FDATASYNC = Way("message", 2, "fdatasync")
MESSAGE_PMEM = Way("message", 2, "pmem")
MESSAGE_UNPERSISTED = Way("message", 2)
WRITTEN_UNFLUSHED = Way("flush", 2, fail_after=1)
MESSAGE_UNANSWERED = Way("message", 2, "msync", fail_after=1)


@contextmanager
def start(*command: object) -> Iterator[subprocess.Popen]:
    with subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def acknowledged(
    file: Path, way: Way, platform: str, seed: int, at: int, transport: str
) -> tuple[int, str]:
    """How many records the writer was told are durable, and what was said of the failure."""
    soft = (LAUNCHER, "--transport", transport, "--seed", seed)
    fault = ("-f", f"powerfail:at={at},{platform}")
    with start(*soft, *fault, APPEND, "target", file, way.persist) as target:
        port = re.match(r"port (\d+)\n", target.stdout.readline())
        assert port, target.communicate(timeout=LIMIT_S)[1]
        with start(*soft, APPEND, "writer", "127.0.0.1", port[1], way.how) as writer:
            out, said = writer.communicate(timeout=LIMIT_S)
            assert writer.returncode == 0, said
        said += target.communicate(timeout=LIMIT_S)[1]
        assert target.returncode == -signal.SIGKILL, said
    return int(re.fullmatch(r"acknowledged (\d+)\n", out)[1]), said


def records_in(file: Path) -> int:
    """How many records stand in the file from the first on without a gap or a tear."""
    content = file.read_bytes()
    whole = 0
    while content[whole * RECORD_BYTES :].startswith(
        struct.pack(f"<{WORDS}Q", *[whole + 1] * WORDS)
    ):
        whole += 1
    return whole


def losses(scratch: Path, way: Way, platform: str, transport: str, seeds: int) -> int:
    """In how many seeds an acknowledged record is not in the file."""
    lost = 0
    for seed in range(1, seeds + 1):
        file = scratch / f"{seed}.log"
        file.unlink(missing_ok=True)
        records = random.Random(seed).randrange(2, MOST_RECORDS)
        at = way.last_operation(records)
        told, said = acknowledged(file, way, platform, seed, at, transport)
        assert f"power fails at operation {at} of process" in said
        assert f"(seed {seed}," in said
        assert told == records, said
        lost += records_in(file) < told
    return lost


def least(probability: float, seeds: int) -> float:
    deviation = math.sqrt(seeds * probability * (1 - probability))
    return seeds * probability - 5 * deviation


DURABLE = [
    (FLUSH, "domain=adr,ddio=off"),
    (WRITTEN_UNFLUSHED, "domain=adr,ddio=off"),
    (MESSAGE, "domain=adr,ddio=on"),
    (MESSAGE_UNANSWERED, "domain=adr,ddio=on"),
    (MESSAGE_FDATASYNC, "domain=adr,ddio=on"),
    (MESSAGE_PMEM, "domain=adr,ddio=on"),
    (MESSAGE_UNPERSISTED, "domain=adr,ddio=off"),
    (FLUSH, "domain=eadr,ddio=on"),
]
ALL_OF_TWO_RECORDS = 1 - 2**-4  # two or more acknowledged, nothing of them durable
THE_LAST_RECORD = 1 - 2**-2
LOST = [
    (UNFLUSHED, "domain=adr,ddio=off", ALL_OF_TWO_RECORDS),
    (UNFLUSHED, "domain=adr,ddio=on", ALL_OF_TWO_RECORDS),
    (FLUSH_BEFORE, "domain=adr,ddio=off", THE_LAST_RECORD),
    (FLUSH, "domain=adr,ddio=on", ALL_OF_TWO_RECORDS),
    (MESSAGE_UNPERSISTED, "domain=adr,ddio=on", ALL_OF_TWO_RECORDS),
]


def name(value: object) -> str | None:
    if isinstance(value, Way):
        return f"{value.how}-{value.persist}" + ("-half" if value.fail_after else "")
    return value.replace("domain=", "").replace(",ddio=", "-") if isinstance(value, str) else ""


@pytest.mark.parametrize("way,platform", DURABLE, ids=name)
def test_what_was_acknowledged_is_there(tmp_path: Path, way: Way, platform: str) -> None:
    if way is MESSAGE_PMEM and os.environ.get("HAVE_LIBPMEM") != "1":
        pytest.skip("no libpmem")
    assert losses(tmp_path, way, platform, "auto", SEEDS) == 0


@pytest.mark.parametrize("way,platform,probability", LOST, ids=name)
def test_a_missing_flush_shows(
    tmp_path: Path, way: Way, platform: str, probability: float
) -> None:
    assert losses(tmp_path, way, platform, "auto", SEEDS) >= least(probability, SEEDS)


def test_over_tcp_the_target_ends_itself(tmp_path: Path) -> None:
    seeds = SEEDS // 4
    platform = "domain=adr,ddio=off"
    assert losses(tmp_path, FLUSH, platform, "tcp", seeds) == 0
    assert losses(tmp_path, UNFLUSHED, platform, "tcp", seeds) >= least(ALL_OF_TWO_RECORDS, seeds)


def test_the_same_seed_loses_the_same(tmp_path: Path) -> None:
    contents = []
    for run in ("first", "second"):
        file = tmp_path / run
        acknowledged(file, UNFLUSHED, "domain=adr,ddio=on", 11, 20, "auto")
        contents.append(file.read_bytes())
    assert contents[0] == contents[1]
    assert any(contents[0])
