# SPDX-License-Identifier: BSD-3-Clause
"""The latencies of rpma-bench against what the device knows of every operation.

Noise is in both: who is switched out while an operation is on its way waits for it longer.
What is in one alone lies between a stamp of the tool and the device's next to it; the device
sees these pauses, as time between two operations, so they are counted, not guessed. So a
busy machine cannot fail this test, and figures that were not measured cannot pass it.
"""

import os
import statistics

import pytest
from device_truth import Run, Sample, bucket_width, measure, rank_of, samples_of, sorted_lows

MEASURED = "RPMA_MEASURED" in os.environ  # on a quiet machine, for the samples that p99.9 needs
LENGTH = ["--duration", "4s"] if MEASURED else ["--ops", "4000"]
OPTIONS = ["--test", "lat", "--size", "64", "--warmup", "50ms", *LENGTH]
LOGNORMAL = "delay:op={},median=50us,sigma=0.3"
BIMODAL = "delay:op={},median=50us,sigma=0.2 delay:op={},every=100,time=500us"
SLOW_NS = 500_000
TOLERANCE = 0.01
CLOCK = 2e-4  # between the two clocks: each may be off by 100 ppm
CASES: dict[str, tuple[str, tuple[str, ...], list[str]]] = {
    "lognormal-write": (LOGNORMAL, ("write",), []),
    "bimodal-read": (BIMODAL, ("read",), ["--op", "read"]),
    "lognormal-write-flush": (LOGNORMAL, ("write", "flush"), ["--persist", "apm"]),
}


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


def paused(samples: list[Sample]) -> list[Sample]:
    """Those around which more time passed than the tolerance and what the tool always takes."""
    usual = 2 * statistics.median(one.before_ns for one in samples)
    return [
        one
        for one in samples
        if one.before_ns + one.after_ns > usual + TOLERANCE * one.latency_ns
    ]


def test_percentiles_are_those_of_the_device(case: tuple[Run, list[Sample]]) -> None:
    run, samples = case
    true = sorted(one.latency_ns for one in samples)
    lows = sorted_lows(run.repeat["latency"])
    switched = paused(samples)
    checked = 0
    for percentile in run.repeat["latency"]["percentiles"]:
        if percentile["ns"] is None or percentile["p"] > 0.999:
            continue
        ns, rank = percentile["ns"], rank_of(len(true), percentile["p"])
        wanted = true[rank]
        print(f"p{100 * percentile['p']:g}: {ns:.1f} ns, the device {wanted} ns: "
              f"{100 * (ns / wanted - 1):+.2f} %")  # fmt: skip
        checked += 1
        assert lows[rank] - 0.5 <= ns <= lows[rank] + bucket_width(lows[rank]) - 0.5
        assert ns >= wanted * (1 - TOLERANCE) - bucket_width(wanted)
        if ns <= wanted * (1 + TOLERANCE) + bucket_width(wanted):
            continue
        # more than that only where the device saw the thread pause, one operation a rank
        wanted = true[min(rank + len(switched), len(true) - 1)]
        print(f"  {len(switched)} operations with a pause around them, up to "
              f"{max(one.before_ns + one.after_ns for one in switched)} ns; "
              f"{run.repeat['threads'][0]['invol_switches']} involuntary switches")  # fmt: skip
        assert ns <= wanted * (1 + TOLERANCE) + bucket_width(wanted)
        # a pause lies between two operations, and so around both
        assert len(switched) <= 2 * run.repeat["threads"][0]["invol_switches"]
    # a percentile is known from 10 samples beyond it on; a busy machine may leave p99.9 and p99 out
    assert checked == sum(len(true) * (1 - p["p"]) > 9.999 for p in run.repeat["latency"]["percentiles"]
                          if p["p"] <= 0.999) >= 3  # fmt: skip


def test_the_slow_mode_is_one_in_a_hundred(case: tuple[Run, list[Sample]]) -> None:
    run, samples = case
    delayed = sum(one.delay_ns >= SLOW_NS for one in samples)
    wanted = len(samples) / 100 if "every=100" in run.faults else 0
    seen = sum(low + bucket_width(low) > SLOW_NS for low in sorted_lows(run.repeat["latency"]))
    assert abs(delayed - wanted) <= 1
    assert seen >= delayed
