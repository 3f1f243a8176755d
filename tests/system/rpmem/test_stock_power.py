# SPDX-License-Identifier: BSD-3-Clause
"""Power failures of the target while a program over Debian's own libpmemobj works: whatever returned from TX_END, or
from a persist, is in the remote replica.

The software device ends rpmemd at an operation chosen at random and puts back half of the lines that RDMA has written
and nothing has made durable. A failure counts if lines were put back: without any, nothing could be missing.
"""

from __future__ import annotations

import os
import random
import re
import signal
from typing import NamedTuple

import pytest
from soft_trace import read_traces
from stock import ENDLESS, LIMIT_S, PAGE_WORDS, WAYS, Stock, ledger, stock

FAILURES = int(os.environ.get("FAILURES", "2"))  # that count, for each case
RUNS = 8  # at most, for one that counts
OPERATIONS = 4000  # 16 threads perform some transactions each in that many
# A write of RDMA is at risk until the operation behind it, which makes it durable, has come.
LATE = "delay:op=send+read,time=1us..1ms"
SOFT_WAYS = [way for way, (launched, _) in WAYS.items() if launched]
DEATHS = (-signal.SIGABRT, -signal.SIGSEGV)  # a program that has lost a replica always died so


class Platform(NamedTuple):
    environment: str  # that rpmemd gets
    options: str
    power: str
    method: str


PLATFORMS = {
    "libpmem": Platform("PMEM_IS_PMEM_FORCE=1", "", "domain=adr,ddio=on", "GPSPM"),
    "msync": Platform("PMEM_IS_PMEM_FORCE=0", "", "domain=adr,ddio=on", "GPSPM"),
    "apm": Platform("PMEM_IS_PMEM_FORCE=1", "--persist-apm", "domain=adr,ddio=off", "APM"),
}


def power_is_on(s: Stock, platform: Platform) -> None:
    s.prefix, s.options = platform.environment, platform.options


def operations_of_an_open(s: Stock) -> int:
    """That a client posts until its threads can begin."""
    pattern = f"{s.folder}/%p.trace"
    s.more["RPMA_SOFT"], before = f"trace:{pattern}", s.prefix
    s.prefix += " RPMA_SOFT="
    s.check()
    del s.more["RPMA_SOFT"]
    s.prefix = before
    (trace,) = read_traces(pattern)
    return len(trace.operations)


def begin(s: Stock, platform: Platform) -> int:
    power_is_on(s, platform)
    s.create()
    s.work(1)
    assert f"method {platform.method}:" in s.said()
    return operations_of_an_open(s)


def fail_power(s: Stock, platform: Platform, at: int, seed: int) -> int:
    """At this operation of the target. How many lines were put back."""
    soft = f"seed:{seed} transport:{WAYS[s.way][0][2]} powerfail:at={at},{platform.power}"
    s.prefix = f"{platform.environment} RPMA_SOFT='{soft}'"
    s.options = f"{platform.options} 2>{s.folder}/stderr"
    s.more["RPMA_SOFT"] = LATE
    with s.start(ledger(), "work", s.set, s.journal, ENDLESS, PAGE_WORDS) as process:
        try:
            out, error = process.communicate(timeout=LIMIT_S)
        finally:
            process.kill()
    s.wait_for_daemons()
    power_is_on(s, platform)
    del s.more["RPMA_SOFT"]
    error += (s.folder / "stderr").read_text()
    assert out == "works\n" and process.returncode in DEATHS, f"{process.returncode}: {out}{error}{s.said()}"
    failed = re.search(rf"power fails at operation {at} of .*: \d+ lines not durable, (\d+) rolled back\n", error)
    assert failed, error + s.said()
    return int(failed[1])


@pytest.mark.parametrize("way", SOFT_WAYS)
@pytest.mark.parametrize("name", PLATFORMS)
def test_what_returned_is_there(way: str, name: str) -> None:
    """Every other time the local replica is lost before it was opened again."""
    platform, chosen = PLATFORMS[name], random.Random(way + name)
    with stock(way) as s:
        first, runs, counts, lines = begin(s, platform), 0, 0, 0
        while counts < FAILURES:
            assert runs < FAILURES * RUNS
            runs += 1
            put_back = fail_power(s, platform, first + chosen.randrange(50, OPERATIONS), chosen.randrange(1 << 32))
            counts, lines = counts + (put_back > 0), lines + put_back
            if runs % 2 == 0:
                s.check()
            transactions = s.restore()
        print(f"{way}, {name}: {runs} power failures, {counts} with lines put back, {lines} lines in all, "
              f"{transactions} transactions")  # fmt: skip


def test_what_nothing_made_durable_is_missed() -> None:
    """The test above can fail."""
    with stock("rdma") as s:
        s.rpmemd, platform = os.environ["RPMEMD_NO_PERSIST"], PLATFORMS["libpmem"]
        first = begin(s, platform)
        assert fail_power(s, platform, first + OPERATIONS // 2, 1) > 0
        s.lose_local()
        s.sync()
        checked = s.run(ledger(), "check", s.set, s.journal)
        assert checked.returncode == 1 and checked.stderr.startswith("ledger: thread "), checked
