# SPDX-License-Identifier: BSD-3-Clause
"""What durable_log= writes, held against fio's own log and count, and what rpma-fio-check makes of it.

The log is read here by what durable_log_record.h tells of it.
"""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from durable_cells import CHECK, check
from fio_runs import FIO, KIB, STORES, client, file_system, mostly_long, run_client, run_fio, server, words

BLOCK, REGION, LINE = 4 * KIB, 256 * KIB, 64
HEADER, FRONT, RECORD = 32, 28, 32
BASIC: dict[str, Any] = {"bs": BLOCK, "size": REGION, "refill_buffers": 1}


def fnv1a(data: bytes) -> int:
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 % 2**32
    return value


@dataclass
class Log:
    places: list[tuple[int, int]] = field(default_factory=list)
    tags: list[list[int]] = field(default_factory=list)
    claimed: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    syncs: int = 0
    unclaimable: int = 0
    flushes: int = 0
    reached: str = ""
    ended: bool = False


def read_log(path: Path) -> Log:
    data, at, log = path.read_bytes(), HEADER, Log()
    before = data[HEADER - 4 : HEADER]
    assert data.startswith(b"rpmalog1") and fnv1a(data[: HEADER - 4]) == struct.unpack("<I", data[HEADER - 4 : HEADER])[0]
    while at + FRONT <= len(data):
        kind, flags, none, front, number, begin, size = struct.unpack("<BBHIQQI", data[at : at + FRONT])
        assert none == 0 and front == fnv1a(data[at : at + 4] + before + data[at + 8 : at + FRONT])
        lines = (begin + size - 1) // LINE - begin // LINE + 1 if kind == 1 else 0
        end = at + FRONT + 4 * lines
        if end + 4 > len(data):
            break  # as a crash leaves it
        assert struct.unpack("<I", data[end : end + 4])[0] == fnv1a(data[at:end])
        if kind == 1:
            assert number == len(log.places)
            log.places.append((begin, size))
            log.tags.append(list(struct.unpack(f"<{lines}I", data[at + FRONT : end])))
        elif kind == 2:
            log.done.add(number)
            log.claimed |= {number} if flags else set()
        elif kind == 3:
            log.claimed |= {done for done in log.done if done >= log.unclaimable}
            log.syncs += 1
        elif kind == 4:
            log.unclaimable = len(log.places)
        else:
            assert (kind, number, end + 4) == (5, len(log.places), len(data))
            log.ended, log.flushes, log.reached = True, begin, ("none", "visibility", "persistent")[size]
        before, at = data[end : end + 4], end + 4
    return log


CLAIMS: list[Any] = [
    ({"mode": "gpspm", "flush": "batch", "rw": "randwrite", "iodepth": 8, "iodepth_batch": 4}, 64, 0),
    ({"flush": "fsync", "fsync": 4, "rw": "write"}, 60, 15),
    ({"flush": "none", "sync": 1, "rw": "write"}, 64, 0),
    ({"flush": "fsync", "rw": "write"}, 0, 0),
    ({"flush": "each", "rw": "randwrite", "iodepth": 8}, 64, 0),
    ({"rw": "write", "iodepth": 8, "iodepth_batch": 4}, 64, 0),
    ({"flush": "fsync", "fsync": 4, "end_fsync": 1, "rw": "write"}, 64, 16),
    ({"flush": "fsync", "sync": 1, "rw": "write"}, 64, 0),
    ({"flush": "none", "rw": "write"}, 0, 0),
    ({"mode": "gpspm", "write_op": "imm", "rw": "write"}, 64, 0),
]


