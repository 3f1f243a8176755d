# SPDX-License-Identifier: BSD-3-Clause
"""The choice of charts and cards where there is too much: what matters, and what was left out by name."""

import re
from typing import Any

import pytest

import sample
import sample_tests as made
import sample_tools as tools
from loaded import runs
from rpma_report.figures import bandwidth, distribution, latency, load, methods, mix, rate, windows
from rpma_report.figures.figure import Figure
from rpma_report.page import cards

PLAIN = {"persist": "none", "flush": None, "flush_method": None, "latency_kind": "post_to_cqe"}
SEND = {**PLAIN, "op": "send", "latency_kind": "send_rtt"}
READ = {**PLAIN, "op": "read", "latency_kind": "read"}
TEN_US = range(10_000, 11_000)


def lat(number: int, size: int = 4096, first: int = 10_000, **params: Any) -> dict[str, Any]:
    return made.with_latency(number, "latency", [range(first, first + 1000)] * 3, size_bytes=size, **params)


def labels(figure: Figure | None) -> list[str]:
    assert figure is not None
    return [line.label for line in figure.panels[0].lines]


def colours(figure: Figure | None) -> dict[str, int]:
    assert figure is not None
    return {line.label: line.style for line in figure.panels[0].lines}


def many(**of_each: dict[str, Any]) -> list[dict[str, Any]]:
    """30 depths of each kind, over two sizes."""
    return [lat(0, size, depth=1 + depth, **kind) for kind in of_each.values() for depth in range(30) for size in (64, 4096)]


def test_write_is_the_headline_before_send_and_read() -> None:
    points = [lat(i, first=first, **kind) for i, (first, kind) in enumerate(((1000, SEND), (2000, READ), (3000, PLAIN)))]
    median, tail = cards.cards_of(runs(sample.result(points)))
    assert (median.subject, median.value, median.what) == ("write", "3.50 \u00b5s", "median latency, 4 KiB")
    assert tail.subject == "write"


def test_bandwidth_is_that_of_the_write_though_the_read_is_faster() -> None:
    points = [sample.bw_point(0, 65536, **PLAIN), sample.bw_point(1, 65536, top=9e9, **READ)]
    (card,) = cards.cards_of(runs(sample.result(points)))
    assert card.subject == "write" and card.what == "highest bandwidth, 64 KiB"


def test_card_names_the_size_where_something_else_was_swept() -> None:
    points = [lat(i, 65536, depth=depth) for i, depth in enumerate((4, 16))]
    assert cards.cards_of(runs(sample.result(points)))[0].what == "median latency, 64 KiB, depth 4"


def test_each_of_four_labelled_runs_has_its_card() -> None:
    documents = [sample.result([lat(0, first=1000 * n)], label=f"run {n}") for n in (4, 2, 3, 1)]
    found = cards.cards_of(runs(*documents))
    assert [(c.subject, c.value) for c in found] == [
        (f"write + apm flush, run {n}", f"{n}.50 \u00b5s") for n in (4, 2, 3, 1)]  # fmt: skip
    assert all("p99 " in c.detail and "3 repeats" in c.detail for c in found)


def test_runs_of_different_operations_are_named_too() -> None:
    documents = [sample.result([lat(0)], label="ours"), sample.result([lat(0, **READ)], label="theirs")]
    assert [c.subject for c in cards.cards_of(runs(*documents))] == ["write + apm flush, ours", "read, theirs"]


def test_runs_without_a_card_are_named() -> None:
    documents = [sample.result([lat(0)], label=f"run {n}") for n in range(8)]
    given = runs(*documents)
    assert len(cards.cards_of(given)) == 6
    assert [run.name for run in cards.without_card(given)] == ["run 6", "run 7"]


def test_files_of_one_label_are_one_run_on_cards() -> None:
    documents = [sample.result([lat(0, size)], label="lab") for size in (64, 4096)]
    assert [c.what for c in cards.cards_of(runs(*documents))][0] == "median latency, 4 KiB"


