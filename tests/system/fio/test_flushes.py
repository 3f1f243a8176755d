# SPDX-License-Identifier: BSD-3-Clause
"""How many flushes the device was asked for, and of what, against fio's own log of what it did.

With apm a flush is a read of at most 8 bytes, with gpspm a message for each range, which the server
answers (common/rdma/gpspm.h); a client's last message is empty.
"""

from pathlib import Path
from typing import Any

import pytest
from fio_runs import KIB, Run, run_client, run_fio, server
from soft_trace import read_traces

BLOCK = 4 * KIB
BLOCKS = 64
WRITES: dict[str, Any] = {"bs": BLOCK, "size": BLOCKS * BLOCK}
FLUSH_BYTES = 8
GOODBYES = 1


class Work:
    """What one client posted; fio's own log of what it asked the engine for is the file `log`."""

    def __init__(self, folder: Path, port: str, **options: Any) -> None:
        name = str(folder / "posted.%p")
        self.done = run_client(folder, port, soft=f"trace:{name}", write_iolog=folder / "log", **{"rw": "write", **WRITES, **options})
        self.operations = [one for trace in read_traces(name) for one in trace.operations]

    def posted(self, kind: str, size: int | None = None) -> int:
        return sum(one.kind == kind and size in (None, one.bytes) for one in self.operations)

    def flushes(self) -> int:
        """By reads; nothing else reads in these tests."""
        assert all(one.bytes <= FLUSH_BYTES for one in self.operations if one.kind == "read")
        return self.posted("read")


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