@pytest.mark.parametrize(("options", "claimed", "syncs"), mostly_long(CLAIMS, *CLAIMS[:4]), ids=str)
def test_claims_are_what_fio_was_told(tmp_path: Path, options: dict[str, Any], claimed: int, syncs: int) -> None:
    """64 writes; the number of syncs is fio's, one for each so many writes with another one behind them."""
    iolog = tmp_path / "iolog"
    with server(tmp_path, size=REGION) as it:
        run_client(tmp_path, it.port, durable_log="log", write_iolog=iolog, **BASIC, **options)
    log = read_log(tmp_path / "log")
    wrote = [line.split() for line in iolog.read_text().splitlines()]
    assert log.places == [(int(one[3]), int(one[4])) for one in wrote if len(one) == 5 and one[2] == "write"]
    assert log.done == set(range(64)) and log.ended
    assert (len(log.claimed), log.syncs) == (claimed, syncs)


FLUSHES: list[Any] = [
    (1, {"flush": "fsync", "fsync": 4}, 15, "persistent"), (1, {"flush": "fsync"}, 0, "none"),
    (1, {"flush": "none", "sync": 1}, 0, "none"), (0, {"flush": "each", "flush_type": "visibility"}, 64, "visibility"),
    (1, {"flush": "each"}, 64, "persistent"),
]  # fmt: skip


@pytest.mark.parametrize(("stated", "options", "flushes", "reached"), mostly_long(FLUSHES, *FLUSHES[:2]), ids=str)
def test_flushes_are_those_that_completed(tmp_path: Path, stated: int, options: dict[str, Any], flushes: int, reached: str) -> None:
    """64 writes; what the options ask for is in no word, and without the end of the log nothing is known."""
    if file_system(tmp_path) not in STORES:
        pytest.skip("needs a folder for temporary files on a disk")
    (tmp_path / "pool").write_bytes(bytes(REGION))
    with server(tmp_path, size=REGION, filename="pool", direct_write_to_pmem=stated) as it:
        run_client(tmp_path, it.port, durable_log="log", rw="write", **BASIC, **options)
    log = read_log(tmp_path / "log")
    assert (log.flushes, log.reached) == (flushes, reached)
    told = f"flushes that completed:    {flushes}, flush_type={reached}\n"
    (tmp_path / "short").write_bytes((tmp_path / "log").read_bytes()[:-RECORD])
    for name, line in (("log", told), ("short", "flushes that completed:    not known, flush_type=unproven\n")):
        done = subprocess.run([CHECK, tmp_path / name, tmp_path / "pool"], capture_output=True, text=True)
        assert line in done.stdout and done.stdout.count("flush_type=") == 1


@pytest.mark.parametrize("bs", mostly_long([BLOCK, 100, 1], 100))
def test_tags_are_those_of_the_content(tmp_path: Path, bs: int) -> None:
    (tmp_path / "pool").write_bytes(bytes(8 * BLOCK))
    with server(tmp_path, size=8 * BLOCK, filename="pool") as it:
        run_client(tmp_path, it.port, durable_log="log", rw="write", bs=bs, size=8 * bs, refill_buffers=1)
    content = (tmp_path / "pool").read_bytes()
    log = read_log(tmp_path / "log")
    assert log.places == [(i * bs, bs) for i in range(8)]
    for (begin, size), tags in zip(log.places, log.tags, strict=True):
        lines = [content[max(begin, at) : min(begin + size, at + LINE)] for at in range(begin - begin % LINE, begin + size, LINE)]
        assert tags == [fnv1a(line) for line in lines]
    assert check(tmp_path / "log", tmp_path / "pool").code == 0


def test_a_trim_is_a_write_of_zeros(tmp_path: Path) -> None:
    (tmp_path / "pool").write_bytes(b"x" * REGION)
    with server(tmp_path, size=REGION, filename="pool") as it:
        run_client(tmp_path, it.port, durable_log="log", rw="trim", **BASIC)
    assert set(tag for tags in read_log(tmp_path / "log").tags for tag in tags) == {fnv1a(bytes(LINE))}
    assert check(tmp_path / "log", tmp_path / "pool").there == 64


