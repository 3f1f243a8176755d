# SPDX-License-Identifier: BSD-3-Clause
"""Studies with rpma-bench and fio on the software device: killed, resumed, complete.

fio measures with the engine librpma where it is built (FIO_ENGINE_DIR), else with an
engine of its own.
"""

import csv
import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from free_port import free_port
from serving import serving

REPORT, BENCH, SOFT = (os.environ[name] for name in ("RPMA_REPORT", "RPMA_BENCH", "RPMA_SOFT_LAUNCHER"))
FIO, ENGINE = os.environ.get("FIO"), os.environ.get("FIO_ENGINE_DIR")
LIMIT_S = 600
QUICK = {"duration": "10ms", "warmup": 0, "pin": "none", "mem-node": "none"}

needs_fio = pytest.mark.skipif(not FIO, reason="fio is not installed")


def bench_series(sizes: list[int], persists: list[str]) -> dict[str, Any]:
    return {"name": "bench", "tool": "rpma-bench", "options": {**QUICK, "device": "soft"}, "repeats": 3,
            "axes": {"size": sizes, "persist": persists}}  # fmt: skip


def fio_series(sizes: list[str], depths: list[int]) -> dict[str, Any]:
    series: dict[str, Any] = {"name": "fio", "tool": "fio", "repeats": 3}
    series["axes"] = {"bs": sizes, "iodepth": depths}
    if ENGINE:
        server = {"name": "server", "options": {"role": "server", "size": "1M"}}
        client = {"name": "client", "options": {"rw": "write", "size": "1M"}}
        return {**series, "options": {"ioengine": "librpma", "port": free_port()}, "jobs": [server, client]}
    return {**series, "options": {"ioengine": "psync", "rw": "write", "size": "1M", "filename": "data"}}


def planned(folder: Path, *series: dict[str, Any]) -> Path:
    fio = ["env", f"LD_LIBRARY_PATH={ENGINE}", SOFT, "fio"] if ENGINE else [FIO]
    programs = {"rpma-bench": [BENCH], **({"fio": fio} if FIO else {})}
    path = folder / "plan.json"
    path.write_text(json.dumps({"schema": "rpma-report-study/1", "name": "on-soft", "programs": programs,
                                "series": series}))  # fmt: skip
    return path


def finish(plan: Path) -> str:
    line = [REPORT, "study", plan.name]
    done = subprocess.run(line, cwd=plan.parent, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return done.stderr


def killed_after(plan: Path, measured: int) -> None:
    """Killed as soon as it has reported MEASURED measurements: the next one is under way."""
    line = [REPORT, "study", plan.name]
    with subprocess.Popen(line, cwd=plan.parent, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        for told in process.stderr:
            measured -= told.endswith(": measured\n")
            if not measured:
                process.kill()
                break
        assert process.wait(LIMIT_S) == -9


def results(plan: Path) -> dict[Path, int]:
    return {p: p.stat().st_mtime_ns for p in (plan.parent / "plan.study" / "results").glob("*.json")}


def points(plan: Path) -> Counter[tuple[str, str, str, str]]:
    """The points of the table beside the report: each with its number of repeats."""
    with (plan.parent / "plan.study" / "points.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["repeat"] == "all"]
    swept = {"fio": "depth", "rpma-bench": "persist"}
    return Counter((r["program"], r["size_bytes"], r[swept[r["program"]]], r["repeats"]) for r in rows)


def kill_twice_and_finish(plan: Path, first: int, second: int, jobs: int) -> None:
    killed_after(plan, first)
    one = results(plan)
    assert first <= len(one) < jobs
    killed_after(plan, second)
    two = results(plan)
    assert one.items() <= two.items() and len(one) + second <= len(two) < jobs
    finish(plan)
    assert two.items() <= results(plan).items() and len(results(plan)) == jobs
    page = (plan.parent / "plan.study" / "report.html").read_text(encoding="utf-8")
    assert "NOT HARDWARE" in page


@needs_fio
def test_study_of_both_tools_survives_two_kills(tmp_path: Path) -> None:
    plan = planned(tmp_path, bench_series([64, 4096], ["none"]), fio_series(["4k"], [1, 2]))
    kill_twice_and_finish(plan, 1, 2, 8)
    assert points(plan) == {("rpma-bench", "64", "none", "3"): 1, ("rpma-bench", "4096", "none", "3"): 1,
                            ("fio", "4096", "1", "3"): 1, ("fio", "4096", "2", "3"): 1}  # fmt: skip


def test_study_against_a_server_that_is_running(tmp_path: Path) -> None:
    line = [BENCH, "server", "--device", "soft", "--port", "0", "--pin", "none", "--mem-node", "none"]
    with serving(line) as server:
        series = bench_series([64, 256], ["none"])
        series["options"]["port"] = int(server.port)
        plan = planned(tmp_path, {**series, "server": "127.0.0.1"})
        finish(plan)
    assert sum(points(plan).values()) == 2
