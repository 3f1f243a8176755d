# SPDX-License-Identifier: BSD-3-Clause
"""A run of rpma-bench under the software device, and the device's record of it.

The device stamps an operation within the calls that post it and that poll its completion,
so what the tool measures around these calls contains what the device measured, and lies
itself within the time from the device's stamp before to its stamp after.
"""

import json
import math
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from soft_trace import Trace, take_traces

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
BENCH = os.environ["RPMA_BENCH"]
LIMIT_S = 240
SUB_BITS = 7  # a bucket is at most 1/128 of its value wide


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


def rank_of(count: int, p: float) -> int:
    """From 0: the least value that a share p of the samples does not exceed."""
    return max(0, math.ceil(count * p - 1e-6) - 1)


def sorted_lows(latency: dict) -> list[int]:
    """The least value that each sample of the result may have had, in ascending order."""
    return [low for low, count in latency["histogram"]["buckets"] for _ in range(count)]
