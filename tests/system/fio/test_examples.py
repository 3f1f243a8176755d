# SPDX-License-Identifier: BSD-3-Clause
"""Every job file of examples/fio runs on the software device as it stands, but for the port."""

from pathlib import Path

import pytest
from fio_runs import Done, Run, words
from free_port import free_port

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/fio"
# what the jobs of a file do, all together
DOES = {
    "one-file": {"write"},
    "write-apm": {"write"},
    "gpspm": {"write"},
    "verify": {"read", "write"},
    "log-fsync": {"write", "sync"},
    "mixed-random": {"read", "write"},
}


def start(name: str, port: int, folder: Path) -> Run:
    """What is given before a job file holds for all its jobs."""
    return Run(folder, *words(ioengine="librpma", port=port, **{"output-format": "json"}),
               str(EXAMPLES / f"{name}.fio"))  # fmt: skip


def done(run: Run, *leaves: str) -> set[str]:
    """What it did, without an error and without leaving anything else."""
    try:
        end = Done(run)
    finally:
        run.kill()
    assert end.code == 0, end.said
    assert [job["error"] for job in end.jobs()] == [0] * len(end.jobs())
    assert {entry.name for entry in run.folder.iterdir()} == set(leaves)
    return {way for way in ("read", "write", "sync", "trim") if end.ios(way) > 0}


@pytest.mark.parametrize("name", DOES)
def test_runs_as_it_stands(name: str, tmp_path: Path) -> None:
    assert done(start(name, free_port(), tmp_path)) == DOES[name]


def test_the_pair_for_two_hosts_runs_as_it_stands(tmp_path: Path) -> None:
    port = free_port()
    server = start("two-hosts-server", port, tmp_path)
    assert done(start("two-hosts-client", port, tmp_path)) == {"write"}
    assert done(server) == set()


def test_the_one_for_power_failures_leaves_a_log(tmp_path: Path) -> None:
    assert done(start("power-failure", free_port(), tmp_path), "claims.log") == {"write", "sync"}


def test_each_job_file_is_tried() -> None:
    assert {path.stem for path in EXAMPLES.iterdir()} == {*DOES, "two-hosts-server", "two-hosts-client", "power-failure"}
