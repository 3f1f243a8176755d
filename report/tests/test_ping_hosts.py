# SPDX-License-Identifier: BSD-3-Clause
"""The results of rpma-ping for several hosts, or several sizes: a run for each host, a row for each of both."""

import json
from pathlib import Path
from typing import Any

import pytest

import sample
import sample_tools as tools
from conftest import Command, Page, Write, refused
from loaded import runs
from outline import Outline
from rpma_report.figures import ping
from rpma_report.page import cards
from rpma_report.sources import load, load_all

SLOW = range(20_000, 22_000)


def host(name: str, samples: range = range(10_000, 12_000), **changes: Any) -> dict[str, Any]:
    document = tools.ping(samples, **changes)
    document["server"]["host"] = name
    return document


def failed(name: str) -> dict[str, Any]:
    document = host(name)
    document["run"].update(status="failed", exit_code=2)
    document["failure"] = {"step": "connect", "cause": "refused", "text": "nothing listens", "librpma": None,
                           "wc_status": None, "likely_cause": None}  # fmt: skip
    document["pings"].update(transmitted=0, received=0, lost=0, loss_fraction=None)
    document["latency"]["rtt"] = None
    return document


def of_sizes(*sizes: int) -> dict[str, Any]:
    document = host("a")
    one = document["pings"]
    document["settings"].update(size_bytes=max(sizes), sizes_bytes=list(sizes))
    counts = {key: one[key] for key in ("transmitted", "received", "lost", "corrupt")}
    document["sizes"] = [{"size_bytes": size, **counts, "latency": document["latency"]} for size in sizes]
    one.update({key: value * len(sizes) for key, value in counts.items()})
    return document


def rows(table: Any) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.groups[0].rows]


def test_each_host_is_a_run_of_its_name(write: Write) -> None:
    path = write([host("a"), failed("b"), host("a", SLOW)])
    found = load_all(path)
    assert [(run.name, run.status) for run in found] == [("a", "complete"), ("b", "failed"), ("a", "complete")]
    assert len({run.sha256 for run in found}) == 1
    with pytest.raises(Exception, match="is a list of 3 results, expected one"):
        load(path)


def test_table_has_a_row_for_each_host_reached_or_not() -> None:
    table = ping.hosts(runs(host("a"), failed("b")))
    assert table is not None
    reached, other = rows(table)
    assert reached[1:] == ["64 B", "2,001", "2,000", "1", "0", "10.0 µs", "11.0 µs", "12.0 µs", "12.0 µs", "11.0 µs", ""]
    assert other[1:] == ["64 B", "0", "0", "0", "0", "–", "–", "–", "–", "–", "connect"]
    assert ping.hosts(runs(host("a"))) is None


def test_table_has_a_row_for_each_size() -> None:
    (run,) = runs(of_sizes(64, 4096))
    assert [row[1:3] for row in rows(ping.hosts([run]))] == [["64 B", "2,001"], ["4 KiB", "2,001"]]
    assert cards.cards_of([run])[0].what == "median round trip, 64 B to 4 KiB"


def test_counts_of_sizes_must_be_those_of_all() -> None:
    document = of_sizes(64, 4096)
    document["pings"]["lost"] += 1
    with pytest.raises(Exception, match="pings.lost: is 3, but those of all sizes are 2"):
        runs(document)


def test_cards_name_their_hosts() -> None:
    found = cards.cards_of(runs(host("a"), failed("b")))
    assert [(card.subject, card.value) for card in found] == [("ping, r0.json", "11.0 µs"), ("ping, r1.json", "0 of 0")]
    assert "2,000 of 2,001 came back, 1 lost, 0 corrupt" in found[0].detail


def test_page_of_hosts_is_of_one_file_and_can_be_verified(page: Page, quick: Command, tmp_path: Path) -> None:
    told = Outline(page([host("a"), host("b", SLOW), failed("c")])).text()
    assert "from 1 file." in told and "c: the run failed." in told and "whole ping, b" in told
    assert told.count("SHA-256") == 2  # those that were complete are one entry
    done = quick("verify", tmp_path / "report.html", tmp_path / "result0.json")
    assert done.returncode == 0, done.stdout


def test_same_hosts_of_two_files_are_told_apart_by_file(page: Page) -> None:
    told = Outline(page([host("a"), host("b")], [host("a", SLOW), host("b", SLOW)])).text()
    assert "a · result0.json" in told and "a · result1.json" in told


REFUSED = {
    "other results": ([sample.result([])], 'result.json[0]: schema: is "rpma-bench/1": only rpma-ping writes a list of results'),
    "no objects": ([host("a"), 7], "expected an object"),
    "nothing": ([], "top level: is [], expected an object"),
    "a broken one": ([host("a"), {"schema": "rpma-ping/1"}], 'result.json[1]: top level: key "tool" is missing'),
    "too many": ([host("a")] * 65, "is a list of 65 results, expected at most 64"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_lists_are_refused(name: str, quick: Command, write: Write, tmp_path: Path) -> None:
    document, text = REFUSED[name]
    refused(quick("create", write(document), "-o", tmp_path / "p.html"), text)


def test_validate_names_the_host_and_the_line(quick: Command, write: Write) -> None:
    good, bad = host("a"), host("b")
    assert quick("validate", write([good, bad])).stdout.endswith(": 2 of rpma-ping/1, sound\n")
    bad["latency"]["rtt"]["count"] = 7
    path = write(json.dumps([good, bad], indent=1).encode())
    lines = path.read_text().splitlines()
    number = max(n for n, line in enumerate(lines, 1) if '"count": 7' in line)
    done = quick("validate", path)
    assert done.returncode == 1
    assert f"result.json[1]: line {number}: latency.rtt.count: is 7, but its histogram holds 2000" in done.stderr
