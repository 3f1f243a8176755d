#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every error that a manual of Debian's librpma lists must have been seen by a test.

Usage: manual_errors.py TEST_EXECUTABLE...

Reads the ERRORS sections of the reference's section 3 pages, runs the test
executables, and collects the (function, result) pairs that their expect()
saw. Prints the pairs that no test produced; exit status 1 if there are any,
77 if the reference cannot be had.
"""

import gzip
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

Pair = tuple[str, str]

FETCH_REFERENCE = Path(__file__).resolve().parents[2] / "fetch-reference"

# Listed, but nothing can produce them.
NEVER: dict[Pair, str] = {
    ("rpma_log_set_function", "RPMA_E_AGAIN"): "C11 atomics never ask for a retry",
    ("rpma_log_set_threshold", "RPMA_E_AGAIN"): "C11 atomics never ask for a retry",
    ("rpma_utils_get_ibv_context", "RPMA_E_NOMEM"): "ours allocates nothing there",
}


def listed_errors(page: Path) -> set[str]:
    source = gzip.decompress(page.read_bytes()).decode()
    section = re.search(r"^\.SH ERRORS$(.*?)(?=^\.SH |\Z)", source, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"\bRPMA_E_[A-Z_]+\b", section[1])) if section else set()


def listed_pairs(reference: Path) -> set[Pair]:
    pages = (reference / "usr/share/man/man3").glob("rpma_*.3.gz")
    return {(page.name.split(".")[0], error) for page in pages for error in listed_errors(page)}


def covered_pairs(executables: list[str]) -> set[Pair]:
    with tempfile.NamedTemporaryFile("r") as covered:
        environment = os.environ | {"RPMA_TEST_COVERED": covered.name}
        for executable in executables:
            subprocess.run([executable], env=environment, check=True, capture_output=True)
        lines = Path(covered.name).read_text().splitlines()
    return {(function, result) for function, _, result in (line.partition(" ") for line in lines)}


def main() -> int:
    fetched = subprocess.run([FETCH_REFERENCE, "bookworm"], stdout=subprocess.PIPE, text=True)
    if fetched.returncode != 0:
        print("no reference: Debian 12's librpma could not be fetched")
        return 77
    listed = listed_pairs(Path(fetched.stdout.strip()))
    if len(listed) < 100:
        print(f"only {len(listed)} errors found in the manuals: they are not read right")
        return 1
    covered = covered_pairs(sys.argv[1:])
    wrong = NEVER.keys() & covered
    missing = listed - covered - NEVER.keys()
    for function, error in sorted(missing):
        print(f"{function}(): no test produces {error}, which its manual lists")
    for function, error in sorted(wrong):
        print(f"{function}(): a test produces {error}, which was said never to come")
    print(f"{len(listed)} errors listed, {len(listed & covered)} produced, {len(NEVER)} impossible")
    return 1 if missing or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
