# SPDX-License-Identifier: BSD-3-Clause
"""The programs of the zoo: what their first lines promise, and what became of a run.

/* EXPECT: ID [+ ID] [, ID]; at FUNCTION; OBJECT */  what a checker has to say: each ID that stands
    before the first comma (`|` between two: either), at FUNCTION and one of the lines marked HERE,
    about OBJECT. Those behind it may be said as well, and nothing else.
/* SHOWS: TEXT|TEXT */  what a user sees without a checker; `nothing`: it ends with 0.
"""

from __future__ import annotations

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAUNCHER = os.environ.get("RPMA_SOFT_LAUNCHER", "rpma-soft")
BUILT = Path(os.environ.get("ZOO_PROGRAMS", "."))
LIMIT_S = 600  # for what never ends
EXPECT = re.compile(r"/\* EXPECT: ([^;]+); at (\w+); (.+?) \*/")
SHOWS = re.compile(r"/\* SHOWS: (.+?) \*/")
FINDING = re.compile(r"^== rpma-soft: ([a-z-]+): ")
SUMMARY = re.compile(r"(?m)^== rpma-soft: (\d+) errors?, (\d+) warnings?, \d+ suppressed, (\d+) requests? seen")
WARNINGS = {"bad-wr-ignored", "commit-word-plain", "cq-never-polled", "growth", "lost-wakeup", "memory-protected",
            "post-after-error", "rq-full", "status-unread", "wait-for-nothing"}  # fmt: skip


@dataclass(frozen=True)
class Program:
    kind: str
    name: str

    @property
    def source(self) -> Path:
        return HERE / self.kind / f"{self.name}.c"

    @property
    def binary(self) -> Path:
        return BUILT / self.kind / self.name

    def text(self) -> str:
        return self.source.read_text(encoding="utf-8")

    def lines(self) -> list[int]:
        """Where the fault is."""
        return [number for number, line in enumerate(self.text().splitlines(), 1) if "/* HERE" in line]

    def expected(self) -> Expected:
        found = EXPECT.search(self.text())
        assert found is not None, f"{self.source}: no line EXPECT"
        required, *allowed = found[1].split(",")
        needed = [{word.strip() for word in either.split("|")} for either in required.split("+")]
        return Expected(needed, set().union(*needed) | {word.strip() for word in allowed}, found[2], found[3])

    def shows(self) -> str:
        found = SHOWS.search(self.text())
        assert found is not None, f"{self.source}: no line SHOWS"
        return found[1]


@dataclass(frozen=True)
class Expected:
    needed: list[set[str]]  # one of each set
    allowed: set[str]
    function: str
    about: str


@dataclass(frozen=True)
class Finding:
    identity: str
    text: str  # all of its lines

    def is_error(self) -> bool:
        return self.identity not in WARNINGS

    def names(self, word: str) -> bool:
        return re.search(rf"(?<![0-9a-zA-Z_]){re.escape(word)}(?![0-9a-zA-Z_])", self.text, re.IGNORECASE) is not None


@dataclass(frozen=True)
class Run:
    status: int
    out: str
    err: str

    def shown(self) -> str:
        end = "nothing" if self.status == 0 else f"killed by signal {-self.status}" if self.status < 0 else ""
        return self.out + self.err + end

    def named(self) -> list[str]:
        return re.findall(r"(?m)^names: (.*)$", self.out)

    def findings(self) -> list[Finding]:
        found: list[list[str]] = []
        for line in self.err.splitlines():
            if FINDING.match(line):
                found.append([line])
            elif found and line.startswith(" "):
                found[-1].append(line)
        return [Finding(re.split(": ", lines[0])[1], "\n".join(lines)) for lines in found]

    def summaries(self) -> list[tuple[int, int, int]]:
        """Errors, warnings and requests of each process."""
        return [(int(errors), int(warnings), int(seen)) for errors, warnings, seen in SUMMARY.findall(self.err)]


def programs(kind: str) -> list[Program]:
    return [Program(kind, path.stem) for path in sorted((HERE / kind).glob("*.c"))]


def run(program: Program, *options: str) -> Run:
    done = subprocess.run([LAUNCHER, *options, program.binary], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", timeout=LIMIT_S)  # fmt: skip
    return Run(done.returncode, done.stdout, done.stderr)


def run_all(all_of_them: list[Program], *options: str) -> dict[Program, Run]:
    """Most programs wait most of the time, some for seconds: several at once."""
    with ThreadPoolExecutor(max_workers=12) as pool:
        return dict(zip(all_of_them, pool.map(lambda program: run(program, *options), all_of_them)))
