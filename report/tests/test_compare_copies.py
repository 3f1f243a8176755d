# SPDX-License-Identifier: BSD-3-Clause
"""A copy of a result is no run: it counts once, and its name is said."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import sample_tools as tools
from conftest import Command, Write, refused
from test_compare_command import measured

STEPS = range(10_000, 12_000)


def copied(folder: Path, document: Any, number: int = 3) -> Path:
    folder.mkdir()
    for index in range(number):
        (folder / f"{index}.json").write_text(json.dumps(document))
    return folder


def words(stdout: str) -> str:
    return next(line.partition(": ")[2] for line in stdout.splitlines() if " against " in line)


def test_three_copies_a_side_are_one_run_a_side(quick: Command, write: Write, tmp_path: Path) -> None:
    """The words of a directory of copies are those of the file."""
    base, new = measured(), measured(1.03)
    single = quick("compare", write(base, "a.json"), write(new, "b.json"), "--noise", "5%", "--fail-if", "worse")
    sides = copied(tmp_path / "a", base), copied(tmp_path / "b", new)
    done = quick("compare", *sides, "--noise", "5%", "--fail-if", "worse")
    assert words(done.stdout) == words(single.stdout) and done.returncode == single.returncode
    assert "2.json is a copy of 0.json, and counts once.\n" in done.stdout


def test_compressed_copy_is_one(quick: Command, tmp_path: Path) -> None:
    folder = copied(tmp_path / "a", measured(), 1)
    (folder / "1.json.gz").write_bytes(gzip.compress(json.dumps(json.loads((folder / "0.json").read_text()), indent=1).encode()))
    done = quick("compare", folder, copied(tmp_path / "b", measured(1.3), 1))
    assert "1.json.gz is a copy of 0.json, and counts once.\n" in done.stdout


def test_one_id_with_other_figures_is_refused_by_name(quick: Command, tmp_path: Path) -> None:
    base = measured()
    folder = copied(tmp_path / "a", base, 1)
    (folder / "edited.json").write_text(json.dumps({**measured(1.2), "run": base["run"]}))
    refused(quick("compare", folder, copied(tmp_path / "b", measured())), f"edited.json and 0.json have one run.id, {base['run']['id']}")


def test_run_on_both_sides_is_refused(quick: Command, tmp_path: Path) -> None:
    base = measured()
    sides = copied(tmp_path / "a", base, 1), copied(tmp_path / "b", base, 1)
    (sides[1] / "new.json").write_text(json.dumps(measured(1.2)))
    refused(quick("compare", *sides), "b has a run that the base has too")


@pytest.mark.parametrize("same", [True, False])
def test_copies_of_fio_count_once(same: bool, quick: Command, tmp_path: Path) -> None:
    """fio has no id of a run: its figures and its time tell runs apart."""
    def one(number: int, times: int) -> dict[str, Any]:
        made = tools.fio(tools.fio_job("w", [ns * times + number for ns in STEPS], rw="write"))
        return {**made, "timestamp": made["timestamp"] + number, "timestamp_ms": made["timestamp_ms"] + number * 1000}

    sides = [tmp_path / "a", tmp_path / "b"]
    for side, times in zip(sides, (1, 2), strict=True):
        side.mkdir()
        for number in range(3):
            (side / f"{number}.json").write_text(json.dumps(one(0 if same else number, times)))
    done = quick("compare", *sides, "--noise", "1%", "--fail-if", "worse")
    assert ("is a copy of" in done.stdout) is same
    assert done.returncode == (3 if same else 1)


def test_history_counts_a_copy_once(quick: Command, write: Write) -> None:
    first, second = measured(), measured(1.1)
    paths = [write(document, name) for document, name in ((first, "a.json"), (second, "b.json"), (second, "c.json"))]
    done = quick("history", *paths)
    assert "c.json is a copy of b.json, and counts once.\n" in done.stdout
    assert done.returncode == 0 and "2 runs" in done.stdout and "3 runs" not in done.stdout


def test_history_of_copies_alone_is_none(quick: Command, write: Write) -> None:
    document = measured()
    refused(quick("history", write(document, "a.json"), write(document, "b.json")), "needs two results with points or more")


def test_only_compressed_results_are_a_directory_of_results(quick: Command, tmp_path: Path) -> None:
    sides = tmp_path / "a", tmp_path / "b"
    for side, factor in zip(sides, (1.0, 1.3), strict=True):
        side.mkdir()
        (side / "one.json.gz").write_bytes(gzip.compress(json.dumps(measured(factor)).encode()))
    assert quick("compare", *sides, "--noise", "1%", "--fail-if", "worse").returncode == 1
    assert quick("history", *sides).returncode == 0


def test_result_that_is_packed_otherwise_is_said_and_passes_no_gate(quick: Command, tmp_path: Path) -> None:
    sides = copied(tmp_path / "a", measured(), 1), copied(tmp_path / "b", measured(), 1)
    (sides[1] / "second.json.xz").write_bytes(b"\xfd7zXZ")
    done = quick("compare", *sides, "--noise", "1%", "--fail-if", "worse")
    assert done.returncode == 3
    assert "undetermined: worse: b: second.json.xz is not read: expected .json or .json.gz\n" in done.stdout
