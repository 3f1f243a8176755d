# SPDX-License-Identifier: BSD-3-Clause
"""The latencies of rpma-bench against what the device knows of every operation.

Noise is in both: who is switched out while an operation is on its way waits for it longer.
The device stamps it within the calls that post it and that poll its completion, so what the tool
measures around these contains what the device measured; what is in one alone lies between a stamp of
the tool and the device's next to it. The device sees these pauses, as time between two operations, so
they are counted, not guessed. So a busy machine cannot fail this test, and figures that were not
measured cannot pass it.
"""

import json
import os
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from soft_trace import Trace, take_traces

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
BENCH = os.environ["RPMA_BENCH"]
LIMIT_S = 240
SUB_BITS = 7  # a bucket is at most 1/128 of its value wide
OPTIONS = ["--test", "lat", "--size", "64", "--warmup", "50ms", "--ops", "4000"]
LOGNORMAL = "delay:op={},median=50us,sigma=0.3"
BIMODAL = "delay:op={},median=50us,sigma=0.2 delay:op={},every=100,time=500us"
SLOW_NS = 500_000
CLOCK = 2e-4  # between the two clocks: each may be off by 100 ppm
CASES: dict[str, tuple[str, tuple[str, ...], list[str]]] = {
    "lognormal-write": (LOGNORMAL, ("write",), []),
    "bimodal-read": (BIMODAL, ("read",), ["--op", "read"]),
    "lognormal-write-flush": (LOGNORMAL, ("write", "flush"), ["--persist", "apm"]),
}


@dataclass
class Run:
    """One repeat of one point, from both sides."""

    faults: str
    repeat: dict
    trace: Trace  # the process that measured


def words_of(faults: list[str]) -> list[str]:
    return [option for fault in faults for option in ("-f", fault)]


def measure(directory: Path, faults: list[str], *options: str) -> Run:
    """rpma-bench in one process and its server in another; they have the same faults."""
    name = str(directory / "posted.%p")
    command = [LAUNCHER, *words_of([f"trace:{name}", *faults]), BENCH, "local", "--repeats", "1", "--target", "dram:1M"]
    run = subprocess.run([*command, "--json", *options], capture_output=True, text=True,
                         timeout=LIMIT_S, check=False)  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    result = json.loads(run.stdout)
    (point,) = result["points"]
    (repeat,) = point["repeats"]
    # the measuring process posts all but the answers
    trace = max(take_traces(name), key=lambda one: len(one.operations))
    assert not trace.overflowed
    return Run(" ".join(faults), repeat, trace)


@dataclass
class Sample:
    """One operation of the tool, by the device's clock; its requests follow each other."""

    posted_ns: int
    polled_ns: int
    delay_ns: int
    before_ns: int  # since the device was last heard of: the tool's stamp of the post is within
    after_ns: int  # until the device is heard of again; None: never

    @property
    def latency_ns(self) -> int:
        return self.polled_ns - self.posted_ns


def samples_of(run: Run, kinds: tuple[str, ...]) -> list[Sample]:
    """The measured operations, each of requests of these kinds: the last ones of their queue."""
    count = run.repeat["ops"]
    requests = [one for one in run.trace.operations if one.kind in kinds]
    assert len({one.qpn for one in requests}) == 1
    assert tuple(one.kind for one in requests) == kinds * (len(requests) // len(kinds))
    whole = [requests[at : at + len(kinds)] for at in range(0, len(requests), len(kinds))]
    # all that was posted is in the result, as warm-up or as measured
    assert len(whole) == run.repeat["warmup"]["ops"] + count
    return [
        Sample(
            posted_ns=one[0].posted_ns,
            polled_ns=one[-1].polled_ns,
            delay_ns=sum(request.delay_ns for request in one),
            before_ns=one[0].posted_ns - whole[at - 1][-1].polled_ns,
            after_ns=whole[at + 1][0].posted_ns - one[-1].polled_ns if at + 1 < len(whole) else 0,
        )
        for at, one in list(enumerate(whole))[-count:]
    ]


def bucket_width(ns: int) -> int:
    return 1 if ns < 1 << SUB_BITS else 1 << (ns.bit_length() - 1 - SUB_BITS)


def sorted_lows(latency: dict) -> list[int]:
    """The least value that each sample of the result may have had, in ascending order."""
    return [low for low, count in latency["histogram"]["buckets"] for _ in range(count)]


@pytest.fixture(params=list(CASES), scope="module")
def case(request, tmp_path_factory) -> tuple[Run, list[Sample]]:
    distribution, kinds, options = CASES[request.param]
    faults = distribution.format(kinds[-1], kinds[-1]).split()
    run = measure(tmp_path_factory.mktemp(request.param), faults, *OPTIONS, *options)
    return run, samples_of(run, kinds)


def test_every_operation_is_a_sample(case: tuple[Run, list[Sample]]) -> None:
    run, samples = case
    latency = run.repeat["latency"]
    assert latency["count"] == len(samples) == len(sorted_lows(latency))
    assert min(one.latency_ns for one in samples) <= latency["min_ns"]
    assert max(one.latency_ns for one in samples) <= latency["max_ns"] * (1 + CLOCK)


def test_no_sample_is_outside_of_what_the_device_allows(case: tuple[Run, list[Sample]]) -> None:
    """Each sample contains the device's and lies within the pauses around it, so the sorted
    ones do as well, one by one."""
    run, samples = case
    least = sorted(one.latency_ns for one in samples)
    most = sorted(one.latency_ns + one.before_ns + one.after_ns for one in samples[:-1])
    most.append(run.repeat["latency"]["max_ns"])  # the device is not heard of after the last one
    most.sort()
    for low, fewest, largest in zip(sorted_lows(run.repeat["latency"]), least, most, strict=True):
        assert low + bucket_width(low) > fewest * (1 - CLOCK)
        assert low <= largest * (1 + CLOCK)


def test_the_mean_is_that_of_the_device(case: tuple[Run, list[Sample]]) -> None:
    run, samples = case
    least = statistics.fmean(one.latency_ns for one in samples)
    pauses = statistics.fmean(one.before_ns + one.after_ns for one in samples)
    assert least * (1 - CLOCK) <= run.repeat["latency"]["mean_ns"] <= (least + pauses) * (1 + CLOCK)


def test_the_slow_mode_is_one_in_a_hundred(case: tuple[Run, list[Sample]]) -> None:
    run, samples = case
    delayed = sum(one.delay_ns >= SLOW_NS for one in samples)
    wanted = len(samples) / 100 if "every=100" in run.faults else 0
    seen = sum(low + bucket_width(low) > SLOW_NS for low in sorted_lows(run.repeat["latency"]))
    assert abs(delayed - wanted) <= 1
    assert seen >= delayed
