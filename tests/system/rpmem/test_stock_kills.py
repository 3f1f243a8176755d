# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of Debian's own PMDK programs at random moments: what the remote replica then has."""

import os
import signal
import subprocess
import time
from contextlib import suppress

import pytest
from stock import ENDLESS, SOME_WAYS, WORDS, Stock, ledger, pmdk, stock

KILLS = int(os.environ.get("KILLS", "4"))  # how often the writer is killed
FEWER = min(KILLS, 20)  # how often other programs are
OPENING = 4  # every fourth kill while the pool opens


def kill_writer(s: Stock, opening: bool) -> None:
    if opening:
        assert s.kill(s.start(ledger(), "work", s.set, s.journal, ENDLESS, WORDS), s.random.uniform(0, 0.3))
        return
    with s.working() as process:
        assert s.kill(process, s.random.uniform(0, 0.6))


@pytest.mark.parametrize("way", SOME_WAYS)
def test_writer(way: str) -> None:
    """Every other time the local replica is lost before anything recovered it."""
    with stock(way) as s:
        s.create()
        counts = [0]
        for n in range(KILLS):
            kill_writer(s, n % OPENING == OPENING - 1)
            if n % 2 == 0:
                s.check()
            counts.append(s.restore())
        assert counts == sorted(counts)
        print(f"{way}: {KILLS} kills, {counts[-1]} transactions")


def kill_sync(s: Stock, most_s: float) -> bool:
    """A part that sync restores has no permissions until it is whole; its header comes first."""
    killed = s.kill(s.start(pmdk() / "bin/pmempool", "sync", s.set), s.random.uniform(0, most_s))
    for part in s.parts:
        if part.exists() and part.stat().st_mode & 0o777 == 0:
            part.unlink()
    return killed


def duration_s(s: Stock) -> float:
    begin = time.monotonic()
    s.sync()
    return time.monotonic() - begin


@pytest.mark.parametrize("way", SOME_WAYS)
def test_sync_of_the_remote_replica(way: str) -> None:
    """What is half filled is not taken for a replica."""
    with stock(way) as s:
        s.create()
        s.work()
        count = s.check()
        s.lose_remote()
        most_s, kills = duration_s(s), 0
        for _ in range(FEWER):
            s.lose_remote()
            kills += kill_sync(s, most_s)
            s.sync()
            assert s.check() == count
            assert s.restore() == count
        print(f"{way}: {kills} kills of {FEWER}")


@pytest.mark.parametrize("way", SOME_WAYS)
def test_daemon(way: str) -> None:
    """The program dies, as it always did; the pool is whole, locally and remotely."""
    with stock(way) as s:
        s.create()
        for n in range(FEWER):
            with s.working() as process:
                with pytest.raises(subprocess.TimeoutExpired):
                    process.communicate(timeout=s.random.uniform(0, 0.3))
                for daemon in s.daemons():
                    with suppress(ProcessLookupError):  # its shell ends with it
                        os.kill(int(daemon.split(":")[0]), signal.SIGKILL)
                _, said = process.communicate(timeout=60)
            assert process.returncode in (-signal.SIGABRT, -signal.SIGSEGV), (process.returncode, said)
            assert "librpmem: pool set 'remote0.set' on target: " in said
            s.wait_for_daemons()
            if n % 2 == 0:
                s.check()
            s.restore()
