# SPDX-License-Identifier: BSD-3-Clause
"""Handshakes of ends that are not ours: refused in a sentence, nothing crashes, and others are served as before.

Messages that no client sends are in test_memory_server_hostile.c, answers of no server in test_io_queue_failures.c."""

import os
import random
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fio_runs import LAUNCHER, LIMIT_S, LONG, Run, client, environment, refused, run_client, server

PING_HOSTILE = os.environ["PING_HOSTILE"]
PING, BENCH = os.environ["RPMA_PING"], os.environ["RPMA_BENCH"]
ADDRESS = "127.0.0.1"
SMALL: dict[str, Any] = {"rw": "write", "bs": "4k", "size": "64k"}
MUTANTS = 300 if LONG else 9
ANY, APM, GPSPM, NATIVE = range(4)  # enum method
FIO_ROLE = "4"  # enum handshake_role
KIND_DRAM = 0


def made(*words: str) -> bytes:
    return bytes.fromhex(subprocess.run([PING_HOSTILE, *words], capture_output=True, text=True, check=True).stdout)


REPLY, BLANK = made("reply"), made("request", FIO_ROLE)
VERSION, ANSWER, ROLE = 8, 10, 10  # common/rdma/handshake.c: where things are


def job_request(method: int, job: int = 0, jobs: int = 1, depth: int = 16, imm: int = 0) -> bytes:
    """fio_engine/job_handshake.c: what number and token hold."""
    lane, token = jobs << 16 | job, method << 48 | depth << 32 | imm
    return BLANK[:12] + lane.to_bytes(4, "little") + token.to_bytes(8, "little")


def job_reply(method: int = ANY, depth: int = 512, refusal: int = 0, kind: int = KIND_DRAM, persist: int = 0,
              direct: int = 0, mark: int = 0xF1) -> int:  # fmt: skip
    return mark << 56 | direct << 48 | persist << 40 | kind << 32 | method << 24 | refusal << 16 | depth


def changed(data: bytes, **at: int) -> bytes:
    out = bytearray(data)
    for name, value in at.items():
        out[globals()[name.upper()]] = value
    return bytes(out)


