# SPDX-License-Identifier: BSD-3-Clause
"""What fio itself finds when it reads back what it wrote, for each way to make it durable."""

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fio_runs import KIB, MODES, PATTERN, Run, mostly_long, run_client, run_fio, server, with_mode, words

CRC: dict[str, Any] = {"verify": "crc32c", "size": "256k", "bs": "4k", "rw": "write"}
# what is asked of fio, and how many KiB it reads back and writes: by its manual
CASES: dict[str, tuple[dict[str, Any], int]] = {
    "sequential": (CRC, 256),
    "random": ({**CRC, "rw": "randwrite"}, 256),
    "md5": ({**CRC, "verify": "md5", "rw": "randwrite"}, 256),
    "pattern": ({**CRC, **PATTERN}, 256),
    "depth": ({**CRC, "rw": "randwrite", "iodepth": 32, "iodepth_batch": 8}, 256),
    "batches": ({**CRC, "rw": "randwrite", "iodepth": 32, "iodepth_batch": 32, "flush": "batch"}, 256),
    "each flushed": ({**CRC, "rw": "randwrite", "iodepth": 8, "flush": "each"}, 256),
    "never flushed": ({**CRC, "rw": "randwrite", "iodepth": 8, "flush": "none"}, 256),
    "fsync alone": ({**CRC, "rw": "randwrite", "iodepth": 8, "flush": "fsync", "fsync": 5}, 256),
    "strides": ({**CRC, "rw": "write:64k", "size": "1m", "io_size": "60k", "iodepth": 4}, 60),
    "block sizes": ({**CRC, "rw": "randwrite", "bs": None, "bsrange": "512-16k", "iodepth": 8}, 256),
    "four files": ({**CRC, "nrfiles": 4, "rw": "randwrite", "iodepth": 8}, 256),
    "an offset": ({**CRC, "offset": "96k", "size": "64k"}, 64),
    "placed jobs": ({**CRC, "size": "64k", "offset_increment": "128k", "numjobs": 4, "thread": 1}, 256),
    "threads": ({**CRC, "size": "64k", "numjobs": 4, "thread": 1, "iodepth": 4}, 256),
    "processes": ({**CRC, "size": "64k", "numjobs": 4, "iodepth": 4}, 256),
    "one at a time": ({**CRC, "sync": 1, "size": "64k"}, 64),
    "backlog": ({**CRC, "verify_backlog": 16, "iodepth": 8}, 256),
    "laps": ({**CRC, "size": "64k", "loops": 3}, 192),
    "immediate data": ({**CRC, "write_op": "imm", "rw": "randwrite", "iodepth": 16}, 256),
    "many numbers": ({**CRC, "write_op": "imm", "bs": 512, "size": "1m", "iodepth": 4}, 1024),
    "words": ({**PATTERN, "bs": 8, "size": "4k", "rw": "randwrite", "write_op": "atomic", "iodepth": 8}, 4),
    "no polling": ({**CRC, "rw": "randwrite", "iodepth": 8, "busy_wait_polling": 0}, 256),
    "barriers": ({**CRC, "rw": "randwrite", "iodepth": 8, "write_barrier": 4}, 256),
    "huge memory": ({**CRC, "mem": "mmap", "iodepth": 8, "bs": "16k"}, 256),
}
DAILY = ["sequential", "random", "pattern", "batches", "fsync alone", "strides", "block sizes", "four files",
         "threads", "processes", "immediate data", "words"]  # fmt: skip


@pytest.fixture(scope="module")
def anybody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """One server for all, whose memory has what those before left there."""
    with server(tmp_path_factory.mktemp("server"), clients=1000, size="2m") as it:
        yield it


def verifies_words(folder: Path) -> bool:
    """Newer versions of fio refuse blocks that are shorter than the header of a verified one."""
    options = words(name="words", ioengine="null", bs=8, size=8, rw="write", do_verify=0,
                    verify_state_save=0, **PATTERN)  # fmt: skip
    return run_fio(folder, *options)[0] == 0


