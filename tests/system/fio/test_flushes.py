# SPDX-License-Identifier: BSD-3-Clause
"""How many flushes the device was asked for, and of what, against fio's own log of what it did.

With apm a flush is a read of at most 8 bytes, with gpspm a message of 24 bytes for each range,
which the server answers (common/rdma/gpspm.h); a client's last message is empty.
"""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fio_runs import KIB, Run, mostly_long, run_client, run_fio, server
from soft_trace import read_traces

BLOCK = 4 * KIB
BLOCKS = 64
WRITES: dict[str, Any] = {"bs": BLOCK, "size": BLOCKS * BLOCK}
TOGETHER: dict[str, Any] = {"iodepth": 16, "iodepth_batch": 16, "iodepth_batch_complete_min": 16, "iodepth_batch_complete_max": 16}
FLUSH_BYTES = 8
REQUEST_BYTES = 24
GOODBYES = 1


class Entry(NamedTuple):
    action: str
    begin: int
    end: int


class Work:
    """What one client posted, and what fio reports to have asked the engine for."""

    def __init__(self, folder: Path, port: str, **options: Any) -> None:
        name, log = str(folder / "posted.%p"), folder / "log"
        self.done = run_client(folder, port, soft=f"trace:{name}", write_iolog=log, **{"rw": "write", **WRITES, **options})
        self.operations = [one for trace in read_traces(name) for one in trace.operations]
        self.entries: list[Entry] = []
        for line in log.read_text().splitlines()[1:]:
            _, _, action, *numbers = line.split()
            if action in ("write", "sync", "datasync") and numbers:
                begin, size = map(int, numbers)
                self.entries.append(Entry(action, begin, begin + size))

    def posted(self, kind: str, size: int | None = None) -> int:
        return sum(one.kind == kind and size in (None, one.bytes) for one in self.operations)

    def flushes(self) -> int:
        """By reads; nothing else reads in these tests."""
        assert all(one.bytes <= FLUSH_BYTES for one in self.operations if one.kind == "read")
        return self.posted("read")

    def requests(self) -> int:
        assert self.posted("send") == self.posted("send", REQUEST_BYTES) + GOODBYES
        return self.posted("send", REQUEST_BYTES)

    def writes(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.action == "write"]

    def between_syncs(self) -> list[list[Entry]]:
        """The writes before each sync; those after the last are left out."""
        groups: list[list[Entry]] = [[]]
        for entry in self.entries:
            if entry.action == "write":
                groups[-1].append(entry)
            elif groups[-1]:  # an engine that was busy is asked again
                groups.append([])
        return groups[:-1]


def extents(writes: list[Entry]) -> int:
    """That remain when all are sorted and joined."""
    count, end = 0, -1
    for entry in sorted(writes, key=lambda one: one.begin):
        count += entry.begin > end
        end = max(end, entry.end)
    return count


@pytest.fixture
def work(anybody: Run, tmp_path: Path):
    return lambda **options: Work(tmp_path, anybody.port, **options)