def soft(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LAUNCHER, "--", *command], capture_output=True, text=True, timeout=LIMIT_S, env=environment()
    )


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A client that stays keeps it from ending after the first one that it dropped."""
    folder = tmp_path_factory.mktemp("victim")
    with server(folder, clients=10000, busy_wait_polling=1) as it:
        with client(folder, it.port, mode="gpspm", rw="write", bs="4k", offset="512k", size="64k", rate_iops=20,
                    time_based=1, runtime=3600) as held:  # fmt: skip
            held.errors.wait_for("librpma: .*visib")
            yield it
            held.signal(signal.SIGINT)
            assert held.end() == 128, held.said()
        assert it.end() == 1, it.said()  # some were dropped


def still_serves(victim: Run, folder: Path) -> None:
    for mode in ("apm", "gpspm"):
        run_client(folder, victim.port, mode=mode, verify="crc32c", **SMALL)


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (job_request(APM), "answer 0"),
        (job_request(GPSPM), "answer 0"),
        (job_request(GPSPM, imm=4096), "answer 0"),
        (changed(job_request(APM), version=1), "answer 1"),
        (changed(job_request(APM), version=9), "answer 1"),
        (changed(job_request(APM), role=1), "answer 3"),
        (changed(job_request(APM), role=2), "answer 3"),
        (changed(job_request(APM), role=3), "answer 3"),
        (changed(job_request(APM), role=0), "refused"),
        (changed(job_request(APM), role=200), "refused"),
        (job_request(ANY), "refused"),
        (job_request(4), "refused"),
        (job_request(200), "refused"),
        (job_request(APM, job=1, jobs=1), "refused"),
        (job_request(APM, jobs=0), "refused"),
        (job_request(GPSPM, depth=0), "refused"),
        (job_request(APM, imm=4096), "refused"),
        (job_request(APM)[:10], "refused"),
        (b"x" + job_request(APM)[1:], "refused"),
        (b"\xff" * 56, "refused"),
        (b"\0", "refused"),
    ],
)
def test_a_handshake_gets_what_it_deserves(victim: Run, data: bytes, answer: str) -> None:
    done = soft(PING_HOSTILE, "client", ADDRESS, victim.port, data.hex())
    assert (done.returncode, done.stdout.strip()) == (0, answer), done.stderr


def test_mutants_leave_the_server_as_it_was(victim: Run, tmp_path: Path) -> None:
    chance = random.Random(1)
    for _ in range(MUTANTS):
        data = bytearray(job_request(chance.randrange(5), chance.randrange(3), chance.randrange(4), chance.randrange(600)))
        for _ in range(chance.randint(0, 3)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        done = soft(PING_HOSTILE, "client", ADDRESS, victim.port, bytes(data).hex())
        assert done.returncode == 0, done.stderr
    still_serves(victim, tmp_path)


def test_other_tools_are_told_what_this_is(victim: Run, tmp_path: Path) -> None:
    ping = soft(PING, "--device", "soft", "-p", victim.port, "-c", "1", ADDRESS)
    bench = soft(BENCH, "client", ADDRESS, "--port", victim.port, "--ops", "10", "--repeats", "1")
    for done in (ping, bench):
        assert done.returncode == 2 and "is a server of another tool" in done.stderr, done.stderr
    still_serves(victim, tmp_path)


@contextmanager
def client_of(folder: Path, *command: str, **options: Any) -> Iterator[Run]:
    """A client of this program, which prints its port."""
    with subprocess.Popen([LAUNCHER, "--", *command], stdout=subprocess.PIPE, text=True, env=environment()) as other:
        try:
            assert other.stdout is not None
            port = re.search(r"port (\d+)", other.stdout.readline())
            assert port is not None
            with client(folder, port[1], connect_timeout=1, **{**SMALL, **options}) as run:
                yield run
        finally:
            other.kill()


@pytest.mark.parametrize("command", [[PING, "--server", "-p", "0"], [BENCH, "server", "--port", "0"]], ids=["ping", "bench"])
def test_a_client_of_another_tools_server(tmp_path: Path, command: list[str]) -> None:
    with client_of(tmp_path, *command) as run:
        refused(run, ADDRESS)


def welcome(word: int, length: int = 0, fill: int = 0, pcfg_length: int = 0) -> bytes:
    out = bytearray(REPLY)
    out[11], out[12] = length, pcfg_length
    out[16:24] = word.to_bytes(8, "little")
    out[24:56] = bytes([fill] * 32)
    return bytes(out)


# test_job_handshake.c and test_job_connection_reply.c have the others
REPLIES = {
    "junk": b"\xa5" * 64,
    "version 1": changed(REPLY, version=1, answer=1),
    "another tool": changed(REPLY, answer=3),
    "no reply of a job": REPLY,
    "a kind that does not exist": welcome(job_reply(kind=99), 29, 1, 1),
    "no depth": welcome(job_reply(depth=0), 29, 1, 1),
    "a descriptor of zeros": welcome(job_reply(), 29, 0, 1),
    "a descriptor longer than its room": welcome(job_reply(), 33, 1, 1),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_that_is_none_ends_the_client(tmp_path: Path, name: str) -> None:
    with client_of(tmp_path, PING_HOSTILE, "server", ADDRESS, REPLIES[name].hex(), mode="gpspm") as run:
        refused(run, ADDRESS)


def test_mutants_of_a_reply_end_the_client(tmp_path: Path) -> None:
    chance = random.Random(2)
    for _ in range(MUTANTS // 3):
        data = bytearray(welcome(job_reply(), chance.choice([21, 22, 29]), chance.randrange(256), 1))
        for _ in range(chance.randint(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        with client_of(tmp_path, PING_HOSTILE, "server", ADDRESS, bytes(data).hex()) as run:
            assert run.end() == 1
            assert any(line.startswith("librpma: ") for line in run.told()), run.said()
