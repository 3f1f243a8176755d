# SPDX-License-Identifier: BSD-3-Clause
"""What rpma-bench reports, against what the software device was asked to do.

The device counts every posted operation by kind and by queue; a figure that was made up
would not equal its count. Each run ends after N operations, without a warm-up, so the
counts are known to the last one.
"""

import itertools
import json
import math
import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from check_result import check_document
from soft_trace import Trace, take_traces

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
BENCH = os.environ["RPMA_BENCH"]
NATIVE = os.environ["RPMA_NATIVE"] == "1"  # whether librpma was built to use what the device has
SHARED = os.environ["RPMA_TOOLS_SHARED"] == "1"
OPS = 300
SIZE = 1000  # as large as nothing else that is posted


class Run:
    """Two repeats of one point, and the traces of client and server."""

    def __init__(self, directory: Path, *options: str, ops: int = OPS, faults: Sequence[str] = ()) -> None:
        name = str(directory / "posted.%p")
        command = [LAUNCHER, "-f", f"trace:{name}", *faults, BENCH, "local", "--json", "--quiet"]
        command += ["--repeats", "2", "--warmup", "0", *options]
        command += [] if "--target" in options else ["--target", "dram:4M"]  # made sooner than 64 MiB
        command += ["--ops", str(ops)] if ops else []
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        self.document: dict[str, Any] = json.loads(done.stdout)
        check_document(self.document, "--verify" in options)
        (point,) = self.document["points"]
        self.params: dict[str, Any] = point["params"]
        self.repeats: list[dict[str, Any]] = point["repeats"]
        self.traces: list[Trace] = take_traces(name)
        assert not any(trace.overflowed for trace in self.traces)

    def total(self, key: str) -> int:
        return sum(repeat[key] for repeat in self.repeats)

    def posted(self, kind: str, size: int | None = None) -> int:
        """By either process, of this size."""
        return sum(self.posted_by(kind, size))

    def posted_by(self, kind: str, size: int | None = None) -> list[int]:
        """The same of each process, most first; a process without any is left out."""
        counts = (
            sum(one.kind == kind and size in (None, one.bytes) for one in trace.operations)
            for trace in self.traces
        )
        return sorted(filter(None, counts), reverse=True)

    def posted_by_queue(self, kind: str, size: int) -> Counter[int]:
        """In the process that posted most of them."""
        queues = (
            Counter(o.qpn for o in t.operations if (o.kind, o.bytes) == (kind, size))
            for t in self.traces
        )
        return max(queues, key=lambda one: one.total())


@pytest.fixture
def run(tmp_path: Path):
    return lambda *options, **more: Run(tmp_path, *options, **more)


@pytest.mark.parametrize(("test", "op"), [("lat", "write"), ("bw", "read"), ("bw", "write-imm")])
def test_operations_and_bytes_are_the_devices(run, test: str, op: str) -> None:
    made = run("--test", test, "--op", op, "--size", str(SIZE))
    assert made.total("ops") == 2 * OPS == made.posted(op, SIZE)
    assert made.total("bytes") == 2 * OPS * SIZE
    assert made.posted_by(op, SIZE) == [2 * OPS]  # by the client alone


def refused(*calls: int) -> list[str]:
    """The client's and the server's queue pairs with native operations, by the call that makes them."""
    return [word for at in calls for word in ("-f", f"call:name=rdma_create_qp_ex,at={at}")]


# librpma asks for flush and atomic write, for the atomic write alone, for neither, and for what
# is native first with lists of all operations, then without; here for three connections: that of
# the control messages, and one for each repeat.
NO_FLUSH = refused(1, 2, 4, 5, 7, 8) if NATIVE else []
NOTHING_NATIVE = refused(1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14) if NATIVE else []
DEVICES = [pytest.param([], id="as it is")]
if NATIVE:
    DEVICES += [pytest.param(NO_FLUSH, id="no native flush"),
                pytest.param(NOTHING_NATIVE, id="nothing native")]  # fmt: skip


def check_atomic_writes(made: Run, count: int) -> None:
    """By the device's own count of each kind, all are of the one that the result names."""
    kind, other = ("atomic-write", "write")
    if made.params["atomic_write_method"] == "write":
        kind, other = other, kind
    assert (made.posted(kind, 8), made.posted(other, 8)) == (count, 0)
    assert all(r["used"]["atomic_write_method"] == made.params["atomic_write_method"] for r in made.repeats)


def is_native(made: Run) -> bool:
    return bool(made.posted("atomic-write"))


@pytest.mark.parametrize("faults", DEVICES)
def test_an_atomic_write_is_what_the_device_did(run, faults: list[str]) -> None:
    made = run("--op", "atomic-write", faults=faults)
    assert made.total("bytes") == 2 * OPS * 8
    assert is_native(made) == (NATIVE and len(faults) <= len(NO_FLUSH))
    check_atomic_writes(made, 2 * OPS)


def test_a_build_without_native_operations_is_told(run) -> None:
    told = run("--op", "read", "--size", "64").document["tool"]["librpma_native"]
    assert told is (None if SHARED else NATIVE)


