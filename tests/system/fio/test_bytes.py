# SPDX-License-Identifier: BSD-3-Clause
"""What is in the server's file afterwards, against where fio writes what by arithmetic.

The server's file is there before, filled with a byte that no client writes, so that what was
written, what was trimmed and what was left alone can be told apart.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from fio_runs import KIB, MODES, PATTERN, modes_but_mostly, mostly_long, patterned, run_client, server

BEFORE = b"\xa5"
REGION = 256 * KIB
BLOCK = 4 * KIB


class Target:
    """A file with its image as it is to be."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "region"
        self.image = bytearray(BEFORE * REGION)
        self.path.write_bytes(self.image)

    def blocks(self, begins: Iterable[int], size: int = BLOCK, base: int = 0) -> None:
        """Blocks at these offsets of a file that begins at the base."""
        for begin in begins:
            self.image[base + begin : base + begin + size] = patterned(begin, size)

    def zeros(self, begin: int, end: int) -> None:
        self.image[begin:end] = bytes(end - begin)

    def check(self) -> None:
        found = self.path.read_bytes()
        assert len(found) == len(self.image)
        wrong = [at for at in range(0, REGION, 8) if found[at : at + 8] != self.image[at : at + 8]]
        assert wrong == []


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target(tmp_path)


def write(target: Target, mode: str = "apm", serve: dict[str, Any] | None = None, **options: Any) -> None:
    """One client's work, and the server's end."""
    folder = target.path.parent
    placed = {"filename": target.path, "size": REGION, "direct_write_to_pmem": 1, **(serve or {})}
    with server(folder, **placed) as it:
        run_client(folder, it.port, **{"bs": BLOCK, "mode": mode, **PATTERN, "do_verify": 0, **options})
        assert it.end() == 0, it.said()
    assert [entry.name for entry in folder.iterdir()] == [target.path.name]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rw", mostly_long(["write", "randwrite"], "randwrite"))
def test_all_of_it(target: Target, rw: str, mode: str) -> None:
    write(target, mode, rw=rw, size=REGION, iodepth=16)
    target.blocks(range(0, REGION, BLOCK))
    target.check()


def test_words(target: Target) -> None:
    # fio 3.39 has no verify_pattern of blocks that are shorter than its header
    write(target, rw="write:8", bs=8, size=4 * KIB, io_size=2 * KIB, write_op="atomic", iodepth=4,
          verify=None, verify_pattern=None, do_verify=None, buffer_pattern='"rpmaword"')  # fmt: skip
    for begin in range(0, 4 * KIB, 16):
        target.image[begin : begin + 8] = b"rpmaword"
    target.check()


def test_a_server_has_the_part_it_was_told(target: Target) -> None:
    write(target, rw="write", serve={"offset": 64 * KIB, "size": 32 * KIB}, size=32 * KIB)
    target.blocks(range(0, 32 * KIB, BLOCK), base=64 * KIB)
    target.check()


@pytest.mark.parametrize("mode", modes_but_mostly(1))
@pytest.mark.parametrize("rw", mostly_long(["trim", "randtrim"], "randtrim"))
def test_what_is_trimmed_is_zero(target: Target, rw: str, mode: str) -> None:
    write(target, mode, rw=rw, size=128 * KIB, offset=32 * KIB, iodepth=8, verify=None, verify_pattern=None,
          do_verify=None)  # fmt: skip
    target.zeros(32 * KIB, 160 * KIB)
    target.check()


@pytest.mark.parametrize("rw", mostly_long(["trimwrite", "randtrimwrite"], "trimwrite"))
def test_what_is_trimmed_and_then_written_is_there(target: Target, rw: str) -> None:
    write(target, rw=rw, size=128 * KIB, verify=None, verify_pattern=None, do_verify=None, iodepth=4,
          buffer_pattern='"abcd"')  # fmt: skip
    target.image[: 128 * KIB] = b"abcd" * (32 * KIB)
    target.check()


def test_a_log_is_played_again(target: Target) -> None:
    folder, log = target.path.parent, target.path.parent / "log"
    with server(folder) as it:
        run_client(folder, it.port, rw="write:4k", bs=BLOCK, size=64 * KIB, io_size=32 * KIB, write_iolog=log)
    with server(folder, filename=target.path, size=REGION) as it:
        run_client(folder, it.port, read_iolog=log, size=64 * KIB, buffer_pattern='"abcd"')
        assert it.end() == 0, it.said()
    for begin in range(0, 64 * KIB, 2 * BLOCK):
        target.image[begin : begin + BLOCK] = b"abcd" * (BLOCK // 4)
    target.check()


def test_a_file_that_was_not_there_is_made_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "new"
    with server(tmp_path, filename=path, size=64 * KIB, direct_write_to_pmem=1) as it:
        assert path.stat().st_size == 64 * KIB
        run_client(tmp_path, it.port, rw="write", bs=BLOCK, size=64 * KIB, verify="crc32c")
        assert it.end() == 0, it.said()
    assert list(tmp_path.iterdir()) == []
