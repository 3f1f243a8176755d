#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table "Measured" of the guide Pipelining persistent writes.

Usage: guide_table.py BUILD [RUNS]

BUILD is the build tree. Runs examples 10 and 11 on the software device, and the same work by the
calls of 1.x over our librpma and Debian's 1.2.0, each RUNS times (40) with and without a delay of
5 us, and prints the best of each figure, in microseconds a record, as the table of the guide.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
DELAY = ["-f", "delay:time=5us"]


def own_address() -> str:
    """Debian's librpma cannot serve on a loopback address."""
    out = subprocess.run(["hostname", "-I"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return next((address for address in out if "." in address), "127.0.0.1")


def run_pair(build: Path, program: Path, faults: list[str], library: Path | None, *port: str) -> str:
    """What the client prints."""
    soft = str(build / "soft_device/rpma-soft")
    environment = os.environ | ({"LD_LIBRARY_PATH": str(library)} if library else {})
    address = own_address()
    server = subprocess.Popen([soft, "--", program, "server", address, *port], env=environment,
                              stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert server.stdout
    number = server.stdout.readline().split()[1]
    client = subprocess.run([soft, *faults, "--", program, "client", address, number], env=environment,
                            stdout=subprocess.PIPE, text=True, check=True)  # fmt: skip
    server.wait()
    return client.stdout


def best(runs: list[list[float]]) -> list[float]:
    return [min(column) for column in zip(*runs, strict=True)]


def figures(build: Path, faults: list[str], count: int) -> tuple[list[float], ...]:
    """The best of the examples, and of the calls of 1.x over ours and over Debian's."""
    reference = subprocess.run([TOP / "tests/fetch-reference", "bookworm"], stdout=subprocess.PIPE,
                               text=True, check=True)  # fmt: skip
    debian = next(Path(reference.stdout.strip()).glob("usr/lib/*/librpma.so.0")).parent
    old = build / "tests/perf/calls_of_1_x"
    examples, ours, theirs = [], [], []
    for _ in range(count):
        said = "".join(run_pair(build, build / "examples" / name, faults, None, "0")
                       for name in ("10-pipelined-writes", "11-append-log"))  # fmt: skip
        examples.append([float(us) for us in re.findall(r"([0-9.]+) us a record", said)])
        ours.append([float(us) for us in run_pair(build, old, faults, None).split()])
        theirs.append([float(us) for us in run_pair(build, old, faults, debian).split()])
    return best(examples), best(ours), best(theirs)


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    now, later = figures(build, [], count), figures(build, DELAY, count)
    rows = [("write and flush, one by one", 0, 0, 0), ("the same, pipelined in batches of 16", 0, 1, 0),
            ("append, one by one", 0, 2, 2), ("append, 32 under way", 0, 3, 2),
            ("append, 32 under way, 16 records each", 0, 4, 2)]  # fmt: skip
    for library, name in ((1, "calls of 1.x on this librpma"), (2, "calls of 1.x on librpma 1.2.0")):
        rows += [(f"{name}: write and flush, one by one", library, 0, 0),
                 ("the same, batches of 16 by hand", library, 1, 0),
                 ("append of four calls, one by one", library, 2, 2)]  # fmt: skip
    print("| | no delay | ratio | each operation delayed by 5 µs | ratio |\n|---|---|---|---|---|")
    for title, source, column, base in rows:
        cells = []
        for measured in (now, later):
            us, first = measured[source][column], measured[source][base]
            cells += [f"{us:.2f}", f"{first / us:.1f}" if column != base else ""]
        print(f"| {title} | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