def test_card_of_an_open_loop_is_its_knee() -> None:
    points = [made.rate_point(i, offered, achieved, TEN_US, TEN_US)
              for i, (offered, achieved) in enumerate(((1000.0, 1000.0), (2000.0, 1999.0), (4000.0, 3000.0)))]  # fmt: skip
    (card,) = cards.cards_of(runs(sample.result(points)))
    assert (card.value, card.what) == ("2.00 kop/s", "highest offered rate that was kept, with all below it, 4 KiB")
    assert card.detail.startswith("median response 10.5")


def test_card_of_an_open_loop_without_a_knee_has_no_kept_rate() -> None:
    points = [made.rate_point(i, 1000.0 * 2**i, 500.0, TEN_US, TEN_US) for i in range(4)]
    (card,) = cards.cards_of(runs(sample.result(points)))
    assert card.value == "500 op/s"
    assert card.what == "achieved at the lowest offered rate, 1.00 kop/s, 4 KiB: less than 99 %"


def test_cards_of_the_other_tests_say_where() -> None:
    points = [made.mix_point(0, 0.7, TEN_US, TEN_US),
              *(made.stepped_point(1 + i, "register", {"register": TEN_US}, TEN_US, size) for i, size in enumerate((4096, 1 << 20)))]  # fmt: skip
    assert [c.what for c in cards.cards_of(runs(sample.result(points)))] == [
        "median time of a write in a mix, 4 KiB, 70 % reads", "median time to register, 4 KiB"]  # fmt: skip


def test_headline_is_in_every_chart_however_many_series_there_are() -> None:
    given = runs(sample.result(many(read=READ, plain=PLAIN, apm={})))
    headline = cards.cards_of(given)[0].subject
    assert headline == "write + apm flush, depth 1"
    small = latency.figure(given)
    assert small is not None and small.panels[0].title == "depth 1" and "write + apm flush, p50" in labels(small)
    assert headline in labels(methods.figure(given))
    for figure in (distribution.ladder(given), distribution.distribution(given)):
        assert f"{headline}, 4 KiB" in labels(figure)


def test_each_operation_is_drawn_and_the_rest_is_named() -> None:
    figure = latency.figure(runs(sample.result(many(read=READ, plain=PLAIN, apm={}))))
    assert labels(figure) == [f"{name}, {p}" for name in ("write", "write + apm flush", "read") for p in ("p50", "p99")]
    assert figure is not None and sum(len(group.rows) for group in figure.table.groups) == 180
    assert figure.notes == ("The panels show 9 of 30 combinations of depth, the table all.",)


def test_few_that_are_left_out_are_named_one_by_one() -> None:
    points = [lat(i, size, depth=depth) for i, (size, depth) in enumerate(
        (size, depth) for depth in range(1, 15) for size in (64, 4096))]  # fmt: skip
    figure = latency.figure(runs(sample.result(points)))
    assert figure is not None and figure.notes == (
        "The panels show 9 of 14 combinations of depth, the table all. Left out: "
        "depth 2; depth 5; depth 8; depth 10; depth 13.",)


def test_points_without_a_line_are_counted() -> None:
    points = [lat(i, size) for i, size in enumerate(sample.SIZES)]
    for figure in (distribution.ladder(runs(sample.result(points))), distribution.distribution(runs(sample.result(points)))):
        assert figure is not None and "Shown are 6 of 8 points" in figure.caption


