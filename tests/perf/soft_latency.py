#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""ib_write_lat and ib_write_bw on the software device against the bare call and UCX.

Usage: soft_latency.py VM_PINGPONG RPMA_SOFT [REPEATS]

Per size: one way of ib_write_lat, which polls memory for the last byte, the same with bare
process_vm_writev (vm_pingpong), and put_lat of ucx_perftest over each shared memory of UCX;
then the bandwidths. Medians of REPEATS (15) runs in turns, the sides pinned to cores 0 and 1.
Needs perftest and ucx-utils, exit status 77 without; 1 if ib_write_lat takes more than 1.5
times the bare call.
"""

import shutil
import statistics
import subprocess
import sys

from sides import SECONDS, last_line

SIZES = (8, 64, 512, 4096, 65536, 1 << 20)
TRANSPORTS = ("posix", "sysv", "posix,cma")
GOAL = 1.5


def count(size: int) -> str:
    """Enough for a run of some tens of milliseconds, so that its start does not matter."""
    return str(max(1000, min(100000, (1 << 30) // size)))


def perftest(soft: str, tool: str, size: int, column: int) -> float:
    command = [soft, tool, "-d", "soft0", "-F", "-s", str(size), "-n", count(size),
               "-p", ""]  # fmt: skip
    return float(last_line(command, len(command))[column])


def ucx(test: str, transports: str, size: int, column: int) -> float:
    command = ["ucx_perftest", "-t", test, "-s", str(size), "-n", count(size), "-w", "100", "-f",
               "-p", ""]  # fmt: skip
    return float(last_line(command, 1, UCX_TLS=transports)[column])


def bare(program: str, size: int) -> float:
    """Nanoseconds of one way with process_vm_writev."""
    run = subprocess.run([program, str(size), "2000"], check=True, text=True,
                         stdout=subprocess.PIPE, timeout=SECONDS)  # fmt: skip
    return float(run.stdout)


def once(program: str, soft: str, size: int) -> tuple[dict[str, float], dict[str, float]]:
    """Latencies in ns and bandwidths in MB/s, by who."""
    latency = {"bare": bare(program, size)}
    latency["soft"] = 1000 * perftest(soft, "ib_write_lat", size, 4)
    bandwidth = {"soft": perftest(soft, "ib_write_bw", size, 3)}
    for transports in TRANSPORTS:
        latency[transports] = 1000 * ucx("ucp_put_lat", transports, size, 1)
        bandwidth[transports] = ucx("ucp_put_bw", transports, size, 4)
    return latency, bandwidth


def show(size: int, unit: str, runs: list[dict[str, float]]) -> dict[str, float]:
    middle = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    print(f"{size:>8} B {unit:>4}  " +
          "  ".join(f"{name} {value:.0f} (x{middle['soft'] / value:.2f})"
                    for name, value in middle.items()), flush=True)  # fmt: skip
    return middle


def main() -> int:
    program, soft, *rest = sys.argv[1:]
    repeats = int(rest[0]) if rest else 15
    if not all(map(shutil.which, ("ib_write_lat", "ucx_perftest", "taskset"))):
        print("needs perftest, ucx-utils and util-linux")
        return 77
    print("x: soft divided by that")
    missed = False
    for size in SIZES:
        runs = [once(program, soft, size) for _ in range(repeats)]
        latency = show(size, "ns", [run[0] for run in runs])
        show(size, "MB/s", [run[1] for run in runs])
        missed |= latency["soft"] > GOAL * latency["bare"]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
