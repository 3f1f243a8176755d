# SPDX-License-Identifier: BSD-3-Clause
"""What the measurements of this folder share: two programs against each other under the software
device, a server on core 1 and a client on core 0, and medians with their intervals. In a guest of
scripts/vm the device is the kernel's, and `env` takes the place of RPMA_SOFT."""

import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from free_port import free_port  # noqa: E402  the path is made above

SECONDS = 120
TRIES = 5
RESAMPLES = 2000
ADDRESS = os.environ.get("RPMA_VM_ADDR", "127.0.0.1")
ON_CLIENT = ["taskset", "-c", "0"]
ON_SERVER = ["taskset", "-c", "1"]


def last_line(
    command: list[str], place: int, wrapper: list[str] | None = None, **environment: str
) -> list[str]:
    """Runs COMMAND as server and, with the address at PLACE, as client: its last figures.

    The client runs within WRAPPER. Perftest gives up where it cannot calibrate its clock,
    so there are some tries, each at a port of its own.
    """
    settings = os.environ | environment
    for _ in range(TRIES):
        command = [*command[:-1], str(free_port())]
        client = [*ON_CLIENT, *command[:place], ADDRESS, *command[place:]]
        client[len(ON_CLIENT) + 1 : len(ON_CLIENT) + 1] = wrapper or []
        with subprocess.Popen([*ON_SERVER, *command], env=settings,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as server:  # fmt: skip
            while server.poll() is None:
                run = subprocess.run(client, env=settings, text=True, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, timeout=SECONDS)  # fmt: skip
                figures = re.findall(r"^\s*\d+\s.*[\d.]+\s*$", run.stdout, re.MULTILINE)
                if run.returncode == 0 and figures:
                    break
                time.sleep(0.05)
            server.kill()
        if run.returncode == 0 and figures:
            return figures[-1].split()
    sys.exit(f"{' '.join(client)} failed: {run.stdout[-500:]}")


def bench(
    soft: str, program: str, target: str, *options: str, wrapper: list[str] | None = None
) -> tuple[dict, int]:
    """One repeat of rpma-bench: its result, and the most memory of the client in bytes."""
    serve = [*ON_SERVER, soft, program, "server", "--listen", ADDRESS, "--port", "0", "--once",
             "--target", target]  # fmt: skip
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
        said = server.stdout.readline() if server.stdout else ""
        port = re.search(r"port (\d+)", said)
        if not port:
            sys.exit(f"{' '.join(serve)}: {said}")
        client = [*ON_CLIENT, soft, *(wrapper or []), program, "client", ADDRESS, "--port",
                  port[1], "--repeats", "1", "--json", *options]  # fmt: skip
        with subprocess.Popen(client, stdout=subprocess.PIPE, text=True) as process:
            text = process.stdout.read() if process.stdout else ""
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        server.kill()
    if process.returncode != 0:
        sys.exit(f"{' '.join(client)} failed")
    return json.loads(text), usage.ru_maxrss * 1024


def interval(values: list[float]) -> tuple[float, float]:
    """The 95 % interval of the median, by bootstrap."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values)))
                     for _ in range(RESAMPLES))  # fmt: skip
    return medians[RESAMPLES * 25 // 1000], medians[RESAMPLES * 975 // 1000]


def ping(soft: str, program: str, *options: str, wrapper: list[str] | None = None) -> dict:
    """The result of one rpma-ping, which was good."""
    serve = [*ON_SERVER, soft, program, "--server", "--listen", ADDRESS, "--port", "0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
        said = server.stdout.readline() if server.stdout else ""
        port = re.search(r"port (\d+)", said)
        if not port:
            sys.exit(f"{' '.join(serve)}: {said}")
        client = [*ON_CLIENT, soft, *(wrapper or []), program, "--port", port[1], "--json", "-q",
                  *options, ADDRESS]  # fmt: skip
        done = subprocess.run(client, stdout=subprocess.PIPE, text=True, timeout=SECONDS)
        server.kill()
    if done.returncode != 0:
        sys.exit(f"{' '.join(client)} failed")
    return json.loads(done.stdout)
