# SPDX-License-Identifier: BSD-3-Clause
"""A result that contradicts itself: validate names the place and its line, and create draws nothing of it."""

import copy
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import sample
import sample_tests
import sample_tools
from conftest import Command, Write, refused
from edits import at

SOUND = {
    "lat": sample.result([sample.lat_point(0, 64, count=2000), sample.lat_point(1, 4096, count=2000)]),
    "bw": sample.result([sample.bw_point(0, 64)]),
    "sizes": sample.result([sample.bw_point(0, 64)]),
    "connect": sample.result([sample_tests.stepped_point(0, "connect", {"prepare": range(100, 1200)}, range(200, 1300))]),
    "rate": sample.result([sample_tests.rate_point(0, 1000.0, 900.0, range(5000, 7000), range(3000, 5000), late=7)]),
    "mix": sample.result([sample_tests.mix_point(0, 0.5, range(1000, 3000), range(2000, 4000))]),
    "ping": sample_tools.ping(range(1000, 3000)),
    "fio": sample_tools.fio(sample_tools.fio_job("a", range(1000, 3000))),
}
SOUND["sizes"]["points"][0]["params"]["size_mix"] = [{"size_bytes": 32, "percent": 50}, {"size_bytes": 96, "percent": 50}]
REPEAT = ("points", 0, "repeats", 1)
SUMMARY = ("points", 0, "summary")
OF_REPEAT, OF_SUMMARY = (*REPEAT, "latency"), (*SUMMARY, "latency")
P99, WHOLE_P99 = (*OF_REPEAT, "percentiles", 2, "ns"), (*OF_SUMMARY, "percentiles", 2, "ns")
Place = Sequence[str | int]


def text_of(place: Place) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")


# kind, place, its new value, and what the message gives as the reason
CASES: list[tuple[str, Place, Any, str]] = [
    ("lat", P99, 1, "but its histogram gives"),
    ("lat", (*OF_REPEAT, "percentiles", 0, "ns"), lambda ns: ns + 0.01, "but its histogram gives"),
    ("lat", (*OF_REPEAT, "percentiles", 4, "ns"), 20000, "fewer than 10 of 2000 operations lie beyond it"),
    ("lat", (*OF_REPEAT, "count"), 7, "its histogram holds 2000"),
    ("lat", (*OF_REPEAT, "min_ns"), 1, "but its histogram begins with"),
    ("lat", (*OF_REPEAT, "max_ns"), lambda ns: ns * 2, "but its histogram ends with"),
    ("lat", (*OF_REPEAT, "mean_ns"), 1.0, "not between min_ns and max_ns"),
    ("lat", (*REPEAT, "bytes"), 5, "but ops x size_bytes is 128000"),
    ("sizes", (*REPEAT, "bytes"), 5, "but its sizes cannot make that"),
    ("lat", (*REPEAT, "ops_per_s"), lambda rate: rate * 1.01, "but ops by elapsed_ns is"),
    ("bw", (*REPEAT, "bytes_per_s"), lambda rate: rate * 1.01, "but bytes by elapsed_ns is"),
    ("bw", (*REPEAT, "elapsed_ns"), 0, "but elapsed_ns is 0"),
    ("bw", (*REPEAT, "threads", 0, "ops"), 1, "but its threads did 1"),
    ("lat", (*REPEAT, "used"), {"flush_method": "native"}, "is native, but its point has read"),
    ("lat", (*SUMMARY, "n"), 99, "there are 3 complete repeats"),
    ("lat", WHOLE_P99, 1, "but its repeats give"),
    ("lat", (*OF_SUMMARY, "percentiles", 2, "lo_ns"), lambda ns: ns * 1.02, "but its repeats give"),
    ("lat", (*OF_SUMMARY, "percentiles", 0, "hi_ns"), 1e9, "but its repeats give"),
    ("lat", (*OF_SUMMARY, "percentiles", 4, "ns"), 20000, "but a repeat lacks it"),
    ("lat", (*OF_SUMMARY, "mean_ns", "mean"), 1.0, "but its repeats give"),
    ("lat", (*OF_SUMMARY, "merged_histogram", "buckets", 0, 1), 10**6, "is not the sum of those of its repeats"),
    ("bw", (*SUMMARY, "bytes_per_s", "mean"), lambda rate: rate * 1.001, "but its repeats give"),
    ("bw", (*SUMMARY, "ops_per_s", "ci95_low"), 1.0, "but its repeats give"),
    ("connect", ("points", 0, "repeats", 0, "steps", 0, "latency", "percentiles", 0, "ns"), 1, "its histogram gives"),
    ("rate", (*SUMMARY, "response_latency", "percentiles", 0, "ns"), 1, "but its repeats give"),
    ("rate", (*SUMMARY, "response_latency", "percentiles", 0, "lo_ns"), 1, "there are fewer than 3 repeats"),
    ("mix", (*SUMMARY, "read_latency", "mean_ns", "mean"), 1.0, "but its repeats give"),
    ("ping", ("latency", "rtt", "p50_ns"), 1000, "but its histogram gives"),
    ("ping", ("latency", "rtt", "p99_ns"), 5000, "not between min_ns and max_ns"),
]


