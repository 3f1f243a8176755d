#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions per call: ours, Debian's librpma 1.2.0, and bare verbs.

Usage: instructions.py PROGRAM ON_REFERENCE

PROGRAM makes each call 1000 times between two marks of callgrind; ON_REFERENCE
runs a command with Debian's librpma.so.0. Counts are exact, so they are
compared to the instruction. The loop posts 64 writes of 64 bytes, signals every 32nd and
fetches those completions; ours with RPMA_F_MORE, so in lists of 32. Exit status 1 if a call of
ours costs more than Debian's, rpma_write more than 40 above bare ibv_post_send, or a write
of the loop more than half of Debian's; 77 if the reference cannot be had.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

REPEAT = 1000
WRITE_ALLOWANCE = 40
BARE = "bare ibv_post_send"
DEPTH = 64
LOOP, LOOP_MORE = "64 writes", "64 writes, RPMA_F_MORE"
LOOP_ALLOWANCE = 0.5
LIST, LIST_LENGTH = "list of 16", 16


def count(program: str, *prefix: str, arguments: tuple[str, ...] = ()) -> dict[str, float]:
    """Instructions per call, by name, without those of the loop around it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*prefix, "valgrind", "-q", "--tool=callgrind", "--collect-atstart=no",
                   f"--callgrind-out-file={folder}/out", program, *arguments]  # fmt: skip
        status = subprocess.run(command).returncode
        if status == 77:
            sys.exit(77)
        if status != 0:
            sys.exit(f"{program} failed under callgrind ({status})")
        dumps = [dump.read_text() for dump in Path(folder).iterdir()]
    totals = {}
    for dump in dumps:
        name = re.search(r"^desc: Trigger: Client Request: (.*)$", dump, re.MULTILINE)
        total = re.search(r"^(?:summary|totals): (\d+)$", dump, re.MULTILINE)
        if name and total:
            totals[name[1]] = int(total[1])
    return {call: (total - totals["nothing"]) / REPEAT for call, total in totals.items()}


def main() -> int:
    program, on_reference = sys.argv[1:]
    ours = count(program)
    theirs = count(program, on_reference)
    failed = []
    print(f"{'instructions per call':<24}{'ours':>8}{'1.2.0':>8}{'ratio':>8}")
    for call in sorted(call for call in ours if call.startswith("rpma_")):
        print(f"{call:<24}{ours[call]:>8.1f}{theirs[call]:>8.1f}{ours[call] / theirs[call]:>8.2f}")
        if ours[call] > theirs[call]:
            failed.append(f"{call} costs more than in 1.2.0")
    above = ours["rpma_write"] - ours[BARE]
    print(f"{BARE:<24}{ours[BARE]:>8.1f}  rpma_write is {above:.1f} above")
    if above > WRITE_ALLOWANCE:
        failed.append(f"rpma_write is more than {WRITE_ALLOWANCE} above {BARE}")
    for loop in (LOOP, LOOP_MORE):
        print(f"{loop:<24}{ours[loop] / DEPTH:>8.1f}{theirs[LOOP] / DEPTH:>8.1f}"
              f"{ours[loop] / theirs[LOOP]:>8.2f}  per write")  # fmt: skip
    print(f"{LIST:<24}{ours[LIST]:>8.1f}  with its completion, {ours[LIST] / LIST_LENGTH:.1f} per write")
    if ours[LOOP_MORE] > LOOP_ALLOWANCE * theirs[LOOP]:
        failed.append(f"a write with RPMA_F_MORE is more than {LOOP_ALLOWANCE} of 1.2.0's")
    for failure in failed:
        print(f"FAILED: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
