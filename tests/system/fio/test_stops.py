# SPDX-License-Identifier: BSD-3-Clause
"""A client is stopped, at 100 random moments of its work: no other client of the server waits more
than a second longer for it. RPMA_STOPS is how often, if not 100."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from fio_runs import KIB, client, run_client, server

STOPS = int(os.environ.get("RPMA_STOPS", "100"))
LONGER_S = 1.0
SMALL = {"rw": "write", "bs": 4 * KIB, "size": 64 * KIB}
ENDLESS = {"rw": "randrw", "bs": 4 * KIB, "size": 256 * KIB, "time_based": 1, "runtime": 36000}


@pytest.mark.parametrize("soft", ["", "transport:tcp"])
def test_a_stopped_client_holds_no_other_up(tmp_path: Path, soft: str) -> None:
    chance = random.Random(1)
    folders = [tmp_path / name for name in ("server", "busy", "small")]
    for folder in folders:
        folder.mkdir()

    def served() -> float:
        """Seconds that a client takes."""
        begun = time.monotonic()
        run_client(folders[2], it.port, soft, **SMALL)
        return time.monotonic() - begun

    with server(folders[0], soft, clients=STOPS + 10) as it, client(folders[1], it.port, soft, **ENDLESS) as busy:
        busy.errors.wait_for("librpma: .*(persisten|visib)")
        usual = max(served() for _ in range(5))
        longest = 0.0
        for _ in range(STOPS):
            time.sleep(chance.uniform(0, 0.02))  # the moment is what is chosen
            for pid in busy.left():
                os.kill(pid, signal.SIGSTOP)
            longest = max(longest, served())
            for pid in busy.left():
                os.kill(pid, signal.SIGCONT)
        print(f"\nfio, {soft or 'local'}: {usual:.2f} s, beside a stopped client at most {longest:.2f} s")
        assert longest <= usual + LONGER_S
        assert busy.left()
