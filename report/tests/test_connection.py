# SPDX-License-Identifier: BSD-3-Clause
"""Settings of connections: on the page, in the names of series, and in what makes points equal."""

import copy
import csv
from pathlib import Path
from typing import Any

import pytest

import sample
from conftest import Command, Write, refused
from loaded import runs
from outline import Outline
from rpma_report.figures import cost
from rpma_report.figures.groups import latency_series
from rpma_report.figures.series import identities, identity
from rpma_report.page import connections

# what rpma-bench writes where nothing is set: its options --retries and the like have these defaults
LEFT = {"path_mtu_bytes": 4096, "gid_index": 3, "gid_type": "roce-v2", "gid": "fe80::1", "sq_size": 1, "rq_size": 1,
        "cq_size": 2, "buffers": "normal", "traffic_class": None, "ack_timeout": None, "retries": 7, "rnr_retries": 7,
        "inline_size_bytes": 16, "comp_vector": 0}  # fmt: skip
SET = {"path_mtu_bytes": 1024, "traffic_class": 96, "ack_timeout": 14, "retries": 3, "rnr_retries": 6, "comp_vector": 2,
       "buffers": "hugepages"}  # fmt: skip
TEXTS = {"MTU 4096": "MTU 1024", "no traffic class set": "traffic class 96", "no ack timeout set": "ack timeout 14",
         "7 retries": "3 retries", "7 RNR retries": "6 RNR retries", "completion vector 0": "completion vector 2",
         "normal pages": "huge pages"}  # fmt: skip


def point(number: int = 0, size: int = 4096, linked: dict[str, Any] | None = LEFT, **params: Any) -> dict[str, Any]:
    made = sample.lat_point(number, size, count=200, **params)
    if linked is not None:
        made["params"]["connection"] = linked
    return made


def one(linked: dict[str, Any] | None, **params: Any) -> dict[str, Any]:
    return sample.result([point(linked=linked, **params)])


@pytest.mark.parametrize("key", SET)
def test_what_a_user_sets_tells_points_apart(key: str) -> None:
    (left,), (other,) = (run.points for run in runs(one(LEFT), one({**LEFT, key: SET[key]})))
    assert identity(left) != identity(other)


def test_what_depth_host_and_device_decide_tells_no_points_apart() -> None:
    given = {"gid_index": 0, "gid_type": "ib", "gid": None, "sq_size": 9, "rq_size": 9, "cq_size": 9, "inline_size_bytes": 60}
    (left,), (other,) = (run.points for run in runs(one(LEFT), one({**LEFT, **given})))
    assert identity(left) == identity(other)


def test_points_posted_inline_are_others_and_one_line_with_those_that_are_not() -> None:
    swept = [point(0, 64, inline_bytes=64), point(1, 4096, inline_bytes=0)]
    (inline, _), (plain,) = (run.points for run in runs(sample.result(swept), sample.result([point(0, 64)])))
    assert identity(inline) != identity(plain)
    assert len(latency_series(runs(sample.result(swept))).series) == 1


def test_older_results_are_like_those_where_nothing_was_set() -> None:
    (old,), (left,), (other,) = (run.points for run in runs(one(None), one(LEFT), one({**LEFT, "traffic_class": 96})))
    of = identities([old, left, other])
    assert of(old) == of(left) != of(other)


def test_older_results_are_like_none_of_several_mtus() -> None:
    (old,), (large,), (small,) = (run.points for run in runs(one(None), one(LEFT), one({**LEFT, "path_mtu_bytes": 1024})))
    assert len(set(map(identities([old, large, small]), (old, large, small)))) == 3


def test_labels_have_what_was_set_where_series_differ_in_it() -> None:
    plain, other = (s.label for s in latency_series(runs(one(LEFT), one({**LEFT, **SET}))).series)
    assert plain == "write + apm flush, MTU 4096"
    assert other.startswith("write + apm flush, MTU 1024, traffic class 96, ack timeout 14, 3 retries, 6 RNR retries, ")


def test_page_has_equal_settings_once_and_names_the_points_of_others(page: Any) -> None:
    deep = {**LEFT, "sq_size": 16, "cq_size": 17}
    document = sample.result([point(0), point(1, depth=16, linked=deep)])
    told = Outline(page(document)).text()
    assert "Connections, equal at all points" in told and "path MTU 4096 B" in told and "fe80::1" in told
    assert "GID index 3 GID type roce-v2 GID fe80::1" in told
    assert "send queue 1 depth 1 send queue 16 depth 16 completion queue 2 depth 1 completion queue 17 depth 16" in told


