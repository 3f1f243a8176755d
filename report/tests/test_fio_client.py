# SPDX-License-Identifier: BSD-3-Clause
"""The output of fio --client: jobs that servers of fio have run, and their sum, which is none."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sample_tools as tools
from conftest import Command, Write
from loaded import load
from rpma_report import sources
from rpma_report.figures import bandwidth

FIO = shutil.which("fio")
TEN_US = range(10_000, 20_000)


def asked(*jobs: dict[str, Any]) -> dict[str, Any]:
    document = tools.fio(ioengine="null", rw="write", bs="4k")
    del document["jobs"], document["timestamp_ms"]
    return {**document, "client_stats": list(jobs)}


def of_host(name: str, host: str, **options: str) -> dict[str, Any]:
    return {**tools.fio_job(name, TEN_US, **options), "hostname": host, "port": 8765}


def the_sum() -> dict[str, Any]:
    job = of_host("All clients", "b", plus=False)
    del job["job options"], job["write"]["clat_ns"]["percentile"]
    return job


def test_jobs_are_points_and_their_sum_is_none() -> None:
    run = load(asked(of_host("r", "a"), of_host("s", "a", bs="8k"), the_sum()))
    assert [(p.params["job"], p.params["size_bytes"]) for p in run.points] == [("r", 4096), ("s", 8192)]
    assert run.started == "2026-11-22T06:11:19Z" and run.program == "fio"


def test_only_job_may_have_the_name_of_the_sum() -> None:
    assert len(load(asked(of_host("All clients", "a"))).points) == 1


def test_hosts_are_lines_of_their_own() -> None:
    run = load(asked(of_host("r", "a"), of_host("r", "b"), the_sum()))
    figure = bandwidth.figure([run])
    assert figure is not None
    assert [line.label for line in figure.panels[0].lines] == ["fio null write, job r on a", "fio null write, job r on b"]
    (commands,) = run.commands
    assert commands.startswith("# run by fio --client on a, b\n") and commands.count("[r]") == 1


def test_job_that_failed_on_a_host_fails_the_run() -> None:
    assert load(asked(of_host("r", "a"), {**of_host("r", "b"), "error": 5})).status == "failed"


def test_broken_figure_is_refused_with_its_place(quick: Command, write: Write) -> None:
    document = asked(of_host("r", "a"))
    document["client_stats"][0]["write"]["clat_ns"]["N"] = 5
    done = quick("validate", write(document))
    assert done.returncode == 1 and "client_stats[0].write.clat_ns.N: is 5" in done.stderr


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A server of fio, on a socket of its own."""
    address = f"sock:{tmp_path}/s"
    line = ["stdbuf", "-oL", str(FIO), f"--server={address}"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and "listening" in process.stdout.readline()
        yield address
        process.terminate()


@pytest.mark.skipif(FIO is None, reason="no fio")
@pytest.mark.parametrize("form", ["json", "json+"])
def test_output_of_debians_fio(form: str, server: str, tmp_path: Path) -> None:
    jobs, out = tmp_path / "job.fio", tmp_path / "fio.json"
    jobs.write_text("[global]\nioengine=null\nsize=8M\nbs=4k\nrw=write\n[r]\n[s]\nbs=8k\nnumjobs=2\n")
    line = [str(FIO), f"--client={server}", str(jobs), f"--output-format={form}", f"--output={out}"]
    for _ in range(20):  # the server prints that it listens just before it does
        if subprocess.run(line, capture_output=True, timeout=120).returncode == 0:
            break
    assert '"All clients"' in out.read_text(encoding="utf-8")
    r, s = sources.load(out).points
    assert [(p.params["job"], p.params["size_bytes"], p.ops) for p in (r, s)] == [("r", 4096, 2048), ("s", 8192, 2048)]
    assert r.latency is not None and 0.5 in r.latency.percentiles