def test_a_message_is_answered_by_one_of_its_size(run) -> None:
    made = run("--op", "send", "--size", str(SIZE))
    assert made.posted_by("send", SIZE) == [2 * OPS, 2 * OPS]
    assert made.total("requests") == 2 * OPS


@pytest.mark.parametrize("pattern", ["seq", "zipf"])
def test_mixed_sizes_have_their_shares(run, pattern: str) -> None:
    """10,000 operations have them exactly."""
    made = run("--size", f"{SIZE}/60:{2 * SIZE}/40", "--pattern", pattern, ops=10_000)
    assert made.params["size_bytes"] == SIZE * 1.4
    assert made.params["size_mix"] == [{"size_bytes": SIZE, "percent": 60}, {"size_bytes": 2 * SIZE, "percent": 40}]
    assert (made.posted("write", SIZE), made.posted("write", 2 * SIZE)) == (12_000, 8_000)
    assert [repeat["bytes"] for repeat in made.repeats] == [14_000 * SIZE] * 2
    assert made.params.get("zipf_theta") == (0.99 if pattern == "zipf" else None)


def test_a_shared_queue_serves_all_connections(run) -> None:
    made = run("--op", "send", "--srq", "--size", str(SIZE), "--connections", "3")
    assert made.params["srq"] is True
    assert made.posted_by("send", SIZE) == [2 * OPS, 2 * OPS]
    assert made.total("requests") == 2 * OPS


