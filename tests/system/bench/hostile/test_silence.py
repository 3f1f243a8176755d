# SPDX-License-Identifier: BSD-3-Clause
"""A client of rpma-bench that stands still is taken for dead by the server, in bounded time.

SIGSTOP makes it so: its connections stay, and its device receives as long as there are buffers.
The server sends ALIVE every 10 s to a client that sends nothing; once a message is not received
for 5 s it gives up. A server that stands still: test_stopped_server.py, and bench.loop_end.
"""

import os
import signal
import subprocess

from serving import serving

LAUNCHER, BENCH, HOSTILE = (os.environ[name] for name in ("RPMA_SOFT_LAUNCHER", "RPMA_BENCH", "BENCH_HOSTILE"))


def test_a_silent_client_is_taken_for_dead() -> None:
    with serving([LAUNCHER, "--", BENCH, "server", "--once", "--port", "0"]) as server, subprocess.Popen(
        [LAUNCHER, "--", HOSTILE, "127.0.0.1", server.port, "hold"], stdout=subprocess.PIPE, text=True
    ) as client:
        try:
            assert client.stdout and client.stdout.readline() == "held\n"
            client.send_signal(signal.SIGSTOP)
            server.reports("client 127.0.0.1: no acknowledgement within 5 s (0 repeats")
        finally:
            client.kill()
