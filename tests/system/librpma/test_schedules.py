# SPDX-License-Identifier: BSD-3-Clause
"""librpma with any schedule that the specification allows: one second of all its operations for each seed.

rpma_calls writes, reads, flushes, appends and writes atomically in a random order, and writes over two
connections with one queue; interop has messages, immediate data, shared receive queues and shared channels.
"""

import os
import subprocess

from seeds import schedules
from serving import LIMIT_S, serving

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
CALLS = os.environ["RPMA_CALLS"]
INTEROP = os.environ["RPMA_INTEROP"]
ADDRESS = "127.0.0.1"


def run(seed: int, *command: str) -> None:
    done = subprocess.run([LAUNCHER, "--", *command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=LIMIT_S, env={**os.environ, "RPMA_SEEDS": f"{seed}-{seed}"})  # fmt: skip
    assert done.returncode == 0, f"seed {seed}, {command}: {done.stdout}{done.stderr}"


def run_pair(seed: int) -> None:
    with serving([LAUNCHER, "--", INTEROP, "server", ADDRESS, "dram"]) as server:
        run(seed, INTEROP, "client", ADDRESS, server.port)
        assert server.process.wait(LIMIT_S) == 0, f"seed {seed}: {server.said()}"


def test_all_operations() -> None:
    for seed in schedules("librpma", "1-20"):
        for method in ("auto", "read"):
            run(seed, CALLS, "random", ADDRESS, method)
        run(seed, CALLS, "queue", ADDRESS)
        run_pair(seed)
