#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The fio engine against fio's own rdma engine and against rpma-bench, on the software device.

Usage: fio_ratios.py RPMA_SOFT ENGINE_DIR RPMA_BENCH FIO_FLIGHT [PAIRS]

4 KiB writes that nothing flushes, depth 1 and 32, into as many blocks as the depth, which is all the
memory that the rdma engine writes to; beside rpma-bench into 4 MiB, as fio starts over at the end of
a file, at some cost. PAIRS (15) pairs of runs of a second, who is first in turns, the
sides on cores of their own. Per row the median of the ratios with its bootstrap 95 % interval:
I/Os per second against the rdma engine's client_write (not below 1.00), CPU per I/O of the client
(not above 1.00), the same with flush=batch and, at depth 32, with one completion at a time (told, not
judged: both engines hand over all that there are unless the job asks for fewer, which the rdma engine
does not heed), and I/Os per second against
rpma-bench: those of fio (told), and those of the engine without fio, which FIO_FLIGHT makes
(not below 0.90). What fio itself takes for an I/O, in nanoseconds, is between these two. Exit
status 1 if an interval is wholly on the wrong side; 77 if a program is missing.
"""

import contextlib
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

from bench_ratios import in_pairs
from sides import ADDRESS, ON_CLIENT, ON_SERVER, SECONDS, bench, free_port, interval, show

BLOCK = 4096
DEPTHS = (1, 32)
BESIDE_BENCH = 4 << 20
RUN_S = 1


class Figures(NamedTuple):
    per_s: float
    cpu_ns: float  # the client's, per I/O


@contextlib.contextmanager
def serving(command: list[str], pattern: str) -> Iterator[str]:
    """The server, from when it has said that clients may come: what it said."""
    process = subprocess.Popen([*ON_SERVER, *command], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, start_new_session=True)  # fmt: skip
    try:
        yield said_by(process, pattern)
    finally:
        os.killpg(process.pid, 9)
        process.wait()


def said_by(process: subprocess.Popen[str], pattern: str) -> str:
    said = ""
    for line in process.stdout or []:
        said += line
        if found := re.search(pattern, line):
            return found[0]
    sys.exit(f"{process.args!r}: {said}")


def run_client(command: list[str]) -> Figures:
    done = subprocess.run([*ON_CLIENT, *command], capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed: {done.stderr[-500:]}")
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    busy_ns = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] * 1e6
    return Figures(job["write"]["iops"], busy_ns / job["write"]["total_ios"])


def fio(soft: str, **options: object) -> list[str]:
    return [soft, "fio", *(f"--{key}={value}" for key, value in options.items())]


def pair(server: list[str], client: list[str], pattern: str) -> Figures:
    with serving(server, pattern) as said:
        port = re.search(r"port (\d+)", said)
        return run_client([*client, *([f"--port={port[1]}"] if port else [])])


def shape(depth: int, size: int) -> dict[str, object]:
    return {"bs": BLOCK, "size": size, "iodepth": depth}


def timed() -> dict[str, object]:
    return {"rw": "write", "time_based": 1, "runtime": RUN_S, "output-format": "json"}


def ours(soft: str, depth: int, flush: str, size: int, one_by_one: bool = False) -> Figures:
    engine = {"name": "job", "ioengine": "librpma", "serverip": ADDRESS}
    asked = {"iodepth_batch_complete_max": 1} if one_by_one else {}
    return pair(fio(soft, **engine, role="server", port=0, size=size),
                fio(soft, **engine, flush=flush, **asked, **shape(depth, size), **timed()),
                r"listening on \S+ port \d+")  # fmt: skip


def theirs(soft: str, depth: int) -> Figures:
    engine = {"name": "job", "ioengine": "rdma", "port": free_port()}
    size = BLOCK * depth
    return pair(fio(soft, **engine, rw="read", **shape(depth, size)),
                fio(soft, **engine, hostname=ADDRESS, verb="write", **shape(depth, size), **timed()),
                "waiting for connection")  # fmt: skip


def without_fio(soft: str, queue: str, depth: int) -> float:
    """I/Os per second of the engine in a loop that does nothing else."""
    engine = {"name": "job", "ioengine": "librpma", "serverip": ADDRESS}
    server = fio(soft, **engine, role="server", port=0, size=BESIDE_BENCH)
    with serving(server, r"listening on \S+ port \d+") as said:
        client = [*ON_CLIENT, soft, queue, ADDRESS, said.split()[-1], str(BESIDE_BENCH),
                  str(depth), str(RUN_S)]  # fmt: skip
        done = subprocess.run(client, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=True)
    return float(done.stdout)


def bench_rate(soft: str, program: str, depth: int) -> float:
    result, _ = bench(soft, program, f"dram:{BESIDE_BENCH}", "--size", str(BLOCK), "--op", "write",
                      "--test", "bw", "--depth", str(depth), "--duration", f"{RUN_S}s", "--warmup",
                      "200ms", "--quiet")  # fmt: skip
    return result["points"][0]["repeats"][0]["ops_per_s"]


def against_rdma(soft: str, depth: int, flush: str, pairs: int, one_by_one: bool = False) -> bool:
    left, right = in_pairs(lambda: ours(soft, depth, flush, BLOCK * depth, one_by_one), lambda: theirs(soft, depth), pairs)
    judged = flush == "none" and not one_by_one
    name = f"depth {depth}, flush={flush}{', one by one' if one_by_one else ''}"
    missed = show(f"{name}, 1/s, rdma", [one.per_s for one in left], [one.per_s for one in right],
                  least=1 if judged else 0)  # fmt: skip
    missed |= show(f"{name}, CPU ns, rdma", [one.cpu_ns for one in left],
                   [one.cpu_ns for one in right], most=1 if judged else math.inf)  # fmt: skip
    return missed


def against_bench(soft: str, program: str, queue: str, depth: int, pairs: int) -> bool:
    left, right = in_pairs(
        lambda: [ours(soft, depth, "none", BESIDE_BENCH).per_s, without_fio(soft, queue, depth)],
        lambda: [bench_rate(soft, program, depth)],
        pairs,
    )
    whole, bare = [one[0] for one in left], [one[1] for one in left]
    theirs_of_bench = [one[0] for one in right]
    show(f"depth {depth}, 1/s, rpma-bench", whole, theirs_of_bench)
    missed = show(f"depth {depth}, 1/s without fio, rpma-bench", bare, theirs_of_bench, least=0.9)
    own_ns = [1e9 / with_fio - 1e9 / without for with_fio, without in zip(whole, bare, strict=True)]
    low, high = interval(own_ns)
    print(f"depth {depth}, ns of fio itself {statistics.median(own_ns):.0f}  "
          f"{low:.0f} .. {high:.0f}", flush=True)  # fmt: skip
    return missed


def main() -> int:
    soft, engine, program, queue, *rest = sys.argv[1:]
    pairs = int(rest[0]) if rest else 15
    if not all(map(shutil.which, ("fio", "taskset"))):
        print("needs fio and util-linux")
        return 77
    os.environ["LD_LIBRARY_PATH"] = engine
    missed = False
    print(f"{'':<42}{'librpma':>12}{'other':>12}{'ratio':>8}  95 %")
    for depth in DEPTHS:
        for flush in ("none", "batch"):
            missed |= against_rdma(soft, depth, flush, pairs)
        if depth > 1:
            against_rdma(soft, depth, "none", pairs, one_by_one=True)
        missed |= against_bench(soft, program, queue, depth, pairs)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
