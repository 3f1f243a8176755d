# SPDX-License-Identifier: BSD-3-Clause
"""Two plans of one write on the software device, which differ by the delay that it adds."""

import json
import math
import os
import subprocess
from pathlib import Path
from statistics import median, stdev
from typing import Any

import pytest

REPORT, BENCH, SOFT = (os.environ[name] for name in ("RPMA_REPORT", "RPMA_BENCH", "RPMA_SOFT_LAUNCHER"))
UNDETERMINED = 3
# How far the p50 of runs of one thing may lie apart, where 10 % is to be found in 8 pairs: as the standard
# deviation of the logarithm of a pair's ratio. It needs some 4 standard errors: log(1.1) * sqrt(8) / 4 = 0.067.
# A virtual machine that shares its physical cores with others may be far beyond, and cannot see why.
MAX_SPREAD = 0.06


def plans(folder: Path, delay_a: str, delay_b: str, repeats: int = 3) -> None:
    # bound to one CPU the measuring thread meets the fault's own thread at a lock: two modes
    options = {"size": 64, "duration": "60ms", "warmup": "20ms", "pin": "none"}
    series = {"name": "write", "tool": "rpma-bench", "repeats": repeats, "options": options}
    for name, delay in (("a", delay_a), ("b", delay_b)):
        programs = {"rpma-bench": [SOFT, "-f", f"delay:time={delay}", BENCH]}
        plan = {"schema": "rpma-report-study/1", "name": name, "programs": programs, "series": [series]}
        (folder / f"{name}.json").write_text(json.dumps(plan))


def study(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    line = [REPORT, "study", "--ab", "a.json", "b.json", *options]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=1200)
    assert done.returncode in (0, 1, UNDETERMINED), done.stderr
    return done


def skip_without_cores(done: subprocess.CompletedProcess[str]) -> None:
    """Where other programs took the cores."""
    found = [line for line in (*done.stderr.splitlines(), *done.stdout.splitlines())
             if "refused: " in line or "unclear: other programs took the cores" in line]  # fmt: skip
    if done.returncode == UNDETERMINED and found:
        print(found[0])
        pytest.skip("refused, with the reason")


def results(folder: Path, side: str) -> dict[int, dict[str, Any]]:
    """By pair; of one that was measured again the last."""
    read = sorted((json.loads(path.read_text()) for path in (folder / side).glob("*.json")),
                  key=lambda result: result["study"]["order"])  # fmt: skip
    return {result["study"]["pair"]: result for result in read}


def point_spreads(folder: Path) -> list[float]:
    """The spread of the pairs in A/ and B/ of each point, for p50."""
    pairs = [[_p50_logs(of_side[pair]) for of_side in (results(folder, "A"), results(folder, "B"))]
             for pair in results(folder, "A")]  # fmt: skip
    differences = ([b - a for a, b in zip(*sides, strict=True)] for sides in pairs)
    return [stdev(of_point) for of_point in zip(*differences, strict=True)]


def _p50_logs(result: dict[str, Any]) -> list[float]:
    medians = (median(repeat["latency"]["percentiles"][0]["ns"] for repeat in point["repeats"])
               for point in result["points"])  # fmt: skip
    return [math.log(ns) for ns in medians]
