# SPDX-License-Identifier: BSD-3-Clause
"""Every job file of examples/fio runs as it stands on the software device, but for the port."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

FIO = os.environ.get("FIO", "/usr/bin/fio")
SOFT = os.environ["RPMA_SOFT_LAUNCHER"]
ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": os.environ["FIO_ENGINE_DIR"]}
EXAMPLES = Path(__file__).resolve().parents[3] / "examples/fio"
LIMIT_S = 120
# what the jobs of a file did, all together
DOES = {
    "one-file": {"write"},
    "write-apm": {"write"},
    "gpspm": {"write"},
    "native": {"write"},
    "verify": {"read", "write"},
    "log-fsync": {"write", "sync"},
    "mixed-random": {"read", "write"},
}


@pytest.fixture
def port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def command(port: str, name: str) -> list[str | Path]:
    """What is given before a job file holds for all its jobs."""
    return [SOFT, FIO, "--output-format=json", "--ioengine=librpma", f"--port={port}", EXAMPLES / f"{name}.fio"]


def jobs(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    jobs: list[dict[str, Any]] = json.loads(done.stdout)["jobs"]
    assert [job["error"] for job in jobs] == [0] * len(jobs)
    return jobs


@pytest.mark.parametrize("name", DOES)
def test_runs_as_it_stands(name: str, port: str, tmp_path: Path) -> None:
    done = jobs(subprocess.run(command(port, name), capture_output=True, text=True, timeout=LIMIT_S,
                               env=ENVIRONMENT, cwd=tmp_path))  # fmt: skip
    assert {way for job in done for way in ("read", "write", "sync", "trim") if job[way]["total_ios"]} == DOES[name]
    assert list(tmp_path.iterdir()) == []


def test_the_pair_for_two_hosts_runs_as_it_stands(port: str, tmp_path: Path) -> None:
    with subprocess.Popen(command(port, "two-hosts-server"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=ENVIRONMENT, cwd=tmp_path) as server:  # fmt: skip
        try:
            done = subprocess.run(command(port, "two-hosts-client"), capture_output=True, text=True,
                                  timeout=LIMIT_S, env=ENVIRONMENT, cwd=tmp_path)  # fmt: skip
            assert jobs(done)[0]["write"]["total_ios"] > 0
            output, errors = server.communicate(timeout=LIMIT_S)
        finally:
            server.kill()
    jobs(subprocess.CompletedProcess([], server.returncode, output, errors))


def test_each_job_file_is_tried() -> None:
    assert {path.stem for path in EXAMPLES.iterdir()} == {*DOES, "two-hosts-server", "two-hosts-client"}
