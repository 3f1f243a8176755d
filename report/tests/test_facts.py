# SPDX-License-Identifier: BSD-3-Clause
"""Facts that several runs have in common stand once, others by their values."""

import copy

import sample
from loaded import runs
from rpma_report.page import facts

LAT = sample.lat_point(0, 64, count=1000)


def test_equal_facts_stand_once_and_others_by_value() -> None:
    documents = [copy.deepcopy(sample.result([LAT])) for _ in range(3)]
    documents[1]["environment"]["server"]["os"]["kernel"] = "6.12"
    told = facts.environment(runs(*documents))
    assert ("cpu.sockets", "1", "1") in told.same
    assert ("host.hostname", "client", "server") in told.same
    assert told.differing == (
        ("os.kernel", "client", "6.1.0-40-amd64", "all runs"),
        ("os.kernel", "server", "6.1.0-40-amd64", "r0.json, r2.json"),
        ("os.kernel", "server", "6.12", "r1.json"),
    )


def test_what_the_software_device_was_told_to_do_is_a_fact_that_differs() -> None:
    documents = [copy.deepcopy(sample.result([LAT])) for _ in range(2)]
    for document, told in zip(documents, (None, "delay:op=write,time=2ms"), strict=True):
        document["environment"]["server"]["software"]["soft_device"] = told
    differing = facts.environment(runs(*documents)).differing
    assert [row[:3] for row in differing if row[1] == "server"] == [
        ("software.soft_device", "server", "–"), ("software.soft_device", "server", "delay:op=write,time=2ms")]  # fmt: skip


def test_unknown_host_is_a_dash() -> None:
    document = copy.deepcopy(sample.result([LAT]))
    document["environment"]["server"] = None
    told = facts.environment(runs(document))
    assert ("cpu.sockets", "1", "–") in told.same


def test_same_warning_of_several_runs_is_one_row() -> None:
    rows = [(row[:3], which) for row, which in facts.warnings(runs(*(sample.result([LAT], kind="hardware") for _ in range(2))))]
    assert rows.count((("PERSISTENCE_UNPROVEN", "warn", "server"), "all runs")) == 1 == sum(row[0] == "PERSISTENCE_UNPROVEN" for row, _ in rows)


def test_points_warn_for_themselves_unless_the_tool_did() -> None:
    point = copy.deepcopy(LAT)
    point["warmup"]["steady"] = False
    point["summary"]["flagged_repeats"] = [{"index": 2, "reason": "mean_mad>3", "hints": ["a=1"]}]
    point["repeats"][0]["errors"] = 3
    said = {"code": "NOT_STEADY", "severity": "warn", "host": "client", "text": "2 of 3"}
    rows = [row for row, _ in facts.warnings(runs(sample.result([point], warnings=[said])))]
    assert rows == [
        ("NOT_STEADY", "warn", "client", "2 of 3"),
        ("REPEAT_FLAGGED", "warn", "p0000", "repeat 2: mean_mad>3, a=1"),
        ("ERRORS", "warn", "p0000", "3 operations failed"),
    ]


def test_many_names_are_cut() -> None:
    assert facts.names(runs(*[sample.result([])] * 11)) == ", ".join(f"r{i}.json" for i in range(8)) + " and 3 more"