@pytest.mark.parametrize("test, figure_of", [("rate", rate.figure), ("mix", mix.figure), ("load", load.figure)])
def test_no_chart_leaves_out_silently(test: str, figure_of: Any) -> None:
    points = []
    for number in range(28):
        depth = {"depth": 1 + number // 2}
        point = {"rate": lambda n: made.rate_point(n, 1000.0 * (1 + n % 2), 1000.0, TEN_US, TEN_US),
                 "mix": lambda n: made.mix_point(n, 0.5 + 0.1 * (n % 2), TEN_US, TEN_US),
                 "load": lambda n: made.load_point(n, 0.5 * (n % 2), 0.5 * (n % 2), TEN_US)}[test](number)  # fmt: skip
        point["params"].update(depth)
        points.append(point)
    figure = figure_of(runs(sample.result(points)))
    shown = 12 if test == "load" else 6
    assert f"The chart shows {shown} of 14 series" in figure.caption
    assert len(figure.panels[0].lines) == 12


def test_pings_that_are_left_out_are_counted() -> None:
    from rpma_report.figures import ping

    given = runs(*(tools.ping(TEN_US) for _ in range(14)))
    for figure in (ping.spread(given), ping.steps(given)):
        assert figure is not None and "the first 12 of 14" in figure.caption


def test_a_series_keeps_its_colour_in_every_chart() -> None:
    """Depths tell the latencies apart; bandwidths have another depth, rates a third."""
    points = [lat(i, size, depth=depth, **kind) for i, (kind, depth, size) in enumerate(
        (kind, depth, size) for kind in (READ, {}) for depth in (1, 4) for size in (64, 4096))]  # fmt: skip
    points += [sample.bw_point(20 + i, size, **kind) for i, (kind, size) in enumerate(
        (kind, size) for kind in ({}, READ) for size in (64, 4096))]  # fmt: skip
    points += [made.rate_point(30 + i, 1000.0 * 2**i, 1000.0 * 2**i, TEN_US, TEN_US) for i in range(3)]
    points += [made.with_windows(lat(40, depth=4), [[(10**8, 500, 9000)]] * 3)]
    given = runs(sample.result(points))
    seen = colours(latency.figure(given))
    assert len(set(seen.values())) == 4
    assert colours(bandwidth.figure(given)) == {
        "write + apm flush": seen["write + apm flush, depth 1"], "read": seen["read, depth 1"]}  # fmt: skip
    assert set(colours(rate.figure(given)).values()) == {seen["write + apm flush, depth 1"]}
    for label, number in colours(distribution.ladder(given)).items():
        assert number == seen[label.rpartition(",")[0]]


def test_lines_of_a_series_share_its_colour_on_a_page_of_several() -> None:
    """p50 and p99 of the only latency are no second series: reads have that colour."""
    points = [lat(i, size) for i, size in enumerate((64, 4096))]
    points += [sample.bw_point(5 + i, 4096 << i % 2, **kind) for i, kind in enumerate(({}, {}, READ, READ))]
    given = runs(sample.result(points))
    figure = latency.figure(given)
    assert figure is not None
    assert [(line.style, line.variant) for line in figure.panels[0].lines] == [(0, 0), (0, 1)]
    assert colours(bandwidth.figure(given)) == {"write + apm flush": 0, "read": 1}


def test_spans_show_the_headline() -> None:
    points = [made.with_windows(lat(i, depth=1 + i, **READ), [[(10**8, 500, 9000)]] * 3) for i in range(8)]
    points.insert(3, made.with_windows(lat(9), [[(10**8, 500, 9000)]] * 3))
    figure = windows.figure(runs(sample.result(points)))
    assert any(label.startswith("write + apm flush") for label in labels(figure))
    assert figure is not None and figure.notes == ("The chart shows 4 of 9 points, the table all.",)


def test_an_interval_stands_beside_its_own_figure() -> None:
    """The value's own comes first; another figure has its own behind it, in parentheses, or none."""
    labelled = [sample.result([lat(0, first=1000 * n), sample.bw_point(1, 65536)], label=f"run {n}") for n in (1, 2)]
    single = sample.result([made.with_latency(0, "latency", [range(1000, 2000)] * 3)])
    checked = 0
    for found in (cards.cards_of(runs(*labelled)), cards.cards_of(runs(single))):
        for card in found:
            figures = [card.value, *(part.rpartition(" (")[0].partition(" ")[2] for part in re.findall(r"p[0-9.]+ [^,]*\(", card.detail))]
            ends = re.findall(r"95 % interval ([0-9.,]+)(?: \S+)? \u2013 ([0-9.,]+ \S+?)[,)]", card.detail + ",")
            assert len(ends) <= len(figures), card
            for figure, (low, high) in zip(figures, ends, strict=False):
                value, top = (float(text.split()[0].replace(",", "")) for text in (figure, high))
                assert float(low.replace(",", "")) <= value <= top, card
                checked += 1
    assert checked >= 6