def test_each_job_has_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "pool").write_bytes(bytes(REGION))
    with server(tmp_path, size=REGION, filename="pool") as it:
        run_client(tmp_path, it.port, durable_log="log", rw="write", bs=BLOCK, size=REGION // 2, numjobs=2, region="split")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.0", "log.1", "pool"]
    for number in range(2):
        found = check(tmp_path / f"log.{number}", tmp_path / "pool")
        assert (found.code, found.there) == (0, 32)


def test_a_server_with_an_offset(tmp_path: Path) -> None:
    (tmp_path / "pool").write_bytes(bytes(2 * REGION))
    with server(tmp_path, size=REGION, offset=REGION, filename="pool") as it:
        run_client(tmp_path, it.port, durable_log="log", rw="write", **BASIC)
    told = [subprocess.run([CHECK, *more, tmp_path / "log", tmp_path / "pool"], capture_output=True, text=True)
            for more in ([f"--offset={REGION}"], [], [f"-o{REGION + 1}"])]  # fmt: skip
    assert [one.returncode for one in told] == [0, 1, 2]
    assert "expected at least" in told[2].stderr


def test_a_log_that_cannot_be_made_ends_the_job(tmp_path: Path) -> None:
    with server(tmp_path) as it:
        done = run_client(tmp_path, it.port, code=1, durable_log="no/log", rw="write", **BASIC)
    assert any("durable_log=no/log: No such file or directory" in line for line in done.told)


def test_fio_sees_no_completion_that_the_log_has_not(tmp_path: Path) -> None:
    """A disk of 32 KiB is full after some claims: fio has the latencies of just these writes."""
    own = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    if subprocess.run([*own, "mount", "-t", "tmpfs", "none", tmp_path], capture_output=True).returncode != 0:
        pytest.skip("no file system may be mounted here")
    (tmp_path / "disk").mkdir()
    program = tmp_path / "fio"
    program.write_text(
        f'#!/bin/bash\nset -e\nmount -t tmpfs -o size=32k none disk\n{FIO} "$@" || true\ncp disk/log .\n'
    )
    program.chmod(0o755)
    with server(tmp_path, size=REGION) as it:
        options = {"port": it.port, "durable_log": "disk/log", "rw": "write", "io_size": 4 * REGION, **BASIC}
        run = [shutil.which("unshare") or "", *own[1:], program]
        _, out, errors = run_fio(
            tmp_path, *map(str, run[1:]), *words(**{"output-format": "json"}), *words(name="x", ioengine="librpma", **options), fio=str(run[0])
        )  # fmt: skip
    assert "durable_log=disk/log: No space left on device" in errors
    log = read_log(tmp_path / "log")
    assert 0 < len(log.claimed) < 256
    counted = json.loads(out[out.index("{") :])["jobs"][0]["write"]["lat_ns"]["N"]
    assert counted == len(log.claimed)


def test_a_killed_client_leaves_a_log_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "pool").write_bytes(bytes(REGION))
    with server(tmp_path, size=REGION, filename="pool", mode="gpspm") as it:
        with client(tmp_path, it.port, mode="gpspm", durable_log="log", rw="randwrite", norandommap=1, time_based=1, runtime=60,
                    iodepth=8, **BASIC) as run:  # fmt: skip
            run.errors.wait_for("a flush of writes to")
            while not (tmp_path / "log").exists() or (tmp_path / "log").stat().st_size < 100_000:
                assert run.process.poll() is None
            run.kill()
        it.signal(signal.SIGTERM)
        it.end()
    found = check(tmp_path / "log", tmp_path / "pool")
    assert (found.code, found.lost, found.undecided) == (3, 0, 0)  # it has no end: there may have been more
    assert found.claimed > 100