@pytest.mark.parametrize(("srq", "status"), [([], 0), (["--srq"], 2)])
def test_only_srq_has_a_shared_queue(srq: list[str], status: int) -> None:
    """Where none can be made, a run that asks for one cannot be."""
    command = [LAUNCHER, "-f", "call:name=ibv_create_srq,errno=ENOMEM", BENCH, "local", "--quiet"]
    command += ["--op", "send", "--size", "64", "--ops", "100", "--warmup", "0", "--repeats", "1"]
    done = subprocess.run([*command, *srq], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == status, done.stderr
    assert ("cannot make a shared receive queue" in done.stderr) == bool(srq)


def test_apm_reads_after_each_write(run) -> None:
    made = run("--persist", "apm", "--size", str(SIZE))
    assert made.posted("write", SIZE) == 2 * OPS
    flushes = made.posted("read" if made.params["flush_method"] == "read" else "flush")
    assert flushes == 2 * OPS


@pytest.mark.parametrize("persist", ["gpspm", "gpspm-rt"])
def test_the_server_persists_each_write_on_request(run, persist: str) -> None:
    made = run("--persist", persist, "--size", str(SIZE))
    assert made.posted_by("write", SIZE) == [2 * OPS]
    assert made.total("requests") == 2 * OPS
    # a request each, an answer each, and what control messages there are
    assert all(2 * OPS <= count < 2 * OPS + 100 for count in made.posted_by("send"))
    assert made.posted("read") == made.posted("flush") == 0


@pytest.mark.parametrize("faults", DEVICES)
def test_an_append_commits_by_an_atomic_write(run, faults: list[str]) -> None:
    made = run("--persist", "append", "--size", str(SIZE), "--verify", faults=faults)
    # one more in each repeat shows how atomic writes complete
    records = 2 * OPS + 2
    assert made.posted("write", SIZE) == records
    assert is_native(made) == (NATIVE and len(faults) <= len(NO_FLUSH))
    check_atomic_writes(made, records)
    flushes = (made.posted("flush"), made.posted("read"))
    native = made.params["flush_method"] == "native"
    assert native == (NATIVE and not faults)
    # the one more is not flushed a second time
    assert flushes == ((records + 2 * OPS, 0) if native else (0, records + 2 * OPS))


def test_auto_says_what_it_chose(run) -> None:
    made = run("--persist", "auto", "--size", str(SIZE))
    (text,) = (w["text"] for w in made.document["run"]["warnings"] if w["code"] == "PERSIST_CHOSEN")
    assert f"chose {made.params['persist']}" in text
    assert made.params["persist"] in ("apm", "native")
    # one more probes how flushes complete
    assert made.posted("write", SIZE) in (2 * OPS, 2 * OPS + 1)


def test_a_mix_is_of_writes_and_reads(run) -> None:
    made = run("--test", "mix", "--read-fraction", "0.25", "--size", str(SIZE))
    assert made.posted("read", SIZE) == made.total("read_ops")
    assert made.posted("write", SIZE) == made.total("ops") - made.total("read_ops")
    assert made.total("ops") == 2 * OPS


def test_both_directions_are_measured(run) -> None:
    made = run("--bidirectional", "--test", "bw", "--size", str(SIZE), "--duration", "100ms", ops=0)
    reverse = sum(repeat["reverse"]["ops"] for repeat in made.repeats)
    assert made.posted_by("write", SIZE) == sorted([made.total("ops"), reverse], reverse=True)


def test_each_thread_has_its_connections(run) -> None:
    made = run("--threads", "2", "--connections", "2", "--size", str(SIZE), "--test", "bw",
               "--pin", "none")  # fmt: skip
    queues = made.posted_by_queue("write", SIZE)
    assert len(queues) == 2 * 2 * 2  # threads x connections, new ones each repeat
    assert queues.total() == made.total("ops") == 2 * OPS
    shares = [sum(pair) for pair in itertools.combinations(queues.values(), 2)]
    assert all(t["ops"] in shares for repeat in made.repeats for t in repeat["threads"])


def test_one_in_so_many_is_signalled(run) -> None:
    made = run("--test", "bw", "--signal-every", "4", "--size", str(SIZE))
    posted = [o for t in made.traces for o in t.operations if (o.kind, o.bytes) == ("write", SIZE)]
    assert len(posted) == 2 * OPS
    signalled = sum(one.signaled for one in posted)
    assert signalled == sum(repeat["latency"]["count"] for repeat in made.repeats)
    assert signalled < 2 * OPS / 3


def doorbells(at_most: int) -> list[str]:
    """One more by ibv_post_send() in a process fails."""
    return ["-f", f"call:name=ibv_post_send,at={at_most + 1}"]


# test_operation.c has that all others of a batch are posted with RPMA_F_MORE
@pytest.mark.parametrize(("kind", "option"), [("read", "--op=read"), ("write", "--persist=apm"), ("write", "--persist=append")])
def test_a_batch_has_one_doorbell(run, kind: str, option: str) -> None:
    others = 100  # messages, and what probes
    faults = [*NOTHING_NATIVE, *doorbells(2 * math.ceil(OPS / 8) + others)]
    made = run("--test", "bw", "--batch", "8", "--size", str(SIZE), option, faults=faults)
    assert made.params["batch"] == made.params["signal_every"] == 8
    assert made.total("ops") == 2 * OPS
    assert made.posted(kind, SIZE) in (2 * OPS, 2 * OPS + 2)


def test_both_sides_post_batches(run) -> None:
    """Whole ones. With room for 20, single posts end at other numbers."""
    made = run("--bidirectional", "--test", "bw", "--batch", "8", "--signal-every", "1", "--depth", "20",
               "--size", str(SIZE), "--duration", "100ms", ops=0)  # fmt: skip
    for repeat in made.repeats:
        assert (repeat["ops"] % 8, repeat["reverse"]["ops"] % 8) == (0, 0)


def test_an_open_loop_keeps_to_its_plan(run) -> None:
    made = run("--test", "rate", "--rate", "5000", "--size", str(SIZE), "--duration", "200ms", ops=0)
    # what a busy machine had no time for was planned, too, and is counted
    assert [repeat["ops"] + repeat["unbegun_ops"] for repeat in made.repeats] == [1000, 1000]
    assert made.posted("write", SIZE) == made.total("ops")


@pytest.mark.parametrize(("threads", "duration", "ops"), [("1", "100ms", 1), ("2", "2100ms", 3)])
def test_a_short_plan_has_the_rate_of_its_plan(run, threads: str, duration: str, ops: int) -> None:
    """One a second, the first at once: each takes a second of the plan, the last one too."""
    made = run("--test", "rate", "--rate", "1", "--size", str(SIZE), "--duration", duration,
               "--threads", threads, "--pin", "none", ops=0)  # fmt: skip
    for repeat in made.repeats:
        assert (repeat["ops"], repeat["elapsed_ns"]) == (ops, ops * 1_000_000_000)
        assert repeat["ops_per_s"] == 1


def test_registrations_are_timed_by_the_server(run) -> None:
    made = run("--test", "register", "--size", "64K", ops=50)
    assert made.total("ops") == 100
    assert made.params["size_bytes"] == 65536
    assert made.posted("write") == made.posted("read") == 0


def test_another_program_on_the_same_cpu_shows_as_interference(tmp_path: Path) -> None:
    """One CPU for all: the scheduler gives the program its share of it."""
    cpu = str(min(os.sched_getaffinity(0)))
    spin = ["taskset", "-c", cpu, "sh", "-c", "while :; do :; done"]
    command = ["taskset", "-c", cpu, BENCH, "local", "--device", "soft", "--json", "--quiet", "--pin", "none",
               "--size", "64", "--repeats", "3", "--warmup", "0", "--duration", "500ms"]  # fmt: skip
    with subprocess.Popen(spin) as other:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        finally:
            other.kill()
    (point,) = json.loads(done.stdout)["points"]
    for end in ("client", "server"):
        # a hypervisor may hold the CPU, and its counters
        known = [(seen, r["elapsed_ns"]) for r in point["repeats"] if (seen := r["interference"][end])]
        assert known and all(seen["cpus"] == 1 for seen, _ in known)
        # a fair share of three runnable processes is a third, of the time that the hypervisor leaves
        told = [(seen["other_cpu_ns"], ns) for seen, ns in known if seen["other_cpu_ns"] is not None]
        assert sum(other for other, _ in told) >= sum(ns for _, ns in told) // 10, told
        assert any(seen["other_cpu_ns"] for seen, _ in known)
