#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of a read outside of the device: rpma-bench against ib_read_lat.

Usage: bench_instructions.py RPMA_SOFT RPMA_BENCH

Both run under callgrind, with FEW and with MANY operations: what these cost more, without
what the device's post_send and poll_cq did, is what a program does for an operation of its
own: the choice of the address, the stamps, the sample; of rpma-bench, which has no verbs, the
calls of librpma are told apart (instructions.py has them against bare verbs). Exit status 1 if
rpma-bench itself does more than ib_read_lat; 77 if a program is missing.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from sides import bench, last_line

FEW, MANY = 2000, 12000
SIZE = "8"
POST = "qp_post_send"
DEVICE = (POST, "cq_poll")
LIBRPMA = ("rpma_read", "rpma_cq_get_wc")
# once a time span and at the end, however many operations there were: the table of samples by
# their ticks, which hardly repeat here, where an operation takes 50 times its time; and the
# samples beyond that table, whose number depends on the load of this machine
CLOCKED = ("measure_time_check", "measure_time_finish", "measure_single_record")
LOOP = "measure_run"


def calls_of(path: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """By caller and callee: how many calls, and the instructions within them."""
    names: dict[str, str] = {}
    found: dict[tuple[str, str], tuple[int, int]] = {}
    caller = callee = ""
    count = 0
    for line in path.read_text().splitlines():
        if count:
            calls, cost = found.get((caller, callee), (0, 0))
            found[caller, callee] = (calls + count, cost + int(line.split()[-1]))
            count = 0
        elif match := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?", line):
            name = names.setdefault(match[2], match[3] or "")
            caller, callee = (caller, name) if match[1] else (name, callee)
        elif match := re.match(r"calls=(\d+)", line):
            count = int(match[1])
    return found


def part(
    found: dict[tuple[str, str], tuple[int, int]], loop: str, functions: tuple[str, ...]
) -> int:
    """The instructions of these functions in what the loop calls, however deep."""
    within, reached, total = {loop}, {loop}, 0
    while reached:
        callees = set()
        for (caller, callee), (_, cost) in found.items():
            if caller not in reached:
                continue
            if callee in functions:
                total += cost
            else:
                callees.add(callee)
        reached = callees - within
        within |= reached
    return total


def inclusive(found: dict[tuple[str, str], tuple[int, int]], function: str) -> int:
    return sum(cost for (_, callee), (_, cost) in found.items() if callee == function)


def outside_bench(path: Path) -> tuple[int, int]:
    """All of a measurement, the recording of its samples included: but for librpma, and what
    librpma adds to the device."""
    found = calls_of(path)
    calls = part(found, LOOP, LIBRPMA)
    if not calls:
        sys.exit(f"{path}: no {LOOP}() with calls of librpma: is rpma-bench stripped?")
    own = inclusive(found, LOOP) - calls - part(found, LOOP, CLOCKED)
    return own, calls - part(found, LOOP, DEVICE)


def outside_perftest(path: Path) -> int:
    """The loop, which is who posts most as perftest has no symbols, but for the device and
    for what it calls once: to sort and print."""
    found = calls_of(path)
    posts = {caller: calls for (caller, callee), (calls, _) in found.items() if callee == POST}
    if not posts:
        sys.exit(f"{path}: no call of {POST}: is the device stripped?")
    loop = max(posts, key=lambda caller: posts[caller])
    once = sum(cost for (caller, _), (calls, cost) in found.items()
               if caller == loop and calls == 1)  # fmt: skip
    return inclusive(found, loop) - once - part(found, loop, DEVICE)


def callgrind(path: Path) -> list[str]:
    return ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={path}"]


def measure_bench(soft: str, program: str, ops: int, path: Path) -> tuple[int, int]:
    result, _ = bench(soft, program, "dram:4K", "--test", "lat", "--op", "read", "--size", SIZE,
                      "--ops", str(ops), "--warmup", "0s", wrapper=callgrind(path))  # fmt: skip
    assert result["points"][0]["repeats"][0]["ops"] == ops
    return outside_bench(path)


def measure_perftest(soft: str, ops: int, path: Path) -> int:
    command = [soft, "ib_read_lat", "-F", "-R", "-s", SIZE, "-n", str(ops), "-p", ""]
    last_line(command, len(command), callgrind(path))
    return outside_perftest(path)


def main() -> int:
    soft, program = sys.argv[1:]
    if not all(map(shutil.which, ("ib_read_lat", "valgrind", "taskset"))):
        print("needs perftest, valgrind and util-linux")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "callgrind.out"
        few, many = (measure_bench(soft, program, ops, path) for ops in (FEW, MANY))
        own, librpma = ((more - less) / (MANY - FEW) for less, more in zip(few, many, strict=True))
        less, more = (measure_perftest(soft, ops, path) for ops in (FEW, MANY))
    theirs = (more - less) / (MANY - FEW)
    print(f"instructions of a read outside of the device: rpma-bench {own:.1f} and librpma "
          f"{librpma:.1f}, ib_read_lat {theirs:.1f}{'  MISSED' if own > theirs else ''}")  # fmt: skip
    return 1 if own > theirs else 0


if __name__ == "__main__":
    sys.exit(main())
