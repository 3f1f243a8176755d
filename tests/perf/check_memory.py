#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The memory of large programs with rpma-soft --check, and without.

Usage: check_memory.py RPMA_SOFT CROWDED LINKS_MANY

CROWDED has 1,000 queue pairs and 100,000 requests in them; LINKS_MANY makes 64 processes, of which each
writes to all others. The most memory of one process is compared. Exit status 1 if that is more than
TIMES times as much with checks, and MORE above that.
"""

import os
import subprocess
import sys

TIMES, MORE = 2, 64 << 20
PROCESSES = "64"


def most_bytes(command: list[str]) -> int:
    environment = {**os.environ, "RPMA_MANY": PROCESSES}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {process.returncode}")
    return usage.ru_maxrss * 1024


def main() -> int:
    soft, crowded, many = sys.argv[1:]
    missed = False
    for name, program in (("1,000 queue pairs", crowded), (f"{PROCESSES} processes", many)):
        bare, checked = (most_bytes([soft, *options, "--", program]) for options in ([], ["--check"]))
        is_more = checked > TIMES * bare + MORE
        missed = missed or is_more
        print(f"{name:<20}{bare / 1e6:>8.1f} MB, with checks {checked / 1e6:.1f} MB{'  MISSED' if is_more else ''}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
