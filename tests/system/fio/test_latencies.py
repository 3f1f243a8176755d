# SPDX-License-Identifier: BSD-3-Clause
"""The latency that fio reports, where the device takes a time that is known.

A delay is a bound from below. From above there is one by arithmetic alone: with one operation at
a time all latencies together are not longer than the job was.
"""

from pathlib import Path
from typing import Any

import pytest
from fio_runs import KIB, Run, mostly_long, run_client
from soft_trace import read_traces

BLOCK = 4 * KIB
BLOCKS = 16
DELAY_NS = 3_000_000
MS = 1_000_000


def delayed(op: str) -> str:
    return f"delay:op={op},time={DELAY_NS}ns"


def job(anybody: Run, folder: Path, soft: str, **options: Any) -> dict[str, Any]:
    done = run_client(folder, anybody.port, soft=soft, **{"rw": "write", "bs": BLOCK, "size": BLOCKS * BLOCK, **options})
    return done.job


def check_sums(figures: dict[str, Any], count: int) -> None:
    """lat is slat and clat, of each and so in the mean; JSON has six digits after the point."""
    slat, clat, lat = (figures[name] for name in ("slat_ns", "clat_ns", "lat_ns"))
    assert clat["N"] == lat["N"] == count
    if slat["N"]:
        assert slat["N"] == count
        assert lat["mean"] == pytest.approx(slat["mean"] + clat["mean"], rel=1e-6, abs=1)
    assert lat["min"] >= clat["min"]


def check_total(document: dict[str, Any], *figures: dict[str, Any]) -> None:
    """One after the other, they all fit in the time the job ran; it is told in whole milliseconds."""
    assert sum(one["N"] * one["mean"] for one in figures) <= (document["job_runtime"] + 2) * MS


@pytest.mark.parametrize("sync", mostly_long([0, 1], 0))
@pytest.mark.parametrize(("rw", "op", "mode"), [("write", "write", "apm"), ("write", "write", "gpspm"), ("read", "read", "apm"),
                                                ("trim", "write", "apm")])  # fmt: skip
def test_an_operation_takes_its_delay(anybody: Run, tmp_path: Path, rw: str, op: str, mode: str, sync: int) -> None:
    found = job(anybody, tmp_path, delayed(op), rw=rw, mode=mode, sync=sync)
    assert found[rw]["clat_ns"]["min"] >= DELAY_NS
    check_sums(found[rw], BLOCKS)
    check_total(found, found[rw]["lat_ns"])


@pytest.mark.parametrize("sync", mostly_long([0, 1], 0))
@pytest.mark.parametrize(("mode", "op"), [("apm", "read"), ("gpspm", "send")])
def test_a_write_is_done_when_its_flush_is(anybody: Run, tmp_path: Path, mode: str, op: str, sync: int) -> None:
    found = job(anybody, tmp_path, delayed(op), mode=mode, sync=sync)
    assert found["write"]["clat_ns"]["min"] >= DELAY_NS
    check_total(found, found["write"]["lat_ns"])


@pytest.mark.parametrize(("mode", "op"), [("apm", "read"), ("gpspm", "send")])
def test_the_flush_of_fsync_is_in_its_own_latency(anybody: Run, tmp_path: Path, mode: str, op: str) -> None:
    found = job(anybody, tmp_path, delayed(op), mode=mode, flush="fsync", fsync=4)
    figures = found["sync"]["lat_ns"]
    assert found["sync"]["total_ios"] == figures["N"] == BLOCKS // 4 - 1  # none after the last write
    assert figures["min"] >= DELAY_NS
    check_total(found, figures, found["write"]["lat_ns"])