def cells() -> list[Any]:
    """Each case in one mode, and all of them in all modes in the long run."""
    daily = {case: MODES[at % len(MODES)] for at, case in enumerate(DAILY)}
    return [with_mode(mode, case, is_long=daily.get(case) is not mode) for case in CASES for mode in MODES]


@pytest.mark.parametrize(("case", "mode"), cells())
def test_what_was_written_is_read(anybody: Run, tmp_path: Path, case: str, mode: str) -> None:
    options, kib = CASES[case]
    if case == "words" and not verifies_words(tmp_path):
        pytest.skip("this fio verifies no words")
    seed = zlib.crc32(f"{case} {mode}".encode())  # as no other client's: what is left does not match
    done = run_client(tmp_path, anybody.port, mode=mode, randseed=seed, **options)
    for direction in ("write", "read"):
        assert sum(job[direction]["io_bytes"] for job in done.jobs()) == kib * KIB, direction
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("files", [{"size": 1000003, "nrfiles": 3}, {"size": "900k", "nrfiles": 3, "filesize": "100k-300k"},
                                   {"size": "900k", "nrfiles": 3, "filesize": "0-300k"}])  # fmt: skip
def test_files_are_as_long_as_on_a_disk(tmp_path: Path, files: dict[str, Any]) -> None:
    """A server of the size that fio takes for a disk has room for all of them."""
    shape = {**CRC, "rw": "randwrite", "verify_state_save": 0, "output-format": "json", **files}
    code, out, errors = run_fio(tmp_path, *words(name="disk", ioengine="psync", directory=tmp_path, **shape))
    assert code == 0, errors
    with server(tmp_path, size=files["size"]) as one:
        done = run_client(tmp_path, one.port, **shape)
    for direction in ("write", "read"):
        assert done.job[direction]["io_bytes"] == json.loads(out)["jobs"][0][direction]["io_bytes"] > 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rw", mostly_long(["rw", "randrw"], "randrw"))
def test_a_mix_is_of_both(anybody: Run, tmp_path: Path, rw: str, mode: str) -> None:
    done = run_client(tmp_path, anybody.port, mode=mode, rw=rw, rwmixread=70, bs="4k", size="1m", iodepth=8)
    assert done.ios("read") + done.ios("write") == 256
    assert done.ios("write") > 0 < done.ios("read")


@pytest.mark.parametrize("rw", ["read", "randread"])
def test_reads_alone(anybody: Run, tmp_path: Path, rw: str) -> None:
    done = run_client(tmp_path, anybody.port, rw=rw, bs="4k", size="1m", iodepth=16)
    assert (done.ios("read"), done.ios("write")) == (256, 0)


def test_a_later_run_finds_what_an_earlier_one_wrote(anybody: Run, tmp_path: Path) -> None:
    options: dict[str, Any] = {**CRC, "rw": "randwrite", "randseed": 7}
    run_client(tmp_path, anybody.port, do_verify=0, **options)
    done = run_client(tmp_path, anybody.port, verify_only=1, **options)
    assert done.ios("read") == 64
    run_client(tmp_path, anybody.port, rw="write", bs="4k", size="4k")  # one block of 64
    done = run_client(tmp_path, anybody.port, code=1, verify_only=1, **options)
    assert "verify: bad" in done.said


@pytest.mark.parametrize("mode", MODES)
def test_a_byte_that_changes_on_its_way_is_found(anybody: Run, tmp_path: Path, mode: str) -> None:
    fault = "corrupt:op=write,at=30"
    done = run_client(tmp_path, anybody.port, soft=fault, code=1, mode=mode, **CRC)
    # the 30th write, counted from 1
    assert "crc32c: verify failed at file" in done.said and f"offset {29 * 4096}, length 4096" in done.said


def test_a_byte_that_changes_on_its_way_back_is_found(anybody: Run, tmp_path: Path) -> None:
    fault = "corrupt:op=read,at=30"
    done = run_client(tmp_path, anybody.port, soft=fault, code=1, flush="none", **CRC)
    assert f"offset {29 * 4096}, length 4096" in done.said