@pytest.mark.parametrize(
    ("options", "flushes"),
    [
        ({"fsync": 4}, 15),
        ({"fsync": 4, "end_fsync": 1}, 16),
        ({"fdatasync": 4}, 15),
        pytest.param({"sync_file_range": "write:4"}, 15, marks=pytest.mark.long),
        ({"fsync_on_close": 1}, 1),
        ({"end_fsync": 1, "rw": "randwrite", "iodepth": 8}, 1),
        ({"write_barrier": 8}, 7),  # the 9th, 17th ... 57th write is one
        ({"write_barrier": 8, "iodepth": 4}, 7),
        ({"sync": 1}, BLOCKS),  # as O_SYNC and O_DSYNC: each write is durable when it is done
        ({"sync": "dsync", "fsync": 4}, BLOCKS),
        pytest.param({}, 0, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_fsync_flushes_when_it_is_called(work, options: dict[str, Any], flushes: int) -> None:
    made = work(flush="fsync", **options)
    assert made.posted("write", BLOCK) == BLOCKS
    assert made.flushes() == flushes


def test_a_commit_has_one_doorbell(anybody: Run, tmp_path: Path) -> None:
    """One more than a commit of 16 needs, and the goodbye, would fail."""
    most = BLOCKS // 16 + GOODBYES
    run_client(tmp_path, anybody.port, soft=f"call:name=ibv_post_send,at={most + 1}", rw="write", flush="auto",
               **WRITES, **TOGETHER)  # fmt: skip


@pytest.mark.parametrize("batch", mostly_long([1, 8], 8))
@pytest.mark.parametrize("mode", ["apm", "gpspm"])
def test_fsync_among_many_in_flight(work, mode: str, batch: int) -> None:
    """fio asks for fewer then, of any engine; what it asks for is done."""
    made = work(flush="fsync", fsync=4, end_fsync=1, mode=mode, iodepth=16, iodepth_batch=batch)
    assert len(made.between_syncs()) > 10
    assert (made.flushes() if mode == "apm" else made.requests()) == len(made.between_syncs())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rw": "randwrite"},
        {"rw": "write:4k", "size": 2 * BLOCKS * BLOCK, "io_size": BLOCKS * BLOCK},
        {"rw": "write:4k", "size": 24 * BLOCK, "io_size": 48 * BLOCK},  # round and round
        {"size": 6 * BLOCK, "io_size": 48 * BLOCK},
        {"rw": "randwrite", "bs": None, "bsrange": "512-8k"},
    ],
    ids=str,
)
def test_fsync_asks_for_exactly_what_was_written(work, options: dict[str, Any]) -> None:
    made = work(flush="fsync", mode="gpspm", fsync=4, end_fsync=1, iodepth=4, **options)
    expected = [extents(group) for group in made.between_syncs()]
    assert len(expected) >= 8
    assert made.requests() == sum(expected)


# what each policy makes of a batch in either method, how a write is posted, and how many flushes there are
POLICIES: list[Any] = [
    ({"flush": "none", "fsync": 4}, "write", 0),
    ({"flush": "each", **TOGETHER}, "write", BLOCKS),
    ({"flush": "each", "fsync": 4, "end_fsync": 1}, "write", BLOCKS),  # nothing is left for what asks for it
    ({"flush": "each", "rw": "trim"}, "write", BLOCKS),
    ({"flush": "auto", **TOGETHER}, "write", BLOCKS // 16),
    ({"flush": "batch", "rw": "randwrite", **TOGETHER}, "write", BLOCKS // 16),
    ({"flush": "each", "write_op": "imm", "iodepth": 8}, "write-imm", BLOCKS),
    ({"flush": "each", "mode": "gpspm"}, "write", BLOCKS),
    ({"mode": "gpspm", "write_op": "imm", "iodepth": 16}, "write-imm", 0),  # the data asks for it
]


@pytest.mark.parametrize(("options", "kind", "flushes"), POLICIES, ids=str)
def test_a_policy_flushes_what_it_says(work, options: dict[str, Any], kind: str, flushes: int) -> None:
    """test_io_queue_policy.c has what of a batch is flushed; here is that the options come to it."""
    made = work(**options)
    assert made.posted(kind, BLOCK) == BLOCKS
    assert (made.requests(), made.flushes()) == ((flushes, 0) if "mode" in options else (0, flushes))


def test_words_are_written_atomically(work) -> None:
    made = work(write_op="atomic", bs=8, size=8 * BLOCKS, flush="each")
    # where the headers have no atomic write it is an inline write of 8 bytes
    assert made.posted("atomic-write", 8) + made.posted("write", 8) == BLOCKS


OLD_JOB = """
[global]
ioengine=librpma_{method}_client
create_serialize=0
serverip=127.0.0.1
port={port}
thread

[client]
rw=write
bs=4k
size=2m
"""


@pytest.mark.parametrize("method", ["apm", "gpspm"])
@pytest.mark.parametrize(
    ("more", "flushes"),
    [("iodepth=16\niodepth_batch=4\n", 128), ("iodepth=16\niodepth_batch=16\n", 32),
     ("sync=1\niodepth=2\niodepth_batch_submit=1\n", 512)],
    ids=["batches of 4", "batches of 16", "sync"],
)  # fmt: skip
def test_old_job_files_flush_once_a_batch(tmp_path: Path, method: str, more: str, flushes: int) -> None:
    """As fio 3.37's own engines did: 512 writes, and a flush for each group of iodepth_batch."""
    trace = str(tmp_path / "posted.%p")
    with server(tmp_path, size="2m", clients=1, iodepth=16) as it:
        (tmp_path / "old.fio").write_text(OLD_JOB.format(method=method, port=it.port) + more)
        code, _, said = run_fio(tmp_path, "old.fio", soft=f"trace:{trace}")
        assert code == 0, said
    posted = [one for trace in read_traces(trace) for one in trace.operations]
    assert sum(one.kind == "write" and one.bytes == BLOCK for one in posted) == 512
    assert sum(one.kind == "read" for one in posted) == (flushes if method == "apm" else 0)
    assert sum(one.kind == "send" for one in posted) == GOODBYES + (0 if method == "apm" else flushes)


def test_a_batch_stays_whole_among_reads(work) -> None:
    """Reads complete one by one, and what is handed over meanwhile waits for three more."""
    made = work(rw="randrw", iodepth=16, iodepth_batch=4, flush="batch", size=256 * BLOCK)
    log = [line.split()[2] for line in (made.done.run.folder / "log").read_text().splitlines() if line.endswith(f" {BLOCK}")]
    assert len(log) == 256
    flushes = sum(one.kind == "read" and one.bytes <= FLUSH_BYTES for one in made.operations)
    assert flushes == sum("write" in log[at : at + 4] for at in range(0, 256, 4))
