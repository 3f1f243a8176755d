# SPDX-License-Identifier: BSD-3-Clause
"""Limits over evidence that is whole, half, missing or contradictory: no exit status of 0 but for the whole.

A write takes 2 ms and more on the only connection of depth 1, so that at most 500 complete in a second: bounds are
arithmetic. Statuses are those of rpma-bench(1).
"""

import json
import os
import subprocess
from typing import NamedTuple

import pytest
from check_result import check_document

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
BENCH = os.environ["RPMA_BENCH"]
KEPT, MISSED, UNKNOWN = False, True, None


class Case(NamedTuple):
    evidence: str
    options: str
    slos: dict[str, bool | None]
    status: int
    faults: str = "delay:op=write,time=2ms"


CLOSED = "--size 64 --ops 40"
OVERLOADED = "--test rate --rate 2k --size 64 --duration 50ms"
BOTH_WAYS = "--size 64 --ops 40 --bidirectional"
SEARCH = "--test rate --depth 1 --size 64 --duration 100ms --repeats 1"
CASES = [
    Case("whole", CLOSED, {"lat.min>1999us": KEPT}, 0),
    Case("whole", CLOSED, {"lat.p50<1ms": MISSED}, 1),
    Case("whole", CLOSED, {"ops_per_s<=1000": KEPT, "lat.max<600s": KEPT}, 0),
    Case("whole, of both", CLOSED, {"lat.min>1999us": KEPT, "lat.p50<1ms": MISSED}, 1),
    Case("whole, of a plan that was not kept", OVERLOADED, {"unbegun_ops<=300": KEPT, "ops_per_s<=1000": KEPT}, 0),
    Case("half: half of the plan was begun", OVERLOADED, {"response.p90<3600s": UNKNOWN}, 3),
    Case("half: what was begun is fast enough", OVERLOADED, {"lat.max<600s": UNKNOWN}, 3),
    Case("half, and certain all the same", OVERLOADED, {"response.max<50ms": MISSED}, 1),
    Case("half: what is late is at least so much", OVERLOADED, {"late_ops<1M": UNKNOWN, "max_lag<600s": UNKNOWN}, 3),
    Case("half and whole", OVERLOADED, {"unbegun_ops<=300": KEPT, "response.mean<600s": UNKNOWN}, 3),
    Case("half and a miss", OVERLOADED, {"response.mean<600s": UNKNOWN, "ops_per_s>1k": MISSED}, 1),
    Case("half: one of two points cannot be served", "--size 64,64M --ops 40", {"lat.max<600s": KEPT}, 3),
    Case("missing: 40 operations have no p99", CLOSED, {"lat.p99<600s": UNKNOWN}, 3),
    Case("missing: a quantile below it misses", CLOSED, {"lat.p99<1ms": MISSED}, 1),
    Case("missing: nothing was verified", CLOSED, {"verify.mismatches<=0": UNKNOWN}, 3),
    Case("missing: no other direction", CLOSED, {"reverse.ops_per_s>0": UNKNOWN}, 3),
    Case("missing: no reads", CLOSED, {"read.max<600s": UNKNOWN}, 3),
    Case("whole: verified", CLOSED + " --verify", {"verify.mismatches<=0": KEPT}, 0),
    Case("contradictory: fast, and a byte is wrong", CLOSED + " --verify", {"lat.max<600s": KEPT}, 1,
         "corrupt:op=write,at=40"),
    Case("whole: both ways", BOTH_WAYS, {"reverse.ops_per_s>0": KEPT}, 0),
    Case("search, whole: kept at both ends", SEARCH + " --find-rate response.min<600s --rate 1:2", {}, 0),
    Case("search, whole: missed at the lowest", SEARCH + " --find-rate response.min<1ms --rate 1:2", {}, 1),
    Case("search, half: no rate was achieved", SEARCH + " --find-rate response.max<600s --rate 2000:2100", {}, 1),
    Case("search, missing: too few samples", SEARCH + " --find-rate response.p99.9<600s --rate 1:2", {}, 3),
    Case("search, half: one of two cannot be served", SEARCH.replace("64", "64,64M", 1)
         + " --find-rate response.min<600s --rate 1:2", {}, 3),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.evidence}: {' '.join(case.slos)}")
def test_a_limit_over(case: Case) -> None:
    command = [LAUNCHER, "-f", case.faults, BENCH, "local", "--target", "dram:1M", "--warmup", "0", "--json", "--depth", "1"]
    options = case.options.split()
    repeats = [] if "--repeats" in options else ["--repeats", "2"]
    slos = [word for slo in case.slos for word in ("--slo", slo)]
    if "--depth" in options:
        command = command[:-2]
    done = subprocess.run([*command, *options, *repeats, *slos], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == case.status, done.stderr
    document = json.loads(done.stdout)
    assert document["run"]["exit_code"] == case.status
    assert {slo["slo"]: slo["missed"] for slo in document["run"]["slos"]} == case.slos
    for slo, missed in case.slos.items():
        word = {KEPT: "kept", MISSED: "missed", UNKNOWN: "not known"}[missed]
        assert f"{slo}: {word}\n" in done.stderr
    check_document(document, "--verify" in options and case.status == 0)
