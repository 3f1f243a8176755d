# SPDX-License-Identifier: BSD-3-Clause
"""A client of rpmemd, or its daemon, is stopped at 100 random moments of its work: no other client of
the host waits more than a second longer for it, and it goes on when it is continued.

RPMA_STOPS is how often, if not 100.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest
from accepting import Setting, setting
from test_kills import daemons

STOPS = int(os.environ.get("RPMA_STOPS", "100"))
LIMIT_S = 300
LONGER_S = 1.0


@pytest.fixture(scope="module")
def here() -> Iterator[Setting]:
    with setting(os.environ["RPMEM_SETTING"]) as one:
        for name in ("busy", "other"):
            (one.pools / f"{name}.set").write_text(f"PMEMPOOLSET\n2M {one.pools}/{name}\n")
        yield one


def start(here: Setting, name: str, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        here.command("--work", f"{name}.set", str(1 << 21), *words), env=here.env, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def ends_well(one: subprocess.Popen[str]) -> None:
    output, _ = one.communicate(timeout=LIMIT_S)  # and no more input
    assert one.returncode == 0 and output.splitlines()[-1] == "done", output


def served(here: Setting, *words: str) -> float:
    """Seconds that a client takes, from opening its pool to closing it."""
    begun = time.monotonic()
    ends_well(start(here, "other", *words))
    return time.monotonic() - begun


def send(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass  # a daemon has one pool, and this one has been closed


@pytest.mark.parametrize("stopped", ["client", "daemon"])
def test_one_that_is_stopped_holds_no_other_up(here: Setting, stopped: str) -> None:
    chance = random.Random(1)
    served(here, *(["create"] if not (here.pools / "other").exists() else []))
    busy = start(here, "busy", *(["create"] if not (here.pools / "busy").exists() else []))
    try:
        assert busy.stdout is not None
        assert [busy.stdout.readline() for _ in range(2)] == ["begun\n", "persisted\n"]
        usual = longest = 0.0
        for _ in range(STOPS):
            time.sleep(chance.uniform(0, 0.02))  # the moment is what is chosen
            pids = [busy.pid] if stopped == "client" else daemons(here)
            send(pids, signal.SIGSTOP)
            longest = max(longest, served(here))
            send(pids, signal.SIGCONT)
            usual = max(usual, served(here))
            assert busy.poll() is None
        print(f"\nrpmemd, {stopped}: {usual:.2f} s, beside a stopped one at most {longest:.2f} s")
        assert longest <= usual + LONGER_S
        ends_well(busy)
    finally:
        busy.kill()
        busy.wait()
