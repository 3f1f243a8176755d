# SPDX-License-Identifier: BSD-3-Clause
"""How many flushes the device was asked for, and of what, against fio's own log of what it did.

With apm a flush is a read of at most 8 bytes, with gpspm a message of 24 bytes for each range,
which the server answers (common/rdma/gpspm.h); a client's last message is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
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


def runs(writes: list[Entry]) -> int:
    """How many runs there are of writes that begin where the one before ended."""
    return 1 + sum(one.end != other.begin for one, other in zip(writes, writes[1:]))


def extents(writes: list[Entry]) -> int:
    """That remain when all are sorted and joined."""
    count, end = 0, -1
    for entry in sorted(writes, key=lambda one: one.begin):
        count += entry.begin > end
        end = max(end, entry.end)
    return count


def batches(writes: list[Entry], size: int) -> list[list[Entry]]:
    return [writes[at : at + size] for at in range(0, len(writes), size)]


@pytest.fixture(scope="module")
def anybody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with server(tmp_path_factory.mktemp("server"), clients=1000) as it:
        yield it


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


@pytest.mark.parametrize("options", mostly_long([{}, {"fsync": 4}, {"end_fsync": 1}, {"write_barrier": 8}], {}, {"fsync": 4}), ids=str)
def test_none_never_flushes(work, options: dict[str, Any]) -> None:
    made = work(flush="none", **options)
    assert made.posted("write", BLOCK) == BLOCKS
    assert made.flushes() == 0


@pytest.mark.parametrize(
    "options",
    mostly_long([{}, {"iodepth": 16}, TOGETHER, {"sync": 1}, {"rw": "randwrite", "iodepth": 8},
                 {"fsync": 4, "end_fsync": 1}, {"write_barrier": 8}], {}, TOGETHER, {"fsync": 4, "end_fsync": 1}),
    ids=str,
)  # fmt: skip
def test_each_flushes_each(work, options: dict[str, Any]) -> None:
    """And nothing is left to flush for what asks for it."""
    assert work(flush="each", **options).flushes() == BLOCKS


@pytest.mark.parametrize(
    ("options", "flushes"),
    [({}, BLOCKS), (TOGETHER, BLOCKS // 16), ({**TOGETHER, "rw": "write:4k", "size": 2 * BLOCKS * BLOCK,
      "io_size": BLOCKS * BLOCK}, BLOCKS), ({"sync": 1}, BLOCKS)],
    ids=str,
)  # fmt: skip
def test_auto_flushes_each_run_that_adjoins(work, options: dict[str, Any], flushes: int) -> None:
    assert work(**options).flushes() == flushes


def test_auto_joins_by_chance_what_is_random(work) -> None:
    made = work(rw="randwrite", **TOGETHER)
    assert made.flushes() == sum(runs(batch) for batch in batches(made.writes(), 16))


@pytest.mark.parametrize("rw", mostly_long(["write", "randwrite", "write:4k"], "randwrite"))
def test_batch_flushes_a_batch_by_one_read(work, rw: str) -> None:
    options = {"size": 2 * BLOCKS * BLOCK, "io_size": BLOCKS * BLOCK} if rw == "write:4k" else {}
    assert work(flush="batch", rw=rw, **TOGETHER, **options).flushes() == BLOCKS // 16


@pytest.mark.parametrize("kind", mostly_long(["write", "randwrite"], "randwrite"))
def test_batch_asks_for_each_extent(work, kind: str) -> None:
    made = work(flush="batch", mode="gpspm", rw=kind, **TOGETHER)
    assert made.requests() == sum(extents(batch) for batch in batches(made.writes(), 16))
    assert made.flushes() == 0


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


@pytest.mark.parametrize(("options", "requests"), [({"flush": "each"}, BLOCKS), ({"flush": "none", "fsync": 4}, 0),
                                                   ({"flush": "fsync", "fsync": 4, "end_fsync": 1}, 16),
                                                   (TOGETHER, BLOCKS // 16)], ids=str)  # fmt: skip
def test_messages_are_counted_alike(work, options: dict[str, Any], requests: int) -> None:
    made = work(mode="gpspm", **options)
    assert made.requests() == requests
    assert made.flushes() == 0


@pytest.mark.parametrize("depth", mostly_long([1, 16], 16))
def test_immediate_data_needs_no_message(work, depth: int) -> None:
    made = work(mode="gpspm", write_op="imm", iodepth=depth)
    assert made.posted("write-imm", BLOCK) == BLOCKS
    assert made.requests() == made.posted("write") == 0


def test_immediate_data_is_flushed_by_reads_with_apm(work) -> None:
    made = work(write_op="imm", flush="each", iodepth=8)
    assert (made.posted("write-imm", BLOCK), made.flushes()) == (BLOCKS, BLOCKS)


def test_words_are_written_atomically(work) -> None:
    made = work(write_op="atomic", bs=8, size=8 * BLOCKS, flush="each")
    # where the headers have no atomic write it is an inline write of 8 bytes
    assert made.posted("atomic-write", 8) + made.posted("write", 8) == BLOCKS


def test_trims_are_flushed_as_writes_are(work) -> None:
    assert work(rw="trim", flush="each").flushes() == BLOCKS


def test_files_are_flushed_together(work) -> None:
    """One read is enough for all that was written before it."""
    assert work(flush="fsync", nrfiles=4, end_fsync=1, iodepth=8).flushes() in (1, 4)


def test_reads_are_not_flushed(anybody: Run, tmp_path: Path) -> None:
    name = str(tmp_path / "posted.%p")
    run_client(tmp_path, anybody.port, soft=f"trace:{name}", rw="read", flush="each", end_fsync=1, **WRITES)
    (trace,) = (trace for trace in read_traces(name) if trace.operations)
    assert [one.bytes for one in trace.operations if one.kind == "read"] == [BLOCK] * BLOCKS


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