@pytest.mark.parametrize(("mode", "op"), [("apm", "read"), ("gpspm", "send")])
def test_with_sync_1_the_flush_is_in_the_latency_of_the_write(anybody: Run, tmp_path: Path, mode: str, op: str) -> None:
    """Each write is flushed at once, as O_SYNC asks; fsync then finds nothing to flush."""
    found = job(anybody, tmp_path, delayed(op), mode=mode, sync=1, flush="fsync", fsync=4)
    assert found["write"]["clat_ns"]["min"] >= DELAY_NS
    assert found["sync"]["total_ios"] == BLOCKS // 4 - 1
    check_total(found, found["sync"]["lat_ns"], found["write"]["lat_ns"])


def check_trace(anybody: Run, folder: Path, **options: Any) -> tuple[float, float]:
    """The mean of clat, and that of the device's trace from each write's post until its completion was polled."""
    name = str(folder / "posted.%p")
    found = job(anybody, folder, f"trace:{name} delay:op=read,time=5ms delay:op=write,time=1ms", flush="fsync", size=128 * BLOCK, **options)
    check_sums(found["write"], 128)
    times = [one.polled_ns - one.posted_ns for trace in read_traces(name) for one in trace.operations if one.kind == "write"]
    assert len(times) == 128
    return found["write"]["clat_ns"]["mean"], sum(times) / len(times)


@pytest.mark.parametrize("options", [{"fsync": 4, "iodepth": 4}, {"fsync": 1, "iodepth": 8, "iodepth_batch": 4}], ids=str)
def test_an_fsync_is_not_in_the_latency_of_writes_that_it_waited_for(anybody: Run, tmp_path: Path, options: dict[str, Any]) -> None:
    """Were it in there, most writes would take a flush of 5 ms more."""
    clat, posted = check_trace(anybody, tmp_path, **options)
    assert clat < posted + 2 * MS


@pytest.mark.long
def test_latencies_of_writes_among_fsyncs_are_those_of_the_trace(anybody: Run, tmp_path: Path) -> None:
    """Measured: between the device's clock and fio's there is only what the processor does."""
    clat, posted = check_trace(anybody, tmp_path, fsync=4, iodepth=4)
    assert clat == pytest.approx(posted, rel=0.02)


def test_writes_do_not_wait_for_what_nobody_asked_for(anybody: Run, tmp_path: Path) -> None:
    """All 16 together: were each flushed, the job would be 16 delays long, and it is told how long it was."""
    found = job(anybody, tmp_path, "delay:op=read,time=20s", flush="fsync")
    assert found["write"]["lat_ns"]["N"] == BLOCKS
    assert found["write"]["lat_ns"]["max"] < 20_000 * MS


@pytest.mark.parametrize("batch", [1, 8])
def test_each_of_many_in_flight_takes_its_delay(anybody: Run, tmp_path: Path, batch: int) -> None:
    found = job(anybody, tmp_path, delayed("write"), iodepth=8, iodepth_batch=batch, size=64 * BLOCK)
    assert found["write"]["clat_ns"]["min"] >= DELAY_NS
    check_sums(found["write"], 64)
    # eight at a time
    assert found["write"]["lat_ns"]["mean"] * 64 <= 8 * (found["job_runtime"] + 2) * MS


@pytest.mark.parametrize(
    ("options", "together"),
    [({}, True), ({"iodepth_batch_complete_max": 16}, True), ({"iodepth_batch_complete_max": 4}, False),
     ({"iodepth_batch_complete_min": 1}, False)],
    ids=str,
)  # fmt: skip
def test_completions_come_together_unless_the_job_says_otherwise(anybody: Run, tmp_path: Path, options: dict[str, Any], together: bool) -> None:
    """
    The 16 writes of a batch are done with their flush, and fio asks for one: the others would wait in the
    engine, and their latencies grow. fio's figure is the share of completions that came by so many.
    """
    found = job(anybody, tmp_path, "", iodepth=16, iodepth_batch=16, flush="batch", size=64 * BLOCK, **options)
    shares = found["iodepth_complete"]
    assert found["write"]["total_ios"] == 64
    assert shares["16"] == 100 if together else shares["4"] >= 75  # at its end fio asks for all that are left
