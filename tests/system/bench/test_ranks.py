# SPDX-License-Identifier: BSD-3-Clause
"""rpma-bench-mpi: several ranks measure together, and rank 0 writes one result.

All ranks are on this machine and its software device. The result of all is compared
with that of each, and with what the device and the server counted.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from check_result import check_document, clients
from serving import serving
from soft_trace import take_traces

BENCH = os.environ["RPMA_BENCH"]
BENCH_MPI = os.environ["RPMA_BENCH_MPI"]
MPIRUN = os.environ["MPIRUN"]
RANKS = 4
LIMIT_S = 120
SHORT = ["--device", "soft", "--size", "64", "--warmup", "20ms", "--repeats", "2"]
MEMORY = ["--target", "dram:1M"]  # made sooner than 64 MiB

pytestmark = pytest.mark.skipif(shutil.which(MPIRUN) is None, reason=f"there is no {MPIRUN}")


def command(*words: str, ranks: int = RANKS) -> list[str]:
    return [MPIRUN, "--oversubscribe", "--allow-run-as-root", "-n", str(ranks), BENCH_MPI, *words]


def run(words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          env={**os.environ, **environment})  # fmt: skip


def result_of(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(file.read_text())
    check_document(document)  # the sums, and that histograms add up
    return document


def measured(file: Path, *words: str, **environment: str) -> dict[str, Any]:
    done = run(command(*words, *SHORT, "-q", "-o", str(file)), **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return result_of(file)


def repeats_of(client: dict[str, Any]) -> list[dict[str, Any]]:
    return [repeat for point in client["points"] for repeat in point["repeats"]]


def who_measured_whom(document: dict[str, Any]) -> set[tuple[int, int | None]]:
    return {(rank["rank"], one["server_rank"]) for rank in document["ranks"]
            for one in rank["measured"]}  # fmt: skip


@pytest.mark.parametrize("shape", ["client", "pairs", "all-to-all"])
def test_help_has_the_name_of_the_program(shape: str) -> None:
    said = run([BENCH_MPI, shape, "--help"])
    assert said.stdout.startswith(f"Usage: rpma-bench-mpi {shape} ["), said.stdout


def test_all_ranks_measure_one_server(tmp_path: Path) -> None:
    file, csv = tmp_path / "r.json", tmp_path / "r.csv"
    with serving([BENCH, "server", *MEMORY, "--device", "soft", "--port", "0"]) as server:
        # the server counts what it answers: check_document compares
        document = measured(file, "client", "127.0.0.1", "--port", server.port, "--op", "send",
                            "--duration", "200ms", "--csv", str(csv))  # fmt: skip
    assert who_measured_whom(document) == {(rank, None) for rank in range(RANKS)}
    assert document["mpi"]["shape"] == "client" and document["mpi"]["ranks"] == RANKS
    assert all(r["requests"] for r in document["points"][0]["repeats"])
    assert len(csv.read_text().splitlines()) == 3


def check_device(document: dict[str, Any], traces: str) -> None:
    """The device posted what the ranks say, warm-ups included."""
    (point,) = document["points"]
    said = sum(repeat["ops"] + repeat["warmup"]["ops"] for repeat in point["repeats"])
    written = [trace.kinds["write"] for trace in take_traces(traces) if "write" in trace.kinds]
    assert sum(kind.operations for kind in written) == said
    assert sum(kind.bytes for kind in written) == said * 64


def test_all_ranks_measure_each_other(tmp_path: Path) -> None:
    traces = f"{tmp_path}/posted.%p"
    document = measured(tmp_path / "r.json", "all-to-all", *MEMORY, "--duration", "200ms",
                        RPMA_SOFT=f"trace:{traces}")  # fmt: skip
    assert who_measured_whom(document) == {
        (a, b) for a in range(RANKS) for b in range(RANKS) if a != b
    }
    check_device(document, traces)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """A result, and where the device's traces of it are."""
    folder = tmp_path_factory.mktemp("pairs")
    traces = f"{folder}/posted.%p"
    return measured(folder / "r.json", "pairs", *MEMORY, "--duration", "400ms",
                    RPMA_SOFT=f"trace:{traces}"), traces  # fmt: skip


def test_even_ranks_measure_odd_ones(pairs: tuple[dict[str, Any], str]) -> None:
    assert who_measured_whom(pairs[0]) == {(0, 1), (2, 3)}
    check_device(*pairs)


def test_ranks_measure_the_same_interval(pairs: tuple[dict[str, Any], str]) -> None:
    for repeats in zip(*(repeats_of(one) for one in clients(pairs[0])), strict=True):
        begins = [repeat["begin_unix_ns"] for repeat in repeats]
        ends = [repeat["begin_unix_ns"] + repeat["elapsed_ns"] for repeat in repeats]
        assert max(begins) < min(ends)
        # the bound needs no common clock, but here there is one
        for repeat in repeats:
            assert repeat["begin_unix_ns"] - min(begins) <= repeat["start_lag_ns"] + 1_000_000


