# SPDX-License-Identifier: BSD-3-Clause
"""Searches for a rate and arrivals, over a device whose service time is known.

A write that is delayed by S on the only connection of depth 1 is served one at a time, so no more
than 1 / S complete in a second, whatever the machine does: upper bounds are arithmetic and hold on
a busy machine too. What takes a quiet one is in bench.loop_open, over a simulated clock.
"""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

from check_result import check_document

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
BENCH = os.environ["RPMA_BENCH"]


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
                           "--duration", "150ms", "--warmup", "0", status=(0, 1, 3))  # fmt: skip
    search = search_of(document)
    codes = {"found": 0, "unclear": 3, "missed": 1}
    assert document["run"]["exit_code"] == codes[search["verdict"]]
    assert search["verdict"] in ("found", "unclear", "missed"), search
    check_trials(document, search, 1)
    assert (search["highest_kept_per_s"] or 0) <= 260
    assert "response.mean<1s: " in said
    missed = [t for t in search["trials"] if t["rate_per_s"] == search["lowest_missed_per_s"] and not t["achieved"]]
    if search["verdict"] != "unclear" and missed:
        assert f": {missed[0]['rate_per_s']}/s was not achieved" in said


def test_a_search_without_a_bracket_begins_in_a_closed_loop() -> None:
    document, _ = bench("4ms", "--find-rate", "response.mean<1s", "--repeats", "1", "--duration", "150ms",
                        "--warmup", "0", status=(0, 1, 3))  # fmt: skip
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


# 2 ms each, one at a time, and one due every 500 us: by arithmetic the response of operation i is 2 ms + i x 1.5 ms,
# so with 100 of them the median is 75 ms and the 99th percentile 149 ms at least
OVERLOAD = ("--rate", "2k", "--repeats", "3", "--duration", "50ms", "--warmup", "0")


def test_what_was_never_begun_keeps_no_limit() -> None:
    """Within twice the time at most 50 of 100 have begun: the 99th percentile is not known, and that is not good."""
    document, said = bench("2ms", *OVERLOAD, "--slo", "response.p90<140ms", "--slo", "unbegun_ops<=1000", status=(3,))
    for end in ("client", "server"):
        assert "delay:op=write,time=2ms" in document["environment"][end]["software"]["soft_device"]
    (slo, kept), (point,) = document["run"]["slos"], document["points"]
    assert (slo["missed"], slo["points"][0]["missed"], slo["points"][0]["value"]) == (None, None, None)
    assert kept["missed"] is False
    assert document["run"]["exit_code"] == 3
    assert re.search(r"^response.p90<140ms: not known\n  p0000: not known: [0-9]+ operations were never begun$", said, re.M)
    assert "RATE_NOT_REACHED" in said
    for repeat in point["repeats"]:
        assert repeat["ops"] + repeat["unbegun_ops"] == 100 and repeat["ops"] <= 51
        assert repeat["response_latency"]["unbegun_ops"] == repeat["unbegun_ops"]
        assert all(q["p"] == 0.5 for q in repeat["response_latency"]["percentiles"] if q["ns"] is not None)
    response = point["summary"]["response_latency"]
    assert response["max_ns"] is None and response["mean_ns"] is None
    # p99 and maximum of the table
    assert re.search(r"^p0000 .* - +- +[0-9]+ +[0-9]+$", said, re.M), said
    check_document(document, False)


def test_what_was_never_begun_waited_for_the_time_of_the_plan() -> None:
    document, said = bench("2ms", *OVERLOAD, "--slo", "response.p90<50ms", status=(1,))
    assert document["run"]["slos"][0]["points"][0]["value"] is None
    assert "  p0000: above the limit, by how much is not known\n" in said
    check_document(document, False)


def test_a_rate_that_is_not_achieved_is_missed_whatever_its_figures_are() -> None:
    document, _ = bench("2ms", "--find-rate", "response.p99<1s", "--rate", "2k:2100", *OVERLOAD[2:], status=(1,))
    trials = search_of(document)["trials"]
    assert trials and all(t["kept"] is False and not t["achieved"] and t["value"] is None for t in trials)


def test_arrivals_have_their_counts() -> None:
    options = ("--rate", "250", "--arrivals", "even,poisson,burst:10", "--repeats", "1", "--duration", "1s",
               "--warmup", "0", "--seed", "5")  # fmt: skip
    document, said = bench("2ms", *options)
    check_document(document, False)
    even, poisson, burst = document["points"]
    assert [p["params"]["arrivals"] for p in document["points"]] == ["even", "poisson", "burst:10"]
    assert all(word in said for word in ("even", "poisson", "burst:10"))
    # a host with more to do may take so long for each that some are never begun
    planned = [p["repeats"][0]["ops"] + p["repeats"][0]["unbegun_ops"] for p in (even, poisson, burst)]
    assert planned[0] == planned[2] == 250
    assert 250 - 5 * 250**0.5 < planned[1] < 250 + 5 * 250**0.5
    assert poisson["repeats"][0]["elapsed_ns"] >= 10**9
    again, _ = bench("2ms", *options, "--dry-run")
    assert [p["params"]["arrivals"] for p in again["points"]] == ["even", "poisson", "burst:10"]


LINE = re.compile(r"^ *([0-9.]+) s  ([0-9]+) op/s  [0-9.]+ [MG]B/s  p50 .+  p99 .+  p99.9 .+  max .+  errors 0$", re.M)


def test_an_endless_run_shows_intervals_and_ends_by_a_signal(tmp_path: Path) -> None:
    output = tmp_path / "endless.json"
    output.write_text("an earlier result")
    command = [LAUNCHER, BENCH, "local", "--target", "dram:4M", "--size", "64", "--duration", "inf", "--interval",
               "100ms", "--warmup", "0", "-q", "-o", str(output)]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        lines = [run.stderr.readline() for _ in range(4)]
        run.send_signal(signal.SIGTERM)
        said = "".join(lines) + run.stderr.read()
        assert run.wait(timeout=60) == 143, said
    shown = LINE.findall(said)
    assert len(shown) >= 3, said
    assert [float(at) for at, _ in shown] == sorted(float(at) for at, _ in shown)
    document = json.loads(output.read_text())
    check_document(document, False)
    assert (document["run"]["status"], document["run"]["exit_code"]) == ("interrupted", 143)
    (point,) = document["points"]
    assert point["stop"]["endless"] and point["stop"]["duration_ns"] is None
    (repeat,) = point["repeats"]
    assert not repeat["complete"] and repeat["latency"]["count"] == repeat["ops"] > 0
    assert sum(one["ops"] for one in repeat["intervals"]) <= repeat["ops"]


def test_a_line_says_what_the_interval_of_the_result_has() -> None:
    """10 ms a write: 20 to 50 operations in half a second, in the line and in the result."""
    document, said = bench("10ms", "--rate", "50", "--repeats", "1", "--duration", "1s", "--warmup", "0", "--interval",
                           "500ms")  # fmt: skip
    (repeat,) = document["points"][0]["repeats"]
    shown, intervals = LINE.findall(said), repeat["intervals"]
    assert len(intervals) >= 1 and 1 <= len(shown) <= len(intervals) + 1, said
    total = sum(float(rate) for _, rate in shown) / len(shown)
    assert total <= 2 * 50, said