@pytest.mark.parametrize("kind, place, value, why", CASES, ids=lambda v: text_of(v) if isinstance(v, tuple) else None)
def test_contradiction_is_named_with_its_line(
    kind: str, place: Place, value: Any, why: str, quick: Command, write: Write, tmp_path: Path
) -> None:
    document = copy.deepcopy(SOUND[kind])
    holder = at(document, place[:-1])
    holder[place[-1]] = value(holder[place[-1]]) if callable(value) else value
    path = write(json.dumps(document, indent=1).encode())
    done = quick("validate", path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done
    assert re.search(rf": line \d+: {re.escape(text_of(place[:3]))}", done.stderr) and why in done.stderr
    refused(quick("create", path, "-o", tmp_path / "o.html"), why)
    assert not (tmp_path / "o.html").exists()


@pytest.mark.parametrize("name", SOUND)
def test_sound_results_stay_sound(name: str, quick: Command, write: Write) -> None:
    assert quick("validate", write(SOUND[name])).returncode == 0


def test_unknown_contradicts_nothing(quick: Command, write: Write) -> None:
    document = copy.deepcopy(SOUND["lat"])
    at(document, OF_SUMMARY)["percentiles"][2].update(ns=None, lo_ns=None, hi_ns=None)
    document["points"][1]["summary"]["latency"] = None
    assert quick("validate", write(document)).returncode == 0


def test_interrupted_repeat_counts_only_where_none_is_complete(quick: Command, write: Write) -> None:
    document = copy.deepcopy(SOUND["bw"])
    point = document["points"][0]
    point["repeats"][4]["complete"] = False
    document["run"].update(status="interrupted", exit_code=130)
    counted = point["repeats"][:4]
    point["summary"].update(n=4, **{key: sample.interval([r[key] for r in counted]) for key in ("ops_per_s", "bytes_per_s")},
                            flagged_repeats=sample.outliers([r["ops_per_s"] for r in counted]))  # fmt: skip
    sample.warn_again(document)
    assert quick("validate", write(document)).returncode == 0
    point["summary"]["n"] = 5
    assert quick("validate", write(document)).returncode == 1


def test_file_that_is_no_result_weighs_more(quick: Command, write: Write) -> None:
    document = copy.deepcopy(SOUND["bw"])
    document["points"][0]["summary"]["n"] = 9
    done = quick("validate", write(document, "a.json"), write(b"{", "b.json"))
    assert done.returncode == 2 and done.stderr.count("\n") == 2


def test_line_is_found_behind_remarks_and_deep_values(write: Write, quick: Command) -> None:
    """fio's jobs may log lines before the JSON."""
    document = copy.deepcopy(SOUND["fio"])
    document["jobs"][0]["write"]["clat_ns"]["N"] = 5
    lines = ["a remark: {[\"", "another", *json.dumps(document, indent=2).splitlines()]
    path = write("\n".join(lines).encode())
    number = next(i for i, line in enumerate(lines, 1) if '"N": 5' in line)
    assert f"line {number}: jobs[0].write.clat_ns.N: is 5" in quick("validate", path).stderr


def with_slo(slo: str, value: float | None, missed: bool | None, whole: Any = ...) -> dict[str, Any]:
    """A document with a limit, and its verdict at the only point and as a whole."""
    document = copy.deepcopy(SOUND["lat"])
    judged = [{"id": point["id"], "value": value, "missed": missed} for point in document["points"]]
    document["points"] = document["points"][:1]
    due = missed if whole is ... else whole
    document["run"]["exit_code"] = {True: 1, None: 3, False: 0}[due]
    document["run"]["slos"] = [{"slo": slo, "missed": missed if whole is ... else whole, "points": judged[:1]}]
    return document


P50 = SOUND["lat"]["points"][0]["summary"]["latency"]["percentiles"][0]["ns"]


@pytest.mark.parametrize(
    "slo, value, missed, whole, place",
    [("lat.p50_ns < 1e9", P50, False, ..., ""), (f"lat.p50_ns<{P50}", P50, True, ..., ""),
     (f"lat.p50_ns<={P50}", P50, False, ..., ""), ("lat.p99.9999_ns<1e9", None, None, ..., ""),
     ("lat.p99.9999_ns<1e9", None, True, ..., "points[0].missed"),
     ("lat.p99.9999_ns<1e9", None, False, ..., "points[0].missed"),
     ("lat.p99.9999_ns<1", None, True, ..., ""), ("lat.p99.9999_ns<1", None, None, ..., "points[0].missed"),
     ("reverse.ops_per_s>0", None, None, ..., ""), ("of.tomorrow<1", 7, False, ..., ""),
     ("lat.p50_ns<1e9", P50 + 1, False, ..., "points[0].value"),
     ("lat.p50_ns<1e9", None, None, ..., "points[0].value"),
     ("lat.p99.9999_ns<1e9", 5, False, ..., "points[0].value"),
     ("lat.p50_ns<1", P50, False, ..., "points[0].missed"),
     (f"lat.p50_ns<{P50}", P50, False, ..., "points[0].missed"),
     ("lat.p50_ns<1e9", P50, False, True, "missed"), ("lat.p50_ns<1e9", P50, False, None, "missed"),
     ("lat.p99.9999_ns<1e9", None, None, False, "missed"),
     ("lat.p50<1s", P50, False, ..., ""), ("lat.p50 < 1 ns", P50, False, ..., "points[0].missed"),
     ("lat.p50<1us", P50 + 1, False, ..., "points[0].value")],
)  # fmt: skip
def test_slos_are_judged_again(quick: Command, write: Write, slo: str, value: float | None, missed: bool | None,
                                whole: Any, place: str) -> None:  # fmt: skip
    done = quick("validate", write(with_slo(slo, value, missed, whole)))
    assert done.returncode == (1 if place else 0), done
    assert f"run.slos[0].{place}: is " in done.stderr if place else done.stderr == ""


@pytest.mark.parametrize(
    "slo, change, place",
    [("bw:lat.p50_ns<1", {}, ""), ("bw:lat.p50_ns<1", {"missed": True}, "points[0].missed"),
     ("bw:lat.p50_ns<1", {"value": 5}, "points[0].value"), ("bw:lat.p50_ns<1", {"applies": True}, "points[0].applies"),
     ("lat:lat.p50_ns<1e9", {}, "points[0].applies"), ("lat: lat.p50 < 1s", {"applies": True, "value": P50}, "")],
)  # fmt: skip
def test_a_limit_of_a_test_is_one_of_its_points_only(quick: Command, write: Write, slo: str,
                                                     change: dict[str, Any], place: str) -> None:  # fmt: skip
    document = with_slo(slo, None, False, False if change.get("applies") or slo.startswith("lat:") else None)
    document["run"]["slos"][0]["points"][0].update({"applies": False} | change)
    done = quick("validate", write(document))
    assert done.returncode == (1 if place else 0), done
    assert f"run.slos[0].{place}: is " in done.stderr if place else done.stderr == ""


UNBEGUN = sample.result([sample_tests.unbegun_point(0, 2000.0, range(1_000_000, 1_128_000, 128), 600, 1_102_335.5)])
RESPONSE = ("points", 0, "repeats", 0, "response_latency")


@pytest.mark.parametrize("place, key, value, said", [
    (RESPONSE, "unbegun_ops", 600, ""),
    (RESPONSE[:-1], "unbegun_ops", 601, "response_latency.unbegun_ops: is 600, but of the repeat it is 601"),
    (RESPONSE, "max_ns", 1_127_872, "max_ns: is 1127872, but 600 operations were never begun"),
    (RESPONSE, "mean_ns", 1_063_936, "mean_ns: is 1063936, but 600 operations were never begun"),
    ((*RESPONSE, "percentiles", 0), "ns", 1_064_000, "but its histogram gives 1102335.500"),
    ((*RESPONSE, "percentiles", 0), "p", 0.9, "but 600 operations were never begun"),
    (("points", 0, "summary", "response_latency"), "unbegun_ops", 1, "is 1, but its repeats give 600"),
    (("points", 0, "summary", "response_latency"), "max_ns", 1_127_872, "max_ns: is stated, but 600 operations"),
    (("points", 0, "summary"), "unbegun_ops", 0, "unbegun_ops: is 0, but its repeats give 600"),
])  # fmt: skip
def test_what_was_never_begun_is_beyond_all_samples(quick: Command, write: Write, place: tuple[Any, ...], key: str,
                                                    value: Any, said: str) -> None:  # fmt: skip
    document = copy.deepcopy(UNBEGUN)
    at(document, place)[key] = value
    done = quick("validate", write(document))
    assert done.returncode == (1 if said else 0), done
    assert said in done.stderr


def test_slos_of_other_points_are_refused(quick: Command, write: Write) -> None:
    document = with_slo("lat.p50_ns<1e9", P50, False)
    document["run"]["slos"][0]["points"][0]["id"] = "p0007"
    assert "are not those of the result" in quick("validate", write(document)).stderr
