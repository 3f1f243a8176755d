# SPDX-License-Identifier: BSD-3-Clause
"""librpma with any schedule that the specification allows: one second of all its operations for each seed.

rpma_calls writes, reads, flushes, appends and writes atomically in a random order, and writes over two
connections with one queue; interop has messages, immediate data, shared receive queues and shared channels.
"""

import os
import subprocess

from seeds import schedules

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
CALLS = os.environ["RPMA_CALLS"]
INTEROP = os.environ["RPMA_INTEROP"]
ADDRESS = "127.0.0.1"
LIMIT_S = 300


def run(seed: int, *command: str) -> None:
    done = subprocess.run([LAUNCHER, "--", *command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=LIMIT_S, env={**os.environ, "RPMA_SEEDS": f"{seed}-{seed}"})  # fmt: skip
    assert done.returncode == 0, f"seed {seed}, {command}: {done.stdout}{done.stderr}"


def run_pair(seed: int) -> None:
    with subprocess.Popen([LAUNCHER, "--", INTEROP, "server", ADDRESS, "dram"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:  # fmt: skip
        try:
            assert server.stdout is not None
            word, port = server.stdout.readline().split()
            assert word == "port"
            run(seed, INTEROP, "client", ADDRESS, port)
            _, errors = server.communicate(timeout=LIMIT_S)
        finally:
            server.kill()
    assert server.returncode == 0, f"seed {seed}: {errors}"


def test_all_operations() -> None:
    for seed in schedules("librpma", "1-20"):
        for method in ("auto", "read"):
            run(seed, CALLS, "random", ADDRESS, method)
        run(seed, CALLS, "queue", ADDRESS)
        run_pair(seed)
