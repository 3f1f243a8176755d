# SPDX-License-Identifier: BSD-3-Clause
"""A target whose power fails has what librpmem called durable, and no torn word.

For each seed a client (power.c) writes to a new pool until the power of its daemon fails, at an
operation that the seed chooses. The parts are then compared with the client's journal: all
acknowledged bytes are there, and of the rest each aligned word is either old or new. With a
librpmem that flushes nothing, or an rpmemd that persists nothing, acknowledged bytes are lost.

What the daemon's CPU has stored counts as durable at once (rpma-soft(1)): only what a device has
written can be lost. So the runs are counted in which the device put lines back.
"""

import math
import os
import random
import re
import struct
import subprocess
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from accepting import LAUNCHER, RPMEMD, Setting, setting

# the product, and what differs from it in one point: names of power.c's and of rpmemd's programs
CLIENTS = {way: os.environ[f"RPMEM_POWER{way.upper()}"] for way in ("", "_by_read", "_no_flush")}
DAEMONS = {"": RPMEMD, "_no_persist": os.environ["RPMEMD_NO_PERSIST"]}
NATIVE = os.environ["RPMA_NATIVE"] == "1"
SEEDS = int(os.environ["RPMEM_SEEDS"])
LIMIT_S = 300
SET, HEADER, PART_BYTES = "power.set", 4096, 2 << 20
POOL_BYTES = 2 * PART_BYTES - HEADER  # the second part has a header, too
MOMENTS = range(8, 300)  # which operation fails: not the first of a pool, and a journal stays short
REOPENED = 10  # every Nth run opens the pool once more


@dataclass(frozen=True)
class Way:
    """How data become durable at the target, and what the platform is."""

    method: str
    pmem: bool  # else a file on a disk
    platform: str
    transport: str = "auto"
    client: str = ""
    daemon: str = ""

    def __str__(self) -> str:
        platform = re.sub("domain=|,ddio=", "", self.platform)
        kind = "pmem" if self.pmem else "file"
        return f"{self.method}{self.client}{self.daemon}-{kind}-{platform}-{self.transport}"


ADR_DDIO, ADR, EADR = "domain=adr,ddio=on", "domain=adr,ddio=off", "domain=eadr,ddio=on"
DURABLE = [
    Way("gpspm", True, ADR_DDIO),
    Way("gpspm", True, ADR),
    Way("gpspm", False, ADR_DDIO),
    Way("gpspm", False, ADR),
    Way("apm", True, ADR),
    Way("apm", True, EADR),
    Way("gpspm", True, ADR_DDIO, "tcp"),
    Way("gpspm", False, ADR_DDIO, "tcp"),
    Way("apm", True, ADR, "tcp"),
    Way("apm", True, ADR, client="_by_read"),
    *([Way("apm", True, ADR_DDIO)] if NATIVE else []),
]
LOST = [
    Way("gpspm", True, ADR_DDIO, daemon="_no_persist"),
    Way("gpspm", False, ADR_DDIO, daemon="_no_persist"),
    Way("apm", True, ADR, client="_no_flush"),
    Way("apm", True, ADR_DDIO, client="_by_read"),  # not the platform that persist-apm states
]


@dataclass(frozen=True)
class Write:
    number: int
    lane: int
    offset: int
    length: int

    @property
    def end(self) -> int:
        return self.offset + self.length

    def content(self) -> bytes:
        first, last = self.offset // 8, (self.end - 1) // 8
        hashed = _splitmix(self.number) >> 2
        words = array("Q", range(hashed + first, hashed + last + 1)).tobytes()
        return words[self.offset % 8 :][: self.length]