def test_points_that_no_axis_names_are_named_by_file_and_id() -> None:
    marked = {**LEFT, "traffic_class": 96}
    first = sample.result([point(0, 64), point(1, 256, marked), point(2, 1024)])
    same, differing = connections.blocks(runs(first, sample.result([point(0, 64)])))
    assert differing.groups[0].rows[1][2].text == "size 256 B"  # type: ignore[union-attr]
    first["points"].append(point(3, 256))
    same, differing = connections.blocks(runs(first, sample.result([point(0, 64)])))
    cells = [[cell.text for cell in row] for row in differing.groups[0].rows]  # type: ignore[union-attr]
    assert cells == [["traffic class", "the host's choice", "r0.json: p0000, p0002, p0003, r1.json"],
                     ["traffic class", "96", "r0.json: p0001"]]  # fmt: skip


def test_results_without_connections_have_no_table() -> None:
    assert list(connections.blocks(runs(one(None)))) == []
    *_, said = connections.blocks(runs(one(None), one(LEFT)))
    assert said.text == "Of 1 of 2 points the connection is not recorded."  # type: ignore[union-attr]


def test_ack_timeout_is_told_as_time() -> None:
    """4.096 us times 2 to the power of 14 are 67.1 ms."""
    (table,) = connections.blocks(runs(one({**LEFT, "ack_timeout": 14})))
    assert ["ack timeout", "14 (67.1 ms)"] in [[c.text for c in row] for row in table.groups[0].rows]  # type: ignore[union-attr]


def test_compare_names_what_no_point_agrees_in(quick: Command, write: Write) -> None:
    paths = write(one(LEFT), "base.json"), write(one({**LEFT, **SET}), "new.json")
    for first, second in TEXTS.items():
        refused(quick("compare", *paths), "only points of equal parameters", f"{first} against {second}")


def test_compare_names_the_difference_of_points_that_one_side_has(quick: Command, write: Write) -> None:
    new = sample.result([point(0, 64), point(1, linked={**LEFT, "traffic_class": 96})])
    done = quick("compare", write(sample.result([point(0, 64), point(1)]), "base.json"), write(new, "new.json"))
    assert "the closest differ in no traffic class set against traffic class 96" in done.stdout


def test_compare_takes_an_unrecorded_mtu_for_equal_and_says_so(quick: Command, write: Write) -> None:
    done = quick("compare", write(one(None), "base.json"), write(one(LEFT), "new.json"))
    assert done.returncode == 0
    assert "1 of 1 points: one side does not record the MTU of its path, taken as equal" in done.stdout
    done = quick("compare", write(one(None), "base.json"), write(one(None, seed=2), "new.json"))
    assert done.returncode == 0 and "MTU" not in done.stdout


def test_history_takes_an_unrecorded_mtu_for_equal(quick: Command, write: Write) -> None:
    done = quick("history", write(one(None), "old.json"), write(one(LEFT), "new.json"))
    assert done.returncode == 0, done


def test_csv_has_the_settings(quick: Command, write: Write, tmp_path: Path) -> None:
    path = write(one({**LEFT, "traffic_class": 96, "new_in_2030": 1}))
    assert quick("create", path, "-o", tmp_path / "p.html", "--csv", tmp_path / "p.csv").returncode == 0
    row = next(csv.DictReader((tmp_path / "p.csv").open(encoding="utf-8")))
    assert row["connection_traffic_class"] == "96" and row["connection_path_mtu_bytes"] == "4096"
    assert "connection_new_in_2030" not in row


def test_cost_of_persistence_is_that_of_the_same_connection() -> None:
    plain = {"persist": "none", "flush": None, "flush_method": None, "latency_kind": "post_to_cqe"}
    document = sample.result([point(0), point(1, linked={**LEFT, "traffic_class": 96}, **plain)])
    assert cost.figure(runs(document)) is None
    other = copy.deepcopy(document)
    other["points"][1]["params"]["connection"] = LEFT
    assert cost.figure(runs(other)) is not None
