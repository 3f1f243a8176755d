# SPDX-License-Identifier: BSD-3-Clause
"""The steps that have passed for a state of the sources: build/steps/NAME.json.

The state is a hash over the files that a step depends on, over its row in steps.py and over
what compiles it, so that --all goes on where it was stopped and runs again what a change
concerns. A tree without version control has no state: there every step runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path

from steps import Step
from trees import ROOT, TREES

FOLDER = ROOT / "build/steps"
# Files that no compiled program and none of its tests read.
NOT_CODE = ("*.md", "LICENSE", ".ci/*", ".github/*", ".gitignore", "completion/*", "report/*",
            "scripts/lint", "scripts/package", "scripts/quickstart", "scripts/test",
            "scripts/lib/check_*", "scripts/lib/*.txt", "scripts/lib/suite/*", "tests/perf/*",
            "tests/system/completion/*", "tests/system/guides/*", "tests/system/quickstart/*",
            "tests/system/report/*", "tests/system/scripts/*", "tests/system/transcript/*")
# Files that make the guests, and the tests that run in them alone.
OF_GUESTS = ("scripts/vm", "tests/vm/*.list", "tests/vm/boot_and_test", "tests/vm/in_guest",
             "tests/vm/judge_results", "tests/vm/peer", "tests/system/fio/in-guest-fio",
             "tests/system/ping/in-guest-ping-*.sh", "tests/system/ping/peer-that-breaks",
             "tests/system/rpmem/in-guest-rpmem", "tests/system/ddio-check/in-guest-*")
NOT_IN_GUESTS = ("tests/unit/*", "tests/fuzz/*")


@dataclass(frozen=True)
class Record:
    state: str
    status: str  # passed, failed or stopped
    seconds: int
    tests: int
    commit: str
    when: str


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def commit() -> str:
    """The commit, with a + where files differ from it."""
    name = _output("git", "rev-parse", "--short", "HEAD").strip()
    return name + ("+" if name and _output("git", "status", "--porcelain").strip() else "")


class States:
    """The states of all steps, from one look at the files."""

    def __init__(self) -> None:
        names = _output("git", "ls-files", "-co", "--exclude-standard", "-z").split("\0")
        self._files = {name: self._digest(ROOT / name) for name in sorted(set(names)) if name}
        self._machine = "\n".join(_output(*command) for command in (
            ("cat", "/etc/os-release"), ("uname", "-m"),
            *((compiler, "--version") for compiler in sorted({t.compiler for t in TREES.values()}))))

    @staticmethod
    def _digest(path: Path) -> str:
        if path.is_symlink():
            return os.readlink(path)
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""

    def of(self, step: Step) -> str:
        if not self._files:
            return ""
        text = [repr(step), self._machine, f"CI={os.environ.get('CI') == 'true'}"]
        left_out: tuple[str, ...] = ()
        if step.of_code:
            left_out = NOT_CODE + (NOT_IN_GUESTS if step.lane == "guest" else OF_GUESTS)
        text += [f"{name} {digest}" for name, digest in self._files.items()
                 if not any(fnmatch(name, pattern) for pattern in left_out)]
        return hashlib.sha256("\n".join(text).encode()).hexdigest()


def read(name: str) -> Record | None:
    try:
        return Record(**json.loads((FOLDER / f"{name}.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def holds(step: Step, states: States) -> bool:
    """Has the step passed for the sources as they are?"""
    record = read(step.name)
    return record is not None and record.status == "passed" and record.state == states.of(step) != ""


def write(name: str, state: str, status: str, seconds: int, tests: int) -> None:
    when = time.strftime("%Y-%m-%d %H:%M")
    FOLDER.mkdir(parents=True, exist_ok=True)
    unfinished = FOLDER / f".{name}.json"
    unfinished.write_text(json.dumps(asdict(Record(state, status, seconds, tests, commit(), when))))
    unfinished.rename(FOLDER / f"{name}.json")
