# SPDX-License-Identifier: BSD-3-Clause
"""Searches for a rate and arrivals, over a device whose service time is known.

A write that is delayed by S on the only connection of depth 1 is served one at a time, so no more
than 1 / S complete in a second, whatever the machine does: upper bounds are arithmetic and hold on
a busy machine too. What holds on a quiet machine alone has the mark `quiet`.
"""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from check_result import check_document

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
BENCH = os.environ["RPMA_BENCH"]
quiet = pytest.mark.quiet


def bench(service: str, *options: str, status: tuple[int, ...] = (0,)) -> tuple[dict, str]:
    """The result, and what was on standard error: the table and the warnings."""
    command = [LAUNCHER, "-f", f"delay:op=write,time={service}", BENCH, "local", "--json", "--target", "dram:4M"]
    run = subprocess.run([*command, "--test", "rate", "--depth", "1", "--size", "64", *options],
                         capture_output=True, text=True, timeout=300, check=False)  # fmt: skip
    assert run.returncode in status, run.stdout + run.stderr
    return json.loads(run.stdout), run.stderr


def search_of(document: dict) -> dict:
    check_document(document, False)
    (search,) = document["run"]["searches"]
    return search


def check_trials(document: dict, search: dict, repeats: int) -> None:
    """Each trial is a point, its repeats are all there, and its verdict is what they say."""
    points = {point["id"]: point for point in document["points"]}
    for trial in search["trials"]:
        point = points[trial["point"]]
        assert point["params"]["target_rate_per_s"] == trial["rate_per_s"]
        assert len(point["repeats"]) == repeats * (1 + trial["again"])
    rates = {kept: [one["rate_per_s"] for one in search["trials"] if one["kept"] is kept] for kept in (True, False)}
    assert search["highest_kept_per_s"] == max(rates[True], default=None)
    assert search["lowest_missed_per_s"] == min(rates[False], default=None)


def test_no_rate_beyond_the_service_time_is_kept() -> None:
    """4 ms each are 250/s; a plan of 150 ms may take 0.5 % and a period more, so 38 operations, not 39."""
    document, said = bench("4ms", "--find-rate", "response.mean<1s", "--rate", "200:400", "--repeats", "1",
                           "--duration", "150ms", "--warmup", "0", status=(0, 1))  # fmt: skip
    search = search_of(document)
    assert search["verdict"] in ("found", "unclear", "missed"), search
    check_trials(document, search, 1)
    assert (search["highest_kept_per_s"] or 0) <= 260
    assert "response.mean<1s: " in said


def test_a_search_without_a_bracket_begins_in_a_closed_loop() -> None:
    document, _ = bench("4ms", "--find-rate", "response.mean<1s", "--repeats", "1", "--duration", "150ms",
                        "--warmup", "0", status=(0, 1))  # fmt: skip
    search = search_of(document)
    closed = document["points"][0]
    assert closed["params"]["test"] == "bw" and closed["repeats"][0]["ops_per_s"] <= 250
    assert search["trials"][0]["rate_per_s"] == max(1, int(closed["repeats"][0]["ops_per_s"] / 2))
    check_trials(document, search, 1)
    assert (search["highest_kept_per_s"] or 0) <= 260


def test_a_limit_below_the_service_time_is_missed_at_every_rate() -> None:
    document, said = bench("4ms", "--find-rate", "response.min_ns<3900000", "--rate", "20:40", "--repeats", "1",
                           "--duration", "200ms", "--warmup", "0", status=(1,))  # fmt: skip
    search = search_of(document)
    assert (search["verdict"], search["lowest_missed_per_s"], search["highest_kept_per_s"]) == ("missed", 20, None)
    assert [one["again"] for one in search["trials"]] == [True]
    assert "missed even at 20/s" in said
    assert document["run"]["exit_code"] == 1


@quiet
@pytest.mark.parametrize("service_us", [200, 1000])
def test_the_knee_of_a_known_service_time_is_found(service_us: int) -> None:
    document, _ = bench(f"{service_us}us", "--find-rate", f"response.p50<{3 * service_us}us", "--repeats", "3",
                        "--duration", "2s", "--warmup", "100ms")  # fmt: skip
    search = search_of(document)
    wanted = 1e6 / service_us
    print(f"\n{service_us} us: {search['verdict']}, kept {search['highest_kept_per_s']}, "
          f"missed {search['lowest_missed_per_s']}, wanted {wanted:.0f}")  # fmt: skip
    assert search["verdict"] == "found"
    assert search["highest_kept_per_s"] == pytest.approx(wanted, rel=0.03)
    assert search["gap_fraction"] <= 0.015
