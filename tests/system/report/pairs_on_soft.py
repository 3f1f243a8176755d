# SPDX-License-Identifier: BSD-3-Clause
"""Two plans of one write on the software device, which differ by the delay that it adds."""

import json
import os
import subprocess
from pathlib import Path

import pytest

REPORT, BENCH, SOFT = (os.environ[name] for name in ("RPMA_REPORT", "RPMA_BENCH", "RPMA_SOFT_LAUNCHER"))
UNDETERMINED = 3


def plans(folder: Path, delay_a: str, delay_b: str) -> None:
    # bound to one CPU the measuring thread meets the fault's own thread at a lock: two modes
    options = {"size": 64, "duration": "100ms", "warmup": "50ms", "pin": "none"}
    series = {"name": "write", "tool": "rpma-bench", "repeats": 3, "options": options}
    for name, delay in (("a", delay_a), ("b", delay_b)):
        programs = {"rpma-bench": [SOFT, "-f", f"delay:time={delay}", BENCH]}
        plan = {"schema": "rpma-report-study/1", "name": name, "programs": programs, "series": [series]}
        (folder / f"{name}.json").write_text(json.dumps(plan))


def study(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    line = [REPORT, "study", "--ab", "a.json", "b.json", *options]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=1200)
    assert done.returncode in (0, 1, UNDETERMINED), done.stderr
    return done


def without_cores(done: subprocess.CompletedProcess[str]) -> str | None:
    """Its reason, where other programs took the cores."""
    if done.returncode != UNDETERMINED:
        return None
    found = [line for line in (*done.stderr.splitlines(), *done.stdout.splitlines())
             if "refused: " in line or "unclear: other programs took the cores" in line]  # fmt: skip
    return found[0] if found else None


def skip_without_cores(done: subprocess.CompletedProcess[str]) -> None:
    if reason := without_cores(done):
        print(reason)
        pytest.skip("refused, with the reason")
