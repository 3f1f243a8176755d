# SPDX-License-Identifier: BSD-3-Clause
"""What the measurements of this folder share: two programs against each other under the software
device, a server on core 1 and a client on core 0, and medians with their intervals. In a guest of
scripts/vm the device is the kernel's, and `env` takes the place of RPMA_SOFT."""

import contextlib
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
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


@contextlib.contextmanager
def serving(*command: str) -> Iterator[str]:
    """The port of a server of this project."""
    with subprocess.Popen([*ON_SERVER, *command], stdout=subprocess.PIPE, text=True) as server:
        said = server.stdout.readline() if server.stdout else ""
        port = re.search(r"port (\d+)", said)
        if not port:
            sys.exit(f"{' '.join(command)}: {said}")
        try:
            yield port[1]
        finally:
            server.kill()


def bench(
    soft: str, program: str, target: str, *options: str, wrapper: list[str] | None = None
) -> tuple[dict, int]:
    """One repeat of rpma-bench: its result, and the most memory of the client in bytes."""
    with serving(soft, program, "server", "--listen", ADDRESS, "--port", "0", "--once", "--target", target) as port:
        client = [*ON_CLIENT, soft, *(wrapper or []), program, "client", ADDRESS, "--port",
                  port, "--repeats", "1", "--json", *options]  # fmt: skip
        with subprocess.Popen(client, stdout=subprocess.PIPE, text=True) as process:
            text = process.stdout.read() if process.stdout else ""
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(client)} failed")
    return json.loads(text), usage.ru_maxrss * 1024


def interval(values: list[float]) -> tuple[float, float]:
    """The 95 % interval of the median, by bootstrap."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values)))
                     for _ in range(RESAMPLES))  # fmt: skip
    return medians[RESAMPLES * 25 // 1000], medians[RESAMPLES * 975 // 1000]


def show(name: str, one: list[float], other: list[float], least: float = 0, most: float = math.inf) -> bool:
    """Both medians, that of the ratios and its interval. True: this is wholly beyond a limit."""
    ratios = [a / b for a, b in zip(one, other, strict=True)]
    low, high = interval(ratios)
    missed = high < least or low > most
    print(f"{name:<42}{statistics.median(one):>12.1f}{statistics.median(other):>12.1f}"
          f"{statistics.median(ratios):>8.3f}  {low:.3f} .. {high:.3f}"
          f"{'  MISSED' if missed else ''}", flush=True)  # fmt: skip
    return missed


def judge(name: str, pairs: list[tuple[float, float]], goal: float) -> bool:
    """The same of pairs, the second over the first. True: the median meets the goal."""
    ratios = [other / bare for bare, other in pairs]
    ratio, (low, high) = statistics.median(ratios), interval(ratios)
    bare, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{name:<30}{bare:>10.0f}{other:>10.0f}{ratio:>8.3f}  {f'{low:.3f} .. {high:.3f}':<16}"
          f"{goal:>6.2f}{'' if ratio <= goal else '  MISSED'}")  # fmt: skip
    return ratio <= goal


def ping(soft: str, program: str, *options: str, wrapper: list[str] | None = None) -> dict:
    """The result of one rpma-ping, which was good."""
    with serving(soft, program, "--server", "--listen", ADDRESS, "--port", "0") as port:
        client = [*ON_CLIENT, soft, *(wrapper or []), program, "--port", port, "--json", "-q",
                  *options, ADDRESS]  # fmt: skip
        done = subprocess.run(client, stdout=subprocess.PIPE, text=True, timeout=SECONDS)
    if done.returncode != 0:
        sys.exit(f"{' '.join(client)} failed")
    return json.loads(done.stdout)
