# SPDX-License-Identifier: BSD-3-Clause
"""A run that is interrupted, loses its other side, or has an operation fail: it ends, reports why in
one line, and leaves nothing.

Where something dies at a certain operation it is the device that counts: no test waits for a
time to come. The faults `drop` and `complete` hit the client's own operations, from 1 on.
A server that dies while its client tries again has a port that the kernel does not hand out by itself.
"""

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fio_runs import KIB, PATTERN, Done, Run, client, mostly_long, patterned, run_client, run_fio, server
from free_port import free_port

ACCOUNT = re.compile(r"client: (job \d+: )?\d+ (write|trim|read)s?\b")  # the last line, of what was flushed
BLOCK = 4 * KIB
BLOCKS = 64
ALL: dict[str, Any] = {"rw": "write", "bs": BLOCK, "size": BLOCKS * BLOCK}
ENDLESS: dict[str, Any] = {"rw": "randrw", "bs": BLOCK, "size": BLOCKS * BLOCK, "time_based": 1, "runtime": 600}
GOES_ON: dict[str, Any] = {"continue_on_error": "all", "error_dump": 1}
# 128 + the signal is for the shell's children; fio has one status for all signals
INTERRUPTED = 128


@pytest.fixture
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A server for one client, which may go without a word."""
    with server(tmp_path_factory.mktemp("server")) as it:
        yield it


def running(it: Run) -> None:
    """Its first line reports what its figures stand for: it is connected."""
    it.errors.wait_for("librpma: .*(persisten|visib)")


def lines_of(it: Run) -> list[str]:
    return [line for line in it.told()[1:] if re.match("(fio: )?librpma: ", line) and not ACCOUNT.search(line)]


def one_line(it: Run, *parts: str) -> str:
    """The line of its end, after the first line that every client has. fio puts its name before the message of
    an operation, and has a line of its own for the job."""
    lines = lines_of(it)
    found = [line for line in lines if all(part in line for part in parts)]
    assert len(found) == len(lines) == 1, it.said()
    return found[0]


# --- signals -----------------------------------------------------------------


@pytest.mark.parametrize("thread", mostly_long([0, 1], 0))
@pytest.mark.parametrize("mode", ["apm", "gpspm"])
@pytest.mark.parametrize("number", mostly_long([signal.SIGINT, signal.SIGTERM], signal.SIGINT))
def test_an_interrupted_client_says_goodbye(tmp_path: Path, number: int, mode: str, thread: int) -> None:
    with server(tmp_path) as it:
        with client(tmp_path, it.port, mode=mode, thread=thread, iodepth=8, **ENDLESS) as run:
            running(run)
            run.signal(number)
            assert run.end() == INTERRUPTED, run.said()
            assert lines_of(run) == [], run.said()
        assert it.end() == 0, it.said()
    assert list(tmp_path.iterdir()) == []


def test_a_client_is_interrupted_while_it_waits_for_its_server(tmp_path: Path) -> None:
    with client(tmp_path, "1", connect_timeout=600, **ALL) as run:
        run.errors.wait_for("librpma: .*wait")
        run.signal(signal.SIGINT)
        assert run.end() == INTERRUPTED + 1  # and a job that did not run


@pytest.mark.parametrize("polling", mostly_long([0, 1], 1))
@pytest.mark.parametrize("thread", [0, 1])
def test_a_server_that_nobody_came_to_is_interrupted(tmp_path: Path, thread: int, polling: int) -> None:
    with server(tmp_path, thread=thread, busy_wait_polling=polling, filename="region") as it:
        it.signal(signal.SIGINT)
        assert it.end() == INTERRUPTED, it.said()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", ["apm", "gpspm"])
def test_an_interrupted_server_ends_its_client(tmp_path: Path, mode: str) -> None:
    with server(tmp_path, port=free_port()) as it:
        with client(tmp_path, it.port, mode=mode, iodepth=8, connect_timeout=1, **ENDLESS) as run:
            running(run)
            it.signal(signal.SIGINT)
            assert it.end() == INTERRUPTED, it.said()
            assert run.end() == 1
            one_line(run, "127.0.0.1", it.port)


def test_both_are_interrupted_in_one_job_file(tmp_path: Path) -> None:
    (tmp_path / "both.fio").write_text(
        f"[global]\nioengine=librpma\nport={free_port()}\n[server]\nrole=server\nsize=1m\n"
        "[client]\nrw=randwrite\nbs=4k\nsize=256k\niodepth=4\ntime_based\nruntime=600\n"
    )
    run = Run(tmp_path, "both.fio")
    try:
        running(run)
        run.signal(signal.SIGINT)
        assert run.end() == INTERRUPTED, run.said()
    finally:
        run.kill()


def test_a_stopped_server_does_not_hold_its_client_from_an_interrupt(tmp_path: Path) -> None:
    """It is there and answers nothing."""
    with server(tmp_path) as it:
        with client(tmp_path, it.port, mode="gpspm", **ENDLESS) as run:
            running(run)
            for pid in it.left():
                os.kill(pid, signal.SIGSTOP)
            run.signal(signal.SIGINT)
            assert run.end() in (INTERRUPTED, INTERRUPTED + 1), run.said()


# --- death -------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", mostly_long([{}, {"iodepth": 16}, {"sync": 1}, {"busy_wait_polling": 0}, GOES_ON], {"iodepth": 16}, GOES_ON), ids=str
)
@pytest.mark.parametrize("mode", ["apm", "gpspm"])
def test_a_server_dies_half_way(tmp_path: Path, mode: str, options: dict[str, Any]) -> None:
    """Each of 64 writes is two operations at the server."""
    with server(tmp_path, soft=f"powerfail:at={BLOCKS}", port=free_port()) as it:
        with client(tmp_path, it.port, mode=mode, flush="each", connect_timeout=1, **{**ALL, **options}) as run:
            done = Done(run)
            assert done.code == 1, done.said
            if options is GOES_ON:  # the operation that failed, and that there was no server to go on with
                assert len(lines_of(run)) == 2, done.said
            else:
                one_line(run, "127.0.0.1", it.port)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_dies_in_an_fsync(tmp_path: Path) -> None:
    with server(tmp_path, soft=f"powerfail:at={BLOCKS + 1}", port=free_port()) as it:
        with client(tmp_path, it.port, flush="fsync", fsync=BLOCKS // 2, end_fsync=1, connect_timeout=1, **ALL) as run:
            assert run.end() == 1, run.said()
            one_line(run, "127.0.0.1", it.port)


def test_a_client_that_dies_leaves_the_others_alone(tmp_path: Path) -> None:
    with server(tmp_path, clients=2) as it:
        with client(tmp_path, it.port, **ENDLESS) as run:
            running(run)
            run.kill()
        run_client(tmp_path, it.port, verify="crc32c", **ALL)
        assert it.end() == 1, it.said()


# --- an operation that fails ---------------------------------------------------


@pytest.mark.parametrize("options", mostly_long([{}, {"iodepth": 16}, {"sync": 1}], {"iodepth": 16}), ids=str)
@pytest.mark.parametrize(("mode", "op"), [("apm", "write"), ("apm", "read"), ("gpspm", "write"), ("gpspm", "send")])
def test_a_failed_operation_ends_the_job(
    one: Run, tmp_path: Path, mode: str, op: str, options: dict[str, Any]
) -> None:
    fault = f"complete:op={op},at=20,status=REM_ACCESS_ERR"
    done = run_client(tmp_path, one.port, soft=fault, code=1, mode=mode, **{**ALL, **options})
    assert "REM_ACCESS_ERR" in done.said, done.said


@pytest.mark.parametrize("options", mostly_long([{}, {"sync": 1}], {}), ids=str)
@pytest.mark.parametrize(("mode", "op"), [("apm", "write"), ("apm", "read"), ("gpspm", "write"), ("gpspm", "send")])
def test_a_failed_operation_is_one_error_of_a_job_that_goes_on(
    one: Run, tmp_path: Path, mode: str, op: str, options: dict[str, Any]
) -> None:
    fault = f"complete:op={op},at=20,status=REM_ACCESS_ERR"
    done = run_client(tmp_path, one.port, soft=fault, mode=mode, **{**ALL, **GOES_ON, **options})
    assert done.job["total_err"] == 1
    assert done.job["first_error"] != 0
    # fio asks an engine for the text of what completes later alone
    assert sum("REM_ACCESS_ERR" in line for line in done.told) == int("sync" not in options), done.said
    assert done.ios("write") == BLOCKS


@pytest.mark.parametrize("mode", ["apm", "gpspm"])
def test_a_connection_that_breaks_now_and_then_is_made_anew(one: Run, tmp_path: Path, mode: str) -> None:
    """Each lives for 30 operations."""
    done = run_client(tmp_path, one.port, soft="drop:after=30", mode=mode, **{**ALL, **GOES_ON})
    assert 1 <= done.job["total_err"] <= 2 * BLOCKS / 30 + 1
    assert done.ios("write") == BLOCKS


def test_only_what_failed_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "region"
    path.write_bytes(bytes(BLOCKS * BLOCK))
    fault = "complete:op=write,at=20,status=REM_ACCESS_ERR"
    with server(tmp_path, filename=path, direct_write_to_pmem=1, size=BLOCKS * BLOCK) as it:
        run_client(tmp_path, it.port, soft=fault, **{**ALL, **GOES_ON, **PATTERN, "do_verify": 0})
        assert it.end() == 0, it.said()
    content = path.read_bytes()
    begins = range(0, BLOCKS * BLOCK, BLOCK)
    missing = [begin for begin in begins if content[begin : begin + BLOCK] != patterned(begin, BLOCK)]
    assert missing == [19 * BLOCK]


# --- a server in the job file of its clients -----------------------------------

SECTIONS = """
[global]
ioengine=librpma
port={port}
bs=4k
size=256k

[server]
role=server
size=1m

[first]
rw=write
numjobs=2
{first}

[second]
rw=randwrite
offset=512k
{second}
"""


@pytest.mark.parametrize(("first", "second"), [("", "wait_for=first"), ("create_serialize=0", "wait_for=first\ncreate_serialize=0"),
                                               ("", ""), ("thread", "thread")])  # fmt: skip
def test_a_server_waits_for_all_sections_of_its_own_file(tmp_path: Path, first: str, second: str) -> None:
    """One waits for the other here, so that a server which counts the first one alone has gone by then."""
    (tmp_path / "two.fio").write_text(SECTIONS.format(port=free_port(), first=first, second=second))
    code, out, errors = run_fio(tmp_path, "--output-format=json", "two.fio")
    assert code == 0, errors + out
    jobs = json.loads(out)["jobs"]
    assert [job["write"]["total_ios"] for job in jobs if job["jobname"] != "server"] == [64] * 3


def test_a_section_that_cannot_begin_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "two.fio").write_text(SECTIONS.format(port=free_port(), first="", second="size=2m"))
    code, _, errors = run_fio(tmp_path, "two.fio")
    assert code == 1
    assert "region has 1 MiB" in errors and "went without" not in errors
