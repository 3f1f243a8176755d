#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A test with the schedules of some seeds of rpma-soft --adversary, one after the other.

Usage: seeds.py NAME SEEDS LAUNCHER COMMAND...

SEEDS is LAST or FIRST-LAST. ADVERSARY_SEEDS takes its place, so that many seeds can be run in shares. COMMAND
finds the seed of its run in ADVERSARY_SEED, and uses with-adversary as the launcher. ADVERSARY_TALLY names a
file that remembers the runs that passed, a line each: those of the same build of the device are not made again.
The exit status is that of the first run that fails.

A test in Python that is short runs itself with many seeds, schedules(); it finds rpma-soft in ADVERSARY_LAUNCHER.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Lock


def seeds(default: str) -> range:
    first, _, last = os.environ.get("ADVERSARY_SEEDS", default).rpartition("-")
    return range(int(first or "1"), int(last) + 1)


class Tally:
    """The runs that passed, with the device beside this launcher."""

    def __init__(self, launcher: str) -> None:
        device = Path(launcher).with_name("librpma-soft.so").read_bytes()
        self.build = hashlib.sha256(device).hexdigest()[:12]
        self.path = os.environ.get("ADVERSARY_TALLY", os.devnull)
        self.lock = Lock()
        known = Path(self.path)
        self.passed = set(known.read_text(encoding="utf-8").splitlines()) if known.exists() else set()

    def line(self, name: str, seed: int) -> str:
        return f"{self.build} {name} {seed}"

    def has(self, name: str, seed: int) -> bool:
        return self.line(name, seed) in self.passed

    def add(self, name: str, seed: int) -> None:
        with self.lock, open(self.path, "a", encoding="utf-8") as file:
            file.write(self.line(name, seed) + "\n")


def schedules(name: str, default: str) -> Iterator[int]:
    """The seeds that have not passed yet, each set for with-adversary. Asking for the next one records a pass of the last."""
    tally = Tally(os.environ["ADVERSARY_LAUNCHER"])
    for seed in seeds(default):
        if tally.has(name, seed):
            continue
        os.environ["ADVERSARY_SEED"] = str(seed)
        yield seed
        tally.add(name, seed)


def main() -> int:
    name, default, launcher, *command = sys.argv[1:]
    tally = Tally(launcher)
    for seed in seeds(default):
        if tally.has(name, seed):
            continue
        environment = {**os.environ, "ADVERSARY_LAUNCHER": launcher, "ADVERSARY_SEED": str(seed)}
        status = subprocess.run(command, env=environment).returncode
        if status != 0:
            print(f"{name}, seed {seed}: ended with {status}")
            return status
        tally.add(name, seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
