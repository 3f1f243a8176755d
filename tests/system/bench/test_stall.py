# SPDX-License-Identifier: BSD-3-Clause
"""A target that stands still for 100 ms while 10,000 operations a second are to be done.

An open loop owes the operations that were planned meanwhile and counts how late they are;
a closed loop waits with the target and has one slow sample. Both have to say so. How
late each operation was follows from the device's stamps and the plan, so what a busy machine
adds is expected as well.
"""

import re
from pathlib import Path

import pytest
from device_truth import Run, Sample, bucket_width, measure, rank_of, samples_of, sorted_lows

RATE = 10_000
PERIOD_NS = 10**9 // RATE
STALL_NS = 100_000_000
STALL_OPS = STALL_NS // PERIOD_NS
# a warm-up has fewer operations than that, and a measurement goes beyond it
STALLED = "delay:op=write,at=12000,time=100ms"
OPTIONS = ["--op", "write", "--size", "64", "--warmup", "200ms"]
TOLERANCE = 0.01
NEAR_NS = 5_000  # from the planned time to the device, and the begin of the plan
UNSEEN = 10  # operations for which that took longer


def stalled(samples: list[Sample]) -> int:
    (at,) = [at for at, one in enumerate(samples) if one.delay_ns >= STALL_NS]
    return at


@pytest.fixture(scope="module")
def rate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, list[Sample], list[int]]:
    """The run, its operations, and when each was planned by the device's clock."""
    run = measure(tmp_path_factory.mktemp("rate"), [STALLED], "--test", "rate", "--rate",
                  str(RATE), "--depth", "1", "--duration", "3s", *OPTIONS)  # fmt: skip
    samples = samples_of(run, ("write",))
    begin = min(one.posted_ns - at * PERIOD_NS for at, one in enumerate(samples))
    return run, samples, [begin + at * PERIOD_NS for at in range(len(samples))]


def slow_ones(run: Run, samples: list[Sample]) -> tuple[int, int]:
    """How many took as long as the stall: by the result, and by the device, whose stamps lie between the tool's."""
    bucket_ns = next(low for low in sorted_lows(run.repeat["latency"])
                     if low + bucket_width(low) > STALL_NS)  # fmt: skip
    return (sum(low >= bucket_ns for low in sorted_lows(run.repeat["latency"])),
            sum(one.latency_ns >= bucket_ns for one in samples))  # fmt: skip


def late(samples: list[Sample], plan: list[int], more_than_ns: int) -> list[int]:
    return [
        at
        for at, (one, planned) in enumerate(zip(samples, plan, strict=True))
        if one.posted_ns - planned > more_than_ns
    ]


def test_the_stall_makes_a_thousand_operations_late(rate) -> None:
    run, samples, plan = rate
    at = stalled(samples)
    behind = [i for i in late(samples, plan, PERIOD_NS) if at < i <= at + STALL_OPS]
    assert STALL_OPS - 5 <= len(behind) <= STALL_OPS
    least = len(late(samples, plan, PERIOD_NS + NEAR_NS)) - UNSEEN
    most = len(late(samples, plan, PERIOD_NS - NEAR_NS)) + UNSEEN
    print(f"\n{run.repeat['late_ops']} late operations, {len(behind)} of them behind the stall")
    assert least <= run.repeat["late_ops"] <= most
    assert run.repeat["max_lag_ns"] >= STALL_NS - 2 * PERIOD_NS


def test_the_response_latency_counts_from_the_plan(rate) -> None:
    run, samples, plan = rate
    true = sorted(one.polled_ns - planned for one, planned in zip(samples, plan, strict=True))
    for percentile in run.repeat["response_latency"]["percentiles"]:
        if percentile["ns"] is None:
            continue
        rank = rank_of(len(true), percentile["p"])
        low, high = true[max(0, rank - UNSEEN)], true[min(rank + UNSEEN, len(true) - 1)]
        width = bucket_width(int(percentile["ns"])) + NEAR_NS
        assert low * (1 - TOLERANCE) - width <= percentile["ns"] <= high * (1 + TOLERANCE) + width
    # the stall delays them by 100 ms, 99.9 ms, 99.8 ms...: more than a quarter of them by 75 ms
    behind = sum(low > 3 * STALL_NS // 4 for low in sorted_lows(run.repeat["response_latency"]))
    assert behind >= STALL_OPS // 4 - 5


def test_the_service_latency_hides_it(rate) -> None:
    run, samples, _ = rate
    shown, true = slow_ones(run, samples)
    assert true <= shown < STALL_OPS // 100  # one, but for what else stood still as long


def test_late_operations_are_explained(rate) -> None:
    run, _, _ = rate
    text = run.warning("LATE_OPS")
    assert f"{run.repeat['late_ops']} operations" in text
    assert "response latency" in text
    assert text in run.said


@pytest.fixture(scope="module")
def lat(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, list[Sample]]:
    faults = ["delay:op=write,time=80us", STALLED]
    run = measure(tmp_path_factory.mktemp("lat"), faults, "--test", "lat", "--ops", "30000",
                  *OPTIONS)  # fmt: skip
    return run, samples_of(run, ("write",))


def test_a_closed_loop_has_one_slow_sample(lat) -> None:
    run, samples = lat
    stalled(samples)
    shown, true = slow_ones(run, samples)
    assert true <= shown < STALL_OPS // 100
    assert run.repeat["latency"]["max_ns"] >= STALL_NS


def test_a_hidden_stall_is_explained(lat) -> None:
    run, _ = lat
    text = run.warning("STALL_HIDDEN")
    latency = run.repeat["latency"]
    missing = re.search(r"about (\d+) operations", text)
    assert missing
    assert int(missing[1]) == pytest.approx(latency["max_ns"] / latency["percentiles"][0]["ns"], rel=0.02)
    assert "--test rate" in text
    assert text in run.said
