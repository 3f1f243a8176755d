#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which checkers report anything about the programs of the zoo: the table of doc/checking-rdma-programs.md.

    ZOO_PROGRAMS=BUILD-TREE/tests/check/zoo other_checkers.py LAUNCHER PAGE

prints the rows, and exits with 1 if a count of PAGE is off by more than NEAR: other compilers and releases
of valgrind differ a little. It builds all programs again for each sanitizer. A report is counted, not
whether it names the mistake: that flatters all but rpma-soft --check, whose findings test_zoo.py compares
with the mistake.
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from programs import HERE, Program, programs

LIMIT_S = 120
NEAR = 3
LIBRARIES = ["-lrdmacm", "-libverbs", "-lpthread"]
PARTS = ["zoo.c", "cm.c", "durable.c"]
FINDING = r"(?m)^== rpma-soft: [a-z-]+: "


@dataclass(frozen=True)
class Checker:
    name: str
    report: str  # a pattern of its output
    sanitizer: str = ""
    options: tuple[str, ...] = ()
    runner: tuple[str, ...] = ()


CHECKERS = [
    Checker("exit status, or what the program prints", ""),
    Checker("rpma-soft -v", r"(?m)^rpma-soft: .*( fails with |\(E[A-Z]+\)|dropped|lost)", options=("-v",)),
    Checker("AddressSanitizer", "ERROR: AddressSanitizer", sanitizer="address"),
    Checker("ThreadSanitizer", "WARNING: ThreadSanitizer", sanitizer="thread"),
    Checker("valgrind", r"(?m)^==\d+== \w", runner=("valgrind", "-q")),
    Checker("rpma-soft --check", FINDING, options=("--check",)),
    Checker("rpma-soft --check=watch", FINDING, options=("--check=watch",)),
]  # fmt: skip


def build(program: Program, sanitizer: str, folder: Path) -> Path:
    made = folder / f"{program.kind}-{program.name}"
    objects = [str(folder / part.replace(".c", ".o")) for part in PARTS]
    subprocess.run(["gcc", "-g", "-O0", "-D_GNU_SOURCE", f"-I{HERE}", f"-fsanitize={sanitizer}", str(program.source),
                    *objects, "-o", str(made), *LIBRARIES], check=True)  # fmt: skip
    return made


def build_all(checker: Checker, folder: Path, which: list[Program]) -> dict[Program, Path]:
    if not checker.sanitizer:
        return {program: program.binary for program in which}
    for part in PARTS:
        subprocess.run(["gcc", "-g", "-O0", "-D_GNU_SOURCE", f"-I{HERE}", f"-fsanitize={checker.sanitizer}", "-c",
                        str(HERE / part), "-o", str(folder / part.replace(".c", ".o"))], check=True)  # fmt: skip
    with ThreadPoolExecutor(max_workers=4) as pool:
        return dict(zip(which, pool.map(lambda one: build(one, checker.sanitizer, folder), which)))


def reports(checker: Checker, launcher: Path, binary: Path) -> bool:
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "atexit_sleep_ms=0"}
    try:
        done = subprocess.run([launcher, *checker.options, *checker.runner, binary], stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, errors="replace", timeout=LIMIT_S, env=environment)  # fmt: skip
    except subprocess.TimeoutExpired as late:  # many wait for ever; what was reported by then counts
        return re.search(checker.report, (late.stderr or b"").decode(errors="replace")) is not None
    if not checker.report:
        return done.returncode != 0
    return re.search(checker.report, done.stderr) is not None


def count(checker: Checker, launcher: Path) -> list[int]:
    """How many programs with a mistake, and how many right ones, it reports."""
    counts = []
    with tempfile.TemporaryDirectory() as folder:
        for which in (programs("faulty") + programs("public"), programs("right")):
            built = build_all(checker, Path(folder), which)
            with ThreadPoolExecutor(max_workers=8) as pool:
                counts.append(sum(pool.map(lambda one: reports(checker, launcher, one), built.values())))
    return counts


def counts_of(page: str, checker: Checker) -> list[int]:
    row = re.search(rf"(?m)^\| {re.escape(checker.name)} \| (\d+) \| (\d+) \|$", page)
    return [int(row[1]), int(row[2])] if row else []


def main() -> int:
    launcher, page = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).read_text(encoding="utf-8")
    off = []
    for checker in CHECKERS:
        counted, told = count(checker, launcher), counts_of(page, checker)
        print(f"| {checker.name} | {counted[0]} | {counted[1]} |", flush=True)
        if not told or any(abs(one - other) > NEAR for one, other in zip(counted, told)):
            off.append(checker.name)
    for name in off:
        print(f"the page has other counts of {name}")
    return 1 if off else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: ZOO_PROGRAMS=BUILD-TREE/tests/check/zoo other_checkers.py LAUNCHER PAGE")
    sys.exit(main())
