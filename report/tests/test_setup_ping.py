# SPDX-License-Identifier: BSD-3-Clause
"""Costs of connecting and registering, ways to persist side by side, and pings: the numbers."""

import sample
import sample_tests as made
import sample_tools as tools
from loaded import runs
from rpma_report.figures import methods, ping, setup

ONE, TWO, THREE = (range(k * 1000, k * 1000 + 1000) for k in (10, 20, 30))


def test_connection_has_a_bar_for_each_step() -> None:
    steps = {"prepare": ONE, "establish": TWO, "disconnect": THREE}
    point = made.stepped_point(0, "connect", steps, range(30_000, 31_000))
    figure = setup.connect(runs(sample.result([point])))
    assert figure is not None and figure.x_scale == "category"
    assert figure.categories == ("prepare", "establish", "connect", "disconnect")
    (line,) = figure.panels[0].lines
    assert [(m.x, m.value.value) for m in line.marks] == [(0, 10_499.5), (1, 20_499.5), (2, 30_499.5), (3, 30_499.5)]
    assert "prepare: connect: p50 10.5 µs" in figure.alt
    assert figure.table.columns[:2] == ("step", "p50") and len(figure.table.groups[0].rows) == 4


def test_registration_has_a_line_for_each_step_against_size() -> None:
    points = [made.stepped_point(i, "register", {"register": ns, "deregister": ONE}, ns, size)
              for i, (size, ns) in enumerate(((4096, ONE), (1 << 20, TWO)))]  # fmt: skip
    figure = setup.register(runs(sample.result(points)))
    assert figure is not None and figure.x_scale == "size"
    register, deregister = figure.panels[0].lines
    assert (register.label, deregister.label) == ("register", "deregister")
    assert [(m.x, m.value.value) for m in register.marks] == [(4096, 10_499.5), (1 << 20, 20_499.5)]
    assert [(m.x, m.value.value) for m in deregister.marks] == [(4096, 10_499.5), (1 << 20, 10_499.5)]
    assert figure.table.columns == ("size", "step", "p50", "p99", "max", "samples", "repeats")
    rows = [[cell.text for cell in row] for row in figure.table.groups[0].rows]
    assert rows[0] == ["4 KiB", "register", "10.5 µs", "11.0 µs", "11.0 µs", "1,000", "1"]
    assert [row[:3] for row in rows[1:3]] == [["4 KiB", "deregister", "10.5 µs"], ["1 MiB", "register", "20.5 µs"]]


WAYS = {
    "none": {"persist": "none", "flush": None, "flush_method": None, "latency_kind": "post_to_cqe"},
    "apm": {"persist": "apm"},
    "gpspm": {"persist": "gpspm", "latency_kind": "gpspm_rtt"},
}


def ways(size: int, first: int = 0) -> list[dict]:
    samples = {"none": ONE, "apm": TWO, "gpspm": THREE}
    return [made.with_latency(first + i, "latency", [samples[way]], size_bytes=size, **changes)
            for i, (way, changes) in enumerate(WAYS.items())]  # fmt: skip


def test_ways_to_persist_stand_side_by_side_at_the_usual_size() -> None:
    points = [*ways(64), *ways(8192, 3), made.with_latency(6, "latency", [ONE], size_bytes=4096)]
    figure = methods.figure(runs(sample.result(points)))
    assert figure is not None and figure.title == "Ways to persist, 8 KiB"  # 4 KiB has one way only
    values = [(line.label, line.marks[0].value.value) for line in figure.panels[0].lines]
    assert values == [("write", 10_499.5), ("write + apm flush", 20_499.5), ("write + gpspm", 30_499.5)]
    column = figure.table.columns.index("p50 over the fastest")
    ratios = [group.rows[0][column].text for group in figure.table.groups]
    assert ratios == ["1.00", "1.95", "2.90"]  # 20,499 / 10,499; 30,499 / 10,499


def test_one_way_to_persist_is_not_compared() -> None:
    assert methods.figure(runs(sample.result(ways(64)[1:2]))) is None


def test_foreign_engine_of_fio_is_no_way_to_persist() -> None:
    ours = [tools.fio_job(mode, ONE, rw="write", ioengine="librpma", mode=mode) for mode in ("apm", "gpspm")]
    figure = methods.figure(runs(tools.fio(*ours, tools.fio_job("n", ONE, rw="write", ioengine="null"))))
    assert figure is not None
    assert list(figure.categories) == ["fio librpma write + apm flush", "fio librpma write + gpspm"]


def test_pings_have_a_ladder_and_their_steps() -> None:
    (run,) = runs(tools.ping(range(10_000, 12_000)))
    ladder, steps = ping.spread([run]), ping.steps([run])
    assert ladder is not None and steps is not None
    (line,) = ladder.panels[0].lines
    assert [(round(m.x), m.value.value) for m in line.marks] == [(2, 11_000), (100, 11_980)]
    assert line.path[-1] == (2000.0, 11_999.0)
    assert [m.value.value for m in steps.panels[0].lines[0].marks] == [1000 * (i + 1) for i in range(13)]
    assert steps.categories == tools.STEPS
    assert steps.table.groups[0].rows[4][1].text == "5.00 µs"
    assert "the longest is disconnect, 13.0 µs" in steps.alt
    assert ladder.marks == steps.marks == "NOT HARDWARE: software device soft"


def test_step_that_was_not_done_has_no_bar() -> None:
    document = tools.ping(range(10_000, 12_000), kind="hardware")
    for step in document["steps"][5:]:
        step["ns"] = None
    figure = ping.steps(runs(document))
    assert figure is not None and figure.marks == ""
    assert [m.x for m in figure.panels[0].lines[0].marks] == [0, 1, 2, 3, 4]
    assert figure.table.groups[0].rows[5][1].text == "–"
