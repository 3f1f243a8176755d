# SPDX-License-Identifier: BSD-3-Clause
"""Every command of Debian's own pmempool that a remote replica knows, with our librpmem."""

import errno
import fcntl
import re
import subprocess

import pytest
from stock import LAYOUTS, MIB, SOME_WAYS, WORDS, ledger, stock
ALL = [(way, layout) for way in SOME_WAYS for layout in LAYOUTS if way != "rdma-tcp" or layout == "one"]


@pytest.mark.parametrize("way, layout", ALL)
def test_create(way: str, layout: str) -> None:
    with stock(way, layout) as s:
        s.create()
        s.check_parts()
        sizes = [part.stat() for part in s.remote_parts]
        assert [size.st_size // MIB for size in sizes] == LAYOUTS[layout][1]
        assert all(size.st_mode & 0o777 == 0o600 for size in sizes)
        assert all(size.st_blocks * 512 >= size.st_size for size in sizes)  # nothing is missing later


@pytest.mark.parametrize("way, layout", ALL)
def test_info(way: str, layout: str) -> None:
    with stock(way, layout) as s:
        s.create()
        before = [part.read_bytes()[:4096] for part in s.remote_parts]
        said = s.pmempool("info", s.set)
        assert re.search(r"^Number of replicas +: 2$", said, re.MULTILINE), said
        assert re.search(r"^Replica 1 - remote:\nnode +: target\npool set +: remote0.set$", said, re.MULTILINE), said
        assert before == [part.read_bytes()[:4096] for part in s.remote_parts]


@pytest.mark.parametrize("way, layout", ALL)
def test_sync_of_the_local_replica(way: str, layout: str) -> None:
    with stock(way, layout) as s:
        s.create()
        s.work()
        count = s.check()
        assert s.restore() == count


@pytest.mark.parametrize("way, layout", ALL)
def test_sync_of_the_remote_replica(way: str, layout: str) -> None:
    with stock(way, layout) as s:
        s.create()
        s.work()
        count = s.check()
        s.lose_remote()
        s.sync()
        s.check_parts()
        assert s.check() == count
        assert s.restore() == count


@pytest.mark.parametrize("way", SOME_WAYS)
def test_sync_of_one_remote_part(way: str) -> None:
    """The others still have headers: sync removes them with --force before it creates the replica again."""
    with stock(way, "parts") as s:
        s.create()
        s.work()
        count = s.check()
        s.remote_parts[1].unlink()
        s.sync()
        s.check_parts()
        assert s.restore() == count


@pytest.mark.parametrize("way", SOME_WAYS)
def test_transform(way: str) -> None:
    """A replica that is dropped goes from the target; one that is added has all data."""
    with stock(way) as s:
        s.create()
        s.work()
        count = s.check()
        s.pmempool("transform", "-d", s.set, s.alone)
        assert s.remote_parts[0].exists()
        s.pmempool("transform", s.set, s.alone)
        assert not s.remote_parts[0].exists() and (s.target / s.remotes[0]).exists()
        s.good(ledger(), "work", s.alone, s.journal, 5, WORDS)
        s.pmempool("transform", s.alone, s.set)
        s.check_parts()
        assert s.check() == count + 5 * 16
        s.work(5)
        assert s.restore() == count + 10 * 16


@pytest.mark.parametrize("way", SOME_WAYS)
def test_two_remote_replicas(way: str) -> None:
    with stock(way, "one", remotes=2) as s:
        s.create()
        s.work()
        count = s.check()
        s.check_parts()
        for part in s.remote_parts:
            part.unlink()
            s.sync()
            s.check_parts()
            assert s.restore() == count
        s.work()
        assert s.restore() == 2 * count


@pytest.mark.parametrize("words, parts, remote, stays", [
    ([], False, False, True), (["-f"], False, False, True), (["-l"], False, False, True),
    (["-r"], False, False, False), (["-a"], False, False, False), (["-r", "-f"], False, False, False),
])  # fmt: skip
@pytest.mark.parametrize("way", SOME_WAYS)
def test_rm(way: str, words: list[str], parts: bool, remote: bool, stays: bool) -> None:
    with stock(way) as s:
        s.create()
        s.work(1)
        s.pmempool("rm", *words, s.set)
        assert s.parts[0].exists() == parts
        assert s.remote_parts[0].exists() == remote
        assert (s.target / s.remotes[0]).exists() == stays


@pytest.mark.parametrize("way", SOME_WAYS)
def test_a_pool_in_use(way: str) -> None:
    """Neither sync nor rm nor rpmemd by hand takes the remote replica from a program."""
    with stock(way) as s:
        s.create()
        s.write_set(s.local / "other.set", [f"32M {s.local}/other.part", f"REPLICA target {s.remotes[0]}"])
        with s.working() as process:
            for command in (["--remove", s.remotes[0]], ["--remove", s.remotes[0], "--force"]):
                by_hand = subprocess.run(["sh", "-c", s.daemon(*command)], env=s.environment(), capture_output=True,
                                         text=True)  # fmt: skip
                assert (by_hand.returncode, by_hand.stdout) == (errno.EBUSY, ""), by_hand.stderr
            assert "Device or resource busy" in s.pmempool_fails("rm", s.local / "other.set")
            s.pmempool("rm", "-f", s.local / "other.set")
            assert s.remote_parts[0].exists()
            assert s.kill(process, 0.1)
        s.restore()


def test_sync_while_the_remote_pool_is_in_use() -> None:
    """It does not open within a while, sync removes it, which is refused, and creates it, too."""
    with stock("sockets") as s:
        s.create()
        s.work()
        count = s.check()
        with open(s.remote_parts[0], "rb") as holder:
            fcntl.flock(holder, fcntl.LOCK_EX)
            assert "Device or resource busy" in s.pmempool_fails("sync", s.set)
        assert s.remote_parts[0].exists()
        assert s.check() == count
        assert s.restore() == count
