# SPDX-License-Identifier: BSD-3-Clause
"""What a failure of the server's power takes from its file.

The device chooses by its seed which lines of what is not durable it puts back, and the operation
at which the power fails is chosen here, between two of the client's: so it is known how many
writes fsync covered. Each block holds its own offset, and none is written twice.
"""

import random
from pathlib import Path
from typing import Any

import pytest
from fio_runs import KIB, LONG, PATTERN, Done, client, patterned, start_server
from free_port import free_port

BLOCK = 4 * KIB
REGION = 256 * KIB
FILES = 4
EVERY = 4  # writes to an fsync
SEEDS = range(1, 11 if LONG else 2)
# how the client flushes, and the platform on which that is enough
WAYS = {"apm": "domain=adr,ddio=off", "gpspm": "domain=adr,ddio=on"}
# with the ranges that four writes leave: each is a message of gpspm; apm reads once
SHAPES: dict[str, tuple[dict[str, Any], int]] = {
    "sequential": ({"rw": "write"}, 1),
    "strides": ({"rw": "write:12k", "io_size": REGION // 4}, 4),
    "files": ({"rw": "write", "nrfiles": FILES}, 4),  # in turns
}


def written(log: Path) -> list[tuple[int, int]]:
    """Where fio wrote, in that order: the begin of the block in its file, and in the region."""
    fields = [line.split() for line in log.read_text().splitlines()[1:]]
    files = [one[1] for one in fields if one[2] == "add"]
    return [
        (int(one[3]), int(one[3]) + files.index(one[1]) * REGION // len(files))
        for one in fields
        if one[2] == "write"
    ]  # fmt: skip


def lost(folder: Path, platform: str, at: int, covered: int, seed: int, **options: Any) -> int:
    """How many of the first so many blocks are not in the file after the failure."""
    region, log = folder / "region", folder / "log"
    region.write_bytes(bytes(REGION))
    log.unlink(missing_ok=True)
    serving = start_server(folder, f"seed:{seed} powerfail:at={at},{platform}", filename=region, size=REGION,
                           port=free_port(), direct_write_to_pmem=int(platform == WAYS["apm"]))  # fmt: skip
    try:
        with client(folder, serving.port, bs=BLOCK, size=REGION, write_iolog=log, connect_timeout=1, do_verify=0,
                    **{**PATTERN, **options}) as run:  # fmt: skip
            done = Done(run)
    finally:
        serving.kill()
    assert done.code == 1, done.said
    assert f"power fails at operation {at} of" in done.said + serving.said()
    content = region.read_bytes()
    blocks = written(log)[:covered]
    assert len({place for _, place in blocks}) == covered
    return sum(content[place : place + BLOCK] != patterned(begin, BLOCK) for begin, place in blocks)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", WAYS)
def test_what_fsync_covered_is_there(tmp_path: Path, way: str, shape: str) -> None:
    options, ranges = SHAPES[shape]
    for seed in SEEDS:
        syncs = random.Random(seed).randrange(1, 4)
        incoming = syncs * (EVERY + (ranges if way == "gpspm" else 1))
        found = lost(tmp_path, WAYS[way], incoming + 1, syncs * EVERY, seed, mode=way, flush="fsync", fsync=EVERY,
                     **options)  # fmt: skip
        assert found == 0


@pytest.mark.parametrize("way", WAYS)
def test_a_write_that_was_flushed_is_there(tmp_path: Path, way: str) -> None:
    """Each write and its flush are two operations; the one more is a write, whose completion was not reported."""
    for seed in SEEDS:
        writes = random.Random(seed).randrange(2, 12)
        assert lost(tmp_path, WAYS[way], 2 * writes + 1, writes, seed, mode=way, flush="each", rw="randwrite") == 0


def test_a_batch_that_was_flushed_is_there(tmp_path: Path) -> None:
    together = {"iodepth": 4, "iodepth_batch": 4, "iodepth_batch_complete_min": 4, "iodepth_batch_complete_max": 4}
    for seed in SEEDS:
        assert lost(tmp_path, WAYS["apm"], 2 * 5 + 1, 2 * 4, seed, flush="batch", rw="randwrite", **together) == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("flush", ["fsync", "none"])
def test_what_nothing_flushed_may_be_lost(tmp_path: Path, way: str, flush: str) -> None:
    """12 blocks have 768 lines: that all are there has a probability of 2 to the -768."""
    assert lost(tmp_path, WAYS[way], 13, 12, 1, mode=way, flush=flush, rw="write") > 0


def test_what_was_written_after_fsync_may_be_lost(tmp_path: Path) -> None:
    """Two fsyncs and three writes more: of the eight before nothing is lost, of all eleven something."""
    at = 2 * (EVERY + 1) + 3 + 1
    options = {"flush": "fsync", "fsync": EVERY, "rw": "write"}
    assert lost(tmp_path, WAYS["apm"], at, 8, 1, **options) == 0
    assert lost(tmp_path, WAYS["apm"], at, 11, 1, **options) > 0


def test_none_makes_nothing_of_fsync(tmp_path: Path) -> None:
    assert lost(tmp_path, WAYS["apm"], 13, 12, 1, flush="none", fsync=EVERY, rw="write") > 0