@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("seed", mostly_long(range(1, 6), 1))
def test_a_failed_fsync_claims_nothing(tmp_path: Path, seed: int, depth: int) -> None:
    """The connection breaks again and again, each time with writes that no flush had reached; then the power of the
    server fails. On a platform that keeps what a read flushes nothing is lost that later fsyncs claimed, nor with
    writes under way at the fsync that failed."""
    if file_system(tmp_path) not in STORES:
        pytest.skip("needs a folder for temporary files on a disk")
    (tmp_path / "pool").write_bytes(bytes(REGION))
    with server(tmp_path, soft=f"seed:{seed} powerfail:at={150 + 7 * seed},domain=adr,ddio=off", size=REGION, filename="pool",
                direct_write_to_pmem=1, clients=1) as it:  # fmt: skip
        with client(tmp_path, it.port, soft=f"drop:after={20 + seed}", durable_log="log", rw="randwrite", norandommap=1,
                    flush="fsync", fsync=4, iodepth=depth, continue_on_error="all", connect_timeout=1, randseed=seed,
                    **{**BASIC, "io_size": 64 * REGION}) as run:  # fmt: skip
            run.end()
        it.process.wait()
    log, found = read_log(tmp_path / "log"), check(tmp_path / "log", tmp_path / "pool")
    assert "before a failed fsync may be lost" in run.said()
    assert log.ended and 0 < log.unclaimable and len(log.claimed) < len(log.places)
    assert (found.code, found.lost, found.undecided) == (0, 0, 0)
    assert found.claimed > 20


def test_nothing_claimed_proves_nothing(tmp_path: Path) -> None:
    with server(tmp_path, size=REGION) as it:
        run_client(tmp_path, it.port, durable_log="log", rw="write", flush="fsync", **BASIC)
    (tmp_path / "pool").write_bytes(bytes(REGION))
    assert check(tmp_path / "log", tmp_path / "pool").code == 3


def test_a_line_that_changed_is_named(tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    pool.write_bytes(bytes(REGION))
    with server(tmp_path, size=REGION, filename="pool") as it:
        run_client(tmp_path, it.port, durable_log="log", rw="write", **BASIC)
    content = bytearray(pool.read_bytes())
    for at in (0, 5 * LINE, 5 * LINE + 63, 6 * LINE, REGION - 1):
        content[at] ^= 1
    pool.write_bytes(content)
    done = subprocess.run([CHECK, tmp_path / "log", pool], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"lost bytes of the target: 256, at 0-63, 320-447, {REGION - 64}-{REGION - 1}\n" in done.stdout
    assert "claimed durable and lost:  2 writes\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [(["log"], 64, "expected LOG and TARGET"), (["a", "b", "c"], 64, "unexpected argument c"), (["--offset=-1", "a", "b"], 64, "number of bytes"),
     (["--no"], 64, "unknown option --no"), (["-h"], 0, ""), (["missing", "pool"], 2, "No such file"), (["pool", "pool"], 2, "is not a log of durable_log="),
     ([".", "pool"], 2, "expected a regular file"), (["--help"], 0, ""), (["--version"], 0, "")],
    ids=str,
)  # fmt: skip
def test_exit_codes_of_the_checker(tmp_path: Path, words: list[str], code: int, text: str) -> None:
    (tmp_path / "pool").write_bytes(bytes(64))
    done = subprocess.run([CHECK, *words], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, text in done.stderr) == (code, True), done.stderr
    assert len(done.stderr.splitlines()) == (0 if code == 0 else 1)


def test_the_manual_has_the_options_and_exit_codes_of_the_checker() -> None:
    page = (Path(__file__).resolve().parents[3] / "doc/rpma-fio-check.1").read_text(encoding="utf-8")
    told = subprocess.run([CHECK, "--help"], capture_output=True, text=True, check=True).stdout
    options = page.partition(".Sh OPTIONS\n")[2].partition("\n.Sh ")[0]
    assert set(re.findall(r"^\.It Fl \w , -(\w+)", options, re.MULTILINE)) == set(re.findall(r", --(\w+)", told))
    assert re.findall(r"^\.It (\d+)$", page, re.MULTILINE) == ["0", "1", "2", "3", "64"]
