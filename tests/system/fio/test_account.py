# SPDX-License-Identifier: BSD-3-Clause
"""What is printed of flushes when a job has ended, against what the device was asked for.

Every word and number of the last line, of fio's JSON, of the file of result= and of the page is held
against the trace of the client's device: which writes came before the last flush, and how many
flushes there were. The server states that what a flush reaches is persistent.
"""

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fio_runs import KIB, STORES, Done, Run, facts, file_system, mostly_long, run_client, server, words
from soft_trace import Operation, read_traces

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "report"))
from rpma_report import sources  # noqa: E402

BLOCK = 4 * KIB
BLOCKS = 32
FLUSH_BYTES = 8
REQUEST_BYTES = 24
POLICIES = ["auto", "each", "batch", "fsync", "none"]
PATTERNS = ["write", "randwrite", "randtrim", "trimwrite"]
SYNCS: list[dict[str, Any]] = [{"fsync": 4}, {"end_fsync": 1}, {}, {"fdatasync": 3}, {"write_barrier": 8}]
DEPTHS: list[dict[str, Any]] = [{"iodepth": 1}, {"iodepth": 8, "iodepth_batch": 4}]


class Job(NamedTuple):
    mode: str
    policy: str
    rw: str
    options: dict[str, Any]

    def __str__(self) -> str:
        return "-".join([self.mode, self.policy, self.rw, *(f"{key}={value}" for key, value in self.options.items())])


def jobs() -> list[Job]:
    """Each policy with each pattern at both depths; kinds of fsync and methods take turns."""
    return [Job("gpspm" if number % 3 == 1 else "apm", policy, rw, {**depth, **SYNCS[number % len(SYNCS)]})
            for number, (policy, depth, rw) in enumerate(itertools.product(POLICIES, DEPTHS, PATTERNS))]  # fmt: skip


# every policy, every pattern, both methods; with no flush at all, and with writes behind the last one
DAILY = [0, 5, 14, 17, 24, 27, 29, 30, 33]


class Seen(NamedTuple):
    writes: int
    covered: int
    flushes: int


def seen(operations: list[Operation]) -> Seen:
    writes, covered, flushes = 0, 0, 0
    for one in operations:
        if one.kind == "write" and one.bytes == BLOCK:
            writes += 1
        elif (one.kind == "read" and one.bytes <= FLUSH_BYTES) or (one.kind == "send" and one.bytes == REQUEST_BYTES):
            flushes += 1
            covered = writes
    return Seen(writes, covered, flushes)


def line_of(found: Seen, word: str) -> str:
    """The beginning of the last line, by the manual."""
    if not found.covered:
        return f"{found.writes} writes, none flushed"
    many = "all" if found.covered == found.writes else str(found.covered)
    left = found.writes - found.covered
    return (f"{found.writes} writes, {many} flushed to {word} by {found.flushes} flush{'es' if found.flushes != 1 else ''}"
            + (f", {left} after the last flush not flushed" if left else ""))  # fmt: skip


def page_of(found: Seen, word: str, stated: str) -> str:
    if not found.covered:
        return f"none of {found.writes} writes to file is flushed"
    if found.covered == found.writes:
        return f"{found.writes} writes to file are flushed to {word}{stated}"
    return f"{found.covered} of {found.writes} writes to file are flushed to {word}{stated}, the other {found.writes - found.covered} are not"


def check_words(folder: Path, done: Done, found: Seen, word: str, mode: str) -> None:
    reached = word if found.covered else "nothing"
    (line,) = [line for line in done.told if re.match(r"librpma: client: \d+ writes", line)]
    assert line.removeprefix("librpma: client: ").startswith(line_of(found, word)), line
    counts = {"writes": str(found.writes), "covered": str(found.covered), "flushes": str(found.flushes)}
    told = facts(json.loads((folder / "fio.json").read_text())["jobs"][0])
    assert told["flush_type"] == {"persistence": "persistent", "visibility only": "visibility", "nothing": "none"}[reached]
    assert {key: told[key] for key in counts} == counts
    side = json.loads((folder / "side").read_text())
    assert side["flush"]["reached"] == reached.removesuffix(" only")
    assert [side["flush"][key] for key in ("writes", "covered", "count")] == list(found)
    stated = ", by the statement of the server's operator" if mode == "apm" and word == "persistence" else ""
    (remark,) = [one.text for one in sources.load(folder / "fio.json").warnings if one.code == "FIO_FLUSHES"]
    assert remark.startswith(f"client: {page_of(found, word, stated)} (mode={mode}"), remark


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("server")
    if file_system(folder) not in STORES:
        pytest.skip("needs a folder for temporary files on a disk")
    with server(folder, clients=1000, filename="pool", direct_write_to_pmem=1) as it:
        yield it


@pytest.fixture
def run_job(on_disk: Run, tmp_path: Path) -> Callable[..., tuple[Done, Seen]]:
    def run(**options: Any) -> tuple[Done, Seen]:
        name = str(tmp_path / "posted.%p")
        done = run_client(tmp_path, on_disk.port, soft=f"trace:{name}", bs=BLOCK, size=BLOCKS * BLOCK, result="side",
                          output="fio.json", **options)  # fmt: skip
        return done, seen([one for trace in read_traces(name) for one in trace.operations])

    return run