def test_every_rank_has_its_environment(pairs: tuple[dict[str, Any], str]) -> None:
    document = pairs[0]
    assert [rank["rank"] for rank in document["ranks"]] == list(range(RANKS))
    assert all(rank["environment"]["os"]["kernel"] for rank in document["ranks"])
    assert (document["mpi"]["pml"], document["mpi"]["btl"]) == ("ob1", "self,tcp,vader")


def test_ranks_of_a_host_share_no_core_that_is_free(pairs: tuple[dict[str, Any], str]) -> None:
    document = pairs[0]
    taken = [cpu for one in clients(document) for cpu in one["placement"]["cpus"]
             if cpu is not None]  # fmt: skip
    assert len(set(taken)) == len(taken) > 0
    if len(os.sched_getaffinity(0)) < RANKS:
        assert "PIN_SHARED_CORE" in {w["code"] for w in document["run"]["warnings"]}


def test_an_slo_is_for_all_together(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    done = run(command("pairs", *MEMORY, *SHORT, "--duration", "50ms", "-o", str(file),
                       "--slo", "lat.p50_ns<1", "--slo", "ops_per_s>1"))  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert [slo["missed"] for slo in result_of(file)["run"]["slos"]] == [True, False]


@pytest.mark.parametrize("words, sentence", [
    (["pairs", "--size", "3x"], "--size 3x: "),
    (["pairs", "--resume", "r.json"], "--resume: "),
    (["pairs", "--ci", "5%"], "--ci: "),
    (["pairs", "--persist", "rpmem", "--rpmem-set", "s"], "--persist rpmem: "),
])  # fmt: skip
def test_wrong_words_are_refused(words: list[str], sentence: str) -> None:
    done = run([BENCH_MPI, *words])
    assert done.returncode == 64 and done.stderr.startswith(f"rpma-bench-mpi: {sentence}")


def test_wrong_words_are_refused_once() -> None:
    done = run(command("pears"))
    assert done.returncode == 64
    assert done.stderr.count("rpma-bench-mpi: unknown mode pears") == 1


def test_an_odd_rank_has_no_pair() -> None:
    done = run(command("pairs", *SHORT, ranks=3))
    assert done.returncode == 64 and "expected an even number of ranks" in done.stderr


def test_a_rank_with_other_options_is_named() -> None:
    # a shell chooses, as `mpiexec -n 1 true : -n 1 true` crashes with Open MPI 5.0.7 (Debian 13)
    script = '[ "$OMPI_COMM_WORLD_RANK" = 0 ] || set -- "$@" -q; exec "$@"'
    mpirun = command()[:-1]
    done = run([*mpirun, "sh", "-c", script, "sh", BENCH_MPI, "pairs", *SHORT])
    assert done.returncode == 64
    assert re.search(r"^rpma-bench-mpi: rank [123] on .*other options", done.stderr, re.M)


def test_a_server_that_is_not_there_ends_all() -> None:
    done = run(command("client", "127.0.0.1", "--port", "1", *SHORT))
    assert done.returncode == 2
    assert len(re.findall(r"^rpma-bench-mpi: .*refused", done.stderr, re.M)) == 1


def test_a_dry_run_needs_no_ranks() -> None:
    done = run(command("pairs", "--dry-run", *SHORT))
    assert done.returncode == 0 and done.stdout.count("p0000 ") == 1


def cpu_ticks(process: Path) -> int:
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def is_rank(process: Path, rank: int, mark: str) -> bool:
    """Is it the rank, and has it taken more time than a start takes?"""
    try:
        words = (process / "environ").read_bytes().split(b"\0")
        return (f"OMPI_COMM_WORLD_RANK={rank}".encode() in words
                and f"RANKS_TEST={mark}".encode() in words
                and cpu_ticks(process) > os.sysconf("SC_CLK_TCK"))  # fmt: skip
    except (OSError, IndexError):
        return False


def at_work(rank: int, mark: str) -> int:
    """The process of a client rank, once it has measured for a while."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        for process in Path("/proc").glob("[0-9]*"):
            if is_rank(process, rank, mark):
                return int(process.name)
        time.sleep(0.05)
    raise AssertionError(f"rank {rank} does not measure")


@contextmanager
def long_run(file: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    mark = str(file)
    process = subprocess.Popen(
        command("pairs", *MEMORY, *SHORT[:4], "--duration", "2s", "--warmup", "0", "--repeats", "100",
                "-q", "-o", str(file)),
        stderr=subprocess.PIPE, text=True, env={**os.environ, "RANKS_TEST": mark},
    )  # fmt: skip
    try:
        yield process, mark
    finally:
        process.kill()
        process.wait()


def test_a_signal_to_rank_0_leaves_a_result(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    with long_run(file) as (process, mark):
        os.kill(at_work(0, mark), signal.SIGINT)
        said = process.communicate(timeout=LIMIT_S)[1]
    assert process.returncode == 130, said
    run_of = result_of(file)["run"]
    assert run_of["status"] == "interrupted" and run_of["exit_code"] == 130


def test_a_killed_rank_ends_all(tmp_path: Path) -> None:
    with long_run(tmp_path / "r.json") as (process, mark):
        os.kill(at_work(2, mark), signal.SIGKILL)
        said = process.communicate(timeout=LIMIT_S)[1]
    assert process.returncode != 0
    assert "rank 2" in said, said
