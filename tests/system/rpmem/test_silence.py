# SPDX-License-Identifier: BSD-3-Clause
"""A silent target: its daemon and its ssh server are stopped, as if the host had died. Calls end when ssh
gives up."""

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from accepting import Setting, setting
from test_kills import SET, client, daemons, leftovers, works

LIMIT_S = 45  # librpmem(7) promises 40 s


@pytest.fixture(scope="module")
def here() -> Iterator[Setting]:
    with setting("sshd") as one:
        (one.pools / SET).write_text(f"PMEMPOOLSET\n2M {one.pools}/part\n")
        yield one


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def session_of(daemon: int) -> list[int]:
    """It and its ancestors, without the ssh server that listens."""
    found = [daemon]
    while name(above := parent(found[-1])) != "sshd" or name(parent(above)) == "sshd":
        found.append(above)
    return found


def test_a_silent_target_is_a_lost_connection(here: Setting) -> None:
    one = client(here, "create")
    stopped: list[int] = []
    try:
        assert one.stdout is not None
        assert [one.stdout.readline() for _ in range(2)] == ["begun\n", "persisted\n"]
        (daemon,) = daemons(here)
        stopped = session_of(daemon)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        output, _ = one.communicate(timeout=LIMIT_S)
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        one.kill()
        one.wait()
    last = output.splitlines()[-1]
    # its LogLevel hides ssh's words; and a lane that was to connect meanwhile has its own limit
    assert re.match(r"lost \w+ (ECONNRESET: .*ended with exit status 255|ETIMEDOUT: )", last), output
    assert one.returncode == 0, output
    end = time.monotonic() + LIMIT_S
    while leftovers(here) and time.monotonic() < end:
        time.sleep(0.01)
    assert works(here) == "done"