@pytest.mark.parametrize("number", mostly_long(range(len(jobs())), *DAILY), ids=lambda number: str(jobs()[number]))
def test_every_word_and_count_is_what_the_device_saw(run_job: Callable[..., tuple[Done, Seen]], tmp_path: Path, number: int) -> None:
    job = jobs()[number]
    done, found = run_job(mode=job.mode, flush=job.policy, rw=job.rw, **job.options)
    assert found.writes >= BLOCKS
    check_words(tmp_path, done, found, "persistence", job.mode)


def test_the_daily_jobs_flush_all_some_and_nothing() -> None:
    """There are 40 in all."""
    picked = [jobs()[number] for number in DAILY]
    assert len(jobs()) == 40
    assert {job.policy for job in picked} == set(POLICIES) and {job.rw for job in picked} == set(PATTERNS)


def test_an_fsync_that_fio_does_not_call_is_named(run_job: Callable[..., tuple[Done, Seen]], tmp_path: Path) -> None:
    done, found = run_job(flush="fsync", rw="trimwrite", fsync=3)
    assert found.flushes == 0
    assert any(f"{found.writes} writes, none flushed: fio called no fsync" in line for line in done.told)


def test_visibility_is_not_more(tmp_path: Path) -> None:
    name = str(tmp_path / "posted.%p")
    with server(tmp_path, filename="pool") as it:
        done = run_client(tmp_path, it.port, soft=f"trace:{name}", rw="write", bs=BLOCK, size=BLOCKS * BLOCK, flush="fsync",
                          fsync=4, result="side", output="fio.json")  # fmt: skip
    found = seen([one for trace in read_traces(name) for one in trace.operations])
    assert found == Seen(BLOCKS, BLOCKS - 4, BLOCKS // 4 - 1)
    check_words(tmp_path, done, found, "visibility only", "apm")


def test_each_clone_says_what_became_of_its_writes(tmp_path: Path) -> None:
    with server(tmp_path) as it:
        done = run_client(tmp_path, it.port, rw="write", bs=BLOCK, size=BLOCKS * BLOCK, numjobs=2)
    for number in range(2):
        text = f"librpma: client: job {number}: {BLOCKS} writes, all flushed to visibility only by {BLOCKS} flushes"
        assert done.told.count(text) == 1


def test_nothing_is_said_of_flushes_before_the_job_has_ended(tmp_path: Path) -> None:
    """fio's report of a run has no end yet."""
    with server(tmp_path) as it:
        done = run_client(tmp_path, it.port, rw="write", bs=BLOCK, size="1m", time_based=1, runtime=2, rate_iops=100,
                          output="reports", **{"status-interval": 1})  # fmt: skip
    assert done.code == 0
    texts = re.findall(r'"librpma" : "([^"]*)"', (tmp_path / "reports").read_text())
    assert len(texts) >= 2
    assert all("flush_type=unproven" in text and "writes=" not in text for text in texts[:-1])
    assert "flush_type=visibility" in texts[-1] and "writes=" in texts[-1]


# --- fsyncs that flush, and those that do not ---------------------------------------


def test_syncs_with_nothing_to_flush_are_told_apart(run_job: Callable[..., tuple[Done, Seen]], tmp_path: Path) -> None:
    """fio calls fsync after reads, too, when the last operations were some."""
    done, found = run_job(flush="fsync", rw="randrw", fsync=1, iodepth=4, end_fsync=1)
    side = json.loads((tmp_path / "side").read_text())
    called = json.loads((tmp_path / "fio.json").read_text())["jobs"][0]["sync"]["total_ios"]
    syncs = side["syncs"]
    assert (syncs["flushed"], syncs["failed"], side["commits"]["count"]) == (found.flushes, 0, found.flushes)
    assert syncs["flushed"] + syncs["empty"] in (called, called + 1)  # that at the end is not counted by fio
    text = f"{syncs['empty']} of {syncs['flushed'] + syncs['empty']} fsyncs had nothing to flush: fio's sync latencies include them"
    assert any(text in line for line in done.told) == (syncs["empty"] > 0)


AIO = [{"fsync": 1}, {"fsync": 1, "iodepth": 8}, {"fsync": 1, "iodepth": 8, "iodepth_batch": 4}, {"fsync": 4, "iodepth": 8},
       {"fsync": 4, "iodepth": 16, "iodepth_batch": 8}, {"fsync": 3, "iodepth": 8, "iodepth_batch": 8}]  # fmt: skip


@pytest.mark.parametrize("options", mostly_long(AIO, AIO[2], AIO[4]), ids=str)
def test_an_fsync_flushes_as_often_as_with_libaio(run_job: Callable[..., tuple[Done, Seen]], tmp_path: Path, options: dict[str, Any]) -> None:
    _, found = run_job(flush="fsync", rw="write", **options)
    told = subprocess.run(
        ["fio", "--output-format=json", *words(name="aio", ioengine="libaio", filename=tmp_path / "file", rw="write", bs=BLOCK,
                                               size=BLOCKS * BLOCK, **options)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert found.flushes == json.loads(told.stdout)["jobs"][0]["sync"]["total_ios"] > 0