def _splitmix(state: int) -> int:
    """test_random() of tests/lib/random.h."""
    mask = (1 << 64) - 1
    z = (state + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
    return z ^ z >> 31


def read_journal(journal: Path) -> tuple[list[Write], list[Write]]:
    """What was acknowledged, in order, and what was begun after that."""
    acknowledged: list[Write] = []
    pending: list[Write] = []
    for line in journal.read_text().splitlines():
        match line.split():
            case ["write", number, lane, _, _, offset, length]:
                pending.append(Write(int(number), int(lane), int(offset), int(length)))
            case ["ack", lane]:
                acknowledged += [write for write in pending if write.lane == int(lane)]
                pending = [write for write in pending if write.lane != int(lane)]
            case _:
                raise AssertionError(line)
    return acknowledged, pending


def put(pool: bytearray, writes: list[Write]) -> bytearray:
    for write in writes:
        pool[write.offset : write.end] = write.content()
    return pool


def torn_words(pool: bytes, old: bytes, new: bytes, write: Write) -> int:
    """Words of an unacknowledged write that are neither old nor new; of those it covers in part, bytes."""
    torn = 0
    begin, end = (write.offset + 7) // 8 * 8, write.end // 8 * 8
    for at in range(begin, end, 8):
        torn += pool[at : at + 8] not in (old[at : at + 8], new[at : at + 8])
    for at in [*range(write.offset, min(begin, write.end)), *range(max(end, begin), write.end)]:
        torn += pool[at] not in (old[at], new[at])
    return torn


@dataclass
class Outcome:
    lost: int  # bytes that were acknowledged
    torn: int
    put_back: int  # lines


def judge(pool: bytes, journal: Path, put_back: int) -> Outcome:
    acknowledged, pending = read_journal(journal)
    old = put(bytearray(POOL_BYTES), acknowledged)
    new = put(bytearray(old), pending)
    expected = bytearray(old)
    for write in pending:  # judged by words
        expected[write.offset : write.end] = pool[write.offset : write.end]
    lost = 0
    if pool[HEADER:] != expected[HEADER:]:
        lost = sum(a != b for a, b in zip(pool[HEADER:], expected[HEADER:], strict=True))
    return Outcome(lost, sum(torn_words(pool, old, new, write) for write in pending), put_back)


def parts(here: Setting) -> list[Path]:
    return [here.pools / name for name in "ab"]


def fails_at(here: Setting, way: Way, seed: int, *checks: str) -> subprocess.CompletedProcess[str]:
    """A client of a new pool, up to the failure."""
    at = random.Random(f"power {seed}").choice(MOMENTS)
    soft = f"{LAUNCHER} --transport {way.transport} --seed {seed} -f powerfail:at={at},{way.platform} --"
    apm = " --persist-apm" if way.method == "apm" else ""
    daemon = here.script(
        "fails", f'exec {soft} {DAEMONS[way.daemon]} {here.options}{apm} "$@" 2>>{here.folder}/said'
    )  # fmt: skip
    client = [LAUNCHER, *checks, "--transport", way.transport, "--", CLIENTS[way.client], "127.0.0.1", SET,
              str(POOL_BYTES)]  # fmt: skip
    return subprocess.run(
        [*client, str(here.folder / "journal"), str(seed)],
        env={**here.env, "RPMEM_CMD": f"PMEM_IS_PMEM_FORCE={int(way.pmem)} {daemon}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=LIMIT_S,
    )


def run(here: Setting, way: Way, seed: int) -> Outcome:
    for file in [*parts(here), here.folder / "journal", here.folder / "said"]:
        file.unlink(missing_ok=True)
    here.log.write_text("")
    done = fails_at(here, way, seed)
    said = done.stdout + done.stderr + (here.folder / "said").read_text()
    assert done.returncode == 0, said + here.logged()
    assert f"method {way.method.upper()}" in here.log.read_text(), here.logged()
    failure = re.search(r"power fails at operation .*: (\d+) lines not durable, (\d+) rolled back", said)
    assert failure, said
    first, second = (part.read_bytes() for part in parts(here))
    outcome = judge(first + second[HEADER:], here.folder / "journal", int(failure[2]))
    if seed % REOPENED == 0:
        opened = subprocess.run(
            here.command("--work", SET, str(POOL_BYTES)), env=here.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=LIMIT_S,
        )  # fmt: skip
        assert opened.stdout.endswith("done\n"), opened.stdout + opened.stderr
    return outcome


@pytest.fixture(scope="module")
def here() -> Iterator[Setting]:
    with setting("soft") as one:
        (one.pools / SET).write_text("PMEMPOOLSET\n" + "".join(f"{PART_BYTES} {part}\n" for part in parts(one)))
        yield one


def outcomes(here: Setting, way: Way, seeds: int) -> list[Outcome]:
    found = [run(here, way, seed) for seed in range(1, seeds + 1)]
    lost = sum(outcome.lost > 0 for outcome in found)
    put_back = sum(outcome.put_back > 0 for outcome in found)
    print(f"{way}: {len(found)} runs, {put_back} with lines put back, {lost} with acknowledged bytes lost")
    return found


def least(probability: float, runs: int) -> float:
    """How many of the runs show what has this probability: fewer are one case in millions."""
    return runs * probability - 5 * math.sqrt(runs * probability * (1 - probability))


@pytest.mark.parametrize("way", DURABLE, ids=str)
def test_what_was_acknowledged_is_there(here: Setting, way: Way) -> None:
    found = outcomes(here, way, max(SEEDS // 4, 2) if way.transport == "tcp" else SEEDS)
    wrong = {seed: outcome for seed, outcome in enumerate(found, 1) if outcome.lost or outcome.torn}
    assert not wrong
    if len(found) >= 100:  # else the test would prove little
        assert sum(outcome.put_back > 0 for outcome in found) >= least(0.3, len(found))


@pytest.mark.parametrize("way", LOST, ids=str)
def test_a_missing_flush_shows(here: Setting, way: Way) -> None:
    found = outcomes(here, way, max(SEEDS // 4, 8))
    assert sum(outcome.lost > 0 for outcome in found) >= max(1, least(0.7, len(found)))


def checked(here: Setting, way: Way) -> subprocess.CompletedProcess[str]:
    """rpma-soft --check compares what librpmem calls durable with what the device has seen flushed."""
    for file in [*parts(here), here.folder / "journal", here.folder / "said"]:
        file.unlink(missing_ok=True)
    done = fails_at(here, way, 1, "--check=not-durable")
    assert re.search(r" [1-9]\d* requests seen", done.stderr), done.stderr
    return done


@pytest.mark.parametrize("way", [DURABLE[0], DURABLE[3], DURABLE[4]], ids=str)
def test_nothing_is_reported_of_what_is_durable(here: Setting, way: Way) -> None:
    done = checked(here, way)
    assert done.returncode == 0 and "not-durable" not in done.stderr, done.stderr


@pytest.mark.parametrize("way", LOST, ids=str)
def test_a_missing_flush_is_reported(here: Setting, way: Way) -> None:
    done = checked(here, way)
    assert done.returncode == 99 and "== rpma-soft: not-durable: " in done.stderr, done.stderr


def test_the_judge_sees_what_is_wrong(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    journal.write_text("write 1 0 persist 0 8192 64\nack 0\nwrite 2 0 persist 0 8196 100\nwrite 3 1 flush 1 65536 8\n")
    acknowledged, pending = read_journal(journal)
    old = put(bytearray(POOL_BYTES), acknowledged)
    assert struct.unpack_from("<2Q", old, 8192) == tuple((_splitmix(1) >> 2) + 1024 + i for i in range(2))
    assert judge(bytes(old), journal, 0) == Outcome(0, 0, 0)
    new = put(bytearray(old), pending)
    assert judge(bytes(new), journal, 0) == Outcome(0, 0, 0)
    mixed = bytearray(old)
    mixed[8200:8208] = new[8200:8208]  # a word, and bytes of another that the write covers in part
    mixed[8196:8198] = new[8196:8198]
    assert judge(bytes(mixed), journal, 0) == Outcome(0, 0, 0)
    mixed[8208:8212] = new[8208:8212]
    assert judge(bytes(mixed), journal, 0) == Outcome(0, 1, 0)
    lost = bytearray(old)
    lost[8192:8194] = bytes(2)
    assert judge(bytes(lost), journal, 0).lost == 2
