# SPDX-License-Identifier: BSD-3-Clause
"""The top of a page: the three figures that matter, the verdict, and the marks."""

import copy
from typing import Any

import pytest

import sample
import sample_tests as made
import sample_tools as tools
from loaded import runs
from rpma_report.page import cards, readiness, report, summary
from rpma_report.page.document import Facts

TEN_US = range(10_000, 20_000)


def texts(documents: list[Any]) -> list[str]:
    return list(summary.verdicts(runs(*documents)))


def test_median_tail_and_bandwidth_of_the_persistent_write_nearest_to_4_kib() -> None:
    plain = {"persist": "none", "flush": None, "flush_method": None, "latency_kind": "post_to_cqe"}
    points = [
        made.with_latency(0, "latency", [range(1000, 11_000)], size_bytes=4096, **plain),
        made.with_latency(1, "latency", [TEN_US], size_bytes=2048),
        made.with_latency(2, "latency", [range(90_000, 100_000)], size_bytes=1 << 20),
    ]
    rates = [sample.repeat(0, 64, 5e6, 5_000_000, ()), sample.repeat(0, 4096, 1e5, 100_000, ())]
    points += [sample.point(3, sample.params("bw", 64), rates[:1]), sample.point(4, sample.params("bw", 4096), rates[1:])]
    median, tail, bandwidth = cards.cards_of(runs(sample.result(points)))
    assert (median.subject, median.value, median.what) == ("write + apm flush", "15.0 µs", "median latency, 2 KiB")
    assert tail.value == "20.0 µs" and tail.what == "tail latency, p99.9, 2 KiB"
    assert tail.detail.endswith("slowest of 10,000: 20.0 µs")
    assert (bandwidth.value, bandwidth.what) == ("410 MB/s", "highest bandwidth, 4 KiB")


def test_pings_alone_have_their_figures() -> None:
    found = cards.cards_of(runs(tools.ping(range(10_000, 12_000))))
    assert [c.value for c in found] == ["11.0 µs", "2,000 of 2,001"]


@pytest.mark.parametrize(
    "verdict, part",
    [("APM_READY", "ready: a read after the write makes it persistent"), ("NOT_READY", "not ready"),
     ("GPSPM_ONLY", "only where its own processor"), ("UNDETERMINED", "undetermined, which is not ready")],
)  # fmt: skip
def test_verdict_is_a_sentence(verdict: str, part: str) -> None:
    document = sample.result([sample.lat_point(0, 64, count=100)])
    document["readiness"] = {"schema": "rpma-ddio-check/1", "host": "server", "verdict": verdict, "checks": []}
    (text,) = texts([document])
    assert text.startswith("Persistence: the target is ") and part in text and verdict in text


def test_what_somebody_says_is_not_what_was_seen() -> None:
    (text,) = texts([tools.ddio_check("APM_READY", assumed=True)])
    assert text.endswith("This rests on a statement of the operator, not on what was seen.")


def test_check_of_another_time_vouches_for_no_run() -> None:
    """A file of rpma-ddio-check stands beside a result; only a result's own verdict backs it."""
    document = sample.result([sample.lat_point(0, 64, count=100)], kind="hardware")
    alarms = summary.alarms(runs(document, tools.ddio_check("APM_READY")))
    assert [a.heading for a in alarms] == ["Persistence is not proven."]


def test_nothing_persistent_claims_nothing() -> None:
    document = sample.result([sample.lat_point(0, 64, count=100, persist="none")])
    assert texts([document]) == ["Persistence: nothing here was made persistent, and nothing claims it."]


def test_fio_is_marked_as_loudly_as_a_software_device() -> None:
    (alarm,) = summary.alarms(runs(tools.fio(tools.fio_job("j", TEN_US, ioengine="librpma", flush="none"))))
    assert alarm.alarm and alarm.heading == "Device not recorded."


@pytest.mark.parametrize("kind", ["soft", "rxe", "siw"])
def test_ping_over_a_software_device_is_marked(kind: str) -> None:
    (alarm,) = summary.alarms(runs(tools.ping(TEN_US, kind=kind)))
    assert alarm.alarm and alarm.heading.startswith("NOT HARDWARE: ") and f"device {kind}" in alarm.heading


def test_wrong_data_is_an_alarm() -> None:
    document = copy.deepcopy(sample.result([sample.lat_point(0, 64, count=100, persist="none")], kind="hardware"))
    found = {"checked_bytes": 100, "mismatches": 1}
    for repeat in document["points"][0]["repeats"]:
        repeat["verify"] = found
    document["points"][0]["summary"]["verify"] = {"checked_bytes": 300, "mismatches": 3}
    (alarm,) = summary.alarms(runs(document))
    assert "wrong data" in alarm.heading and "3 bytes" in alarm.lines[0]


def test_checks_that_ask_for_something_come_first() -> None:
    section = readiness.section(runs(tools.ddio_check()))
    assert section is not None
    _, facts, table = section.blocks
    assert isinstance(facts, Facts) and ("verdict", "GPSPM_ONLY") in facts.pairs
    assert [row[0].text for row in table.groups[0].rows] == ["DDIO-04", "SYS-01", "PM-01"]  # type: ignore[union-attr]


def test_fio_without_rdma_is_no_remote_memory() -> None:
    given = runs(tools.fio(tools.fio_job("j", TEN_US)))
    assert report.title(given) == "fio benchmark"
    assert [a.heading for a in summary.alarms(given)] == ["Not RDMA."]
    assert list(summary.verdicts(given)) == ["Persistence: not judged for fio's ioengine psync."]
    assert report.title(runs(tools.fio(tools.fio_job("j", TEN_US, ioengine="librpma")))).startswith("Remote")


@pytest.mark.parametrize(
    "repeats, said", [((3,), ["Intervals: "]), ((2,), ["No interval: all"]), ((3, 2), ["Intervals: ", "No interval: 1 of 2"])]
)
def test_page_says_what_an_interval_is_and_why_there_is_none(repeats: tuple[int, ...], said: list[str]) -> None:
    points = [made.with_latency(i, "latency", [range(1000)] * n, size_bytes=64 << i) for i, n in enumerate(repeats)]
    found = [text for text in summary.intervals(runs(sample.result(points))) if " of p9" not in text]
    assert [text.startswith(start) for text, start in zip(found, said, strict=True)] == [True] * len(said)
