# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report study --ab with a tool that is a script: what it runs, keeps and prints, and how it resumes."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import pytest

import fake_pairs
from conftest import SOURCE, START, Command
from rpma_report.studies import process

TOOL = Path(__file__).with_name("fake_pairs.py")


class Lab:
    """A folder with the plans A and B, of equal latency unless changed."""

    def __init__(self, folder: Path, command: Command) -> None:
        self.folder, self._command, self.dir = folder, command, folder / "a-b.study"
        self.plan("a")
        self.plan("b")

    def plan(self, name: str, ns: int = 10_000, replaced: Any = None, **options: Any) -> None:
        """`replaced` is of the plan, and options are the tool's."""
        tool = [sys.executable, str(TOOL), str(self.folder)]
        series = {"name": "w", "tool": "rpma-bench", "options": {"fake-ns": ns, **options}}
        document = {"schema": "rpma-report-study/1", "name": name, "programs": {"rpma-bench": tool},
                    "series": [series], **(replaced or {})}  # fmt: skip
        (self.folder / f"{name}.json").write_text(json.dumps(document))

    def others(self, *cpus: float | None) -> None:
        (self.folder / "others").write_text(json.dumps(cpus))

    def study(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self._command("study", "--ab", "a.json", "b.json", *options, cwd=self.folder)

    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()

    def results(self) -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for side in "AB" for path in (self.dir / side).glob("*.json")}

    def places(self) -> list[dict[str, Any]]:
        """The study blocks of the results, in the order in which they were measured."""
        found = [json.loads(path.read_text())["study"] for path in self.results()]
        return sorted(found, key=lambda place: int(place["order"]))


@pytest.fixture
def lab(tmp_path: Path, quick: Command, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Its tool answers in this process: test_study_run has the ways of processes, killed and late ones too."""

    def run(words: Sequence[str], _stdin: bytes, out: IO[bytes], log: Path, *_more: object) -> int:
        code, output, errors = fake_pairs.answer(Path(words[2]), words[3:])
        out.write(output.encode())
        log.write_text(errors)
        return code

    monkeypatch.setattr(process, "run", run)
    return Lab(tmp_path, quick)


def test_slower_side_is_worse_after_the_first_look(lab: Lab) -> None:
    lab.plan("b", 11_000)
    done = lab.study()
    assert done.returncode == 1, done.stderr
    assert re.search(r"  w, p50: worse: \+10\.. % \(.*\), 6 pairs\n", done.stdout)
    assert re.search(r"  w, p99: worse: \+10\.. % \(.*\), 6 pairs\n", done.stdout)
    assert "6 pairs of at most 24; looks after: 6\n" in done.stdout and len(lab.calls()) == 12
    assert (lab.dir / "report.txt").read_text() == done.stdout


def test_compare_takes_the_sides_of_a_study(lab: Lab, quick: Command) -> None:
    lab.plan("b", 11_000)
    lab.others(*[0.1] * 6, 3.8, 0.1)
    assert lab.study().returncode == 1
    done = quick("compare", lab.dir / "A", lab.dir / "B", "--fail-if", "worse")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "worse" in done.stdout and "not interleaved" not in done.stdout


def test_results_tell_their_place_in_the_study(lab: Lab) -> None:
    lab.study()
    places = lab.places()
    assert [place["order"] for place in places] == list(range(12))
    assert [place["pair"] for place in places] == [i // 2 for i in range(12)]
    assert all({a["side"], b["side"]} == {"A", "B"} for a, b in zip(places[::2], places[1::2], strict=True))
    assert len({place["id"] for place in places}) == 1 and not any(place["disturbed"] for place in places)


def test_equal_sides_are_the_same(lab: Lab) -> None:
    done = lab.study()
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(": same within 2 %: +0.0 %") == 2


def test_faster_side_is_better(lab: Lab) -> None:
    lab.plan("b", 9_000)
    done = lab.study("--figures", "p50,ops_per_s")
    assert done.returncode == 0 and done.stdout.count(": better: ") == 2
    assert "w, ops_per_s: better: +11" in done.stdout


def test_bandwidth_decides_where_it_is_measured(lab: Lab) -> None:
    for side, ns in (("a", 10_000), ("b", 11_000)):
        lab.plan(side, ns, **{"fake-test": "bw"})
    done = lab.study()
    assert done.returncode == 1 and "w, bytes_per_s: worse: -9." in done.stdout and "p50" not in done.stdout


def test_budget_ends_a_study_that_stays_uncertain(lab: Lab) -> None:
    """Noise of 50 % hides a change of 1 %, and a sameness within 2 %."""
    for side, ns in (("a", 10_000), ("b", 10_100)):
        lab.plan(side, ns, **{"fake-noise": 0.5})
    done = lab.study("--figures", "p50")
    assert "24 pairs of at most 24; looks after: 6, 12, 18, 24\n" in done.stdout
    assert done.returncode == 3 and "w, p50: not seen: less than " in done.stdout


def test_points_of_all_jobs_share_the_error(lab: Lab) -> None:
    """Two jobs of two points: each job's runs are pairs by themselves."""
    series = [{"name": name, "tool": "rpma-bench", "options": {"fake-ns": 10_000, "fake-points": 2, "fake-which": name}}
              for name in ("x", "y")]  # fmt: skip
    for side in "ab":
        lab.plan(side, replaced={"series": series})
    done = lab.study()
    assert done.returncode == 0 and done.stdout.count("same within") == 8
    runs = [line.partition("--fake-which=")[2][:1] for line in lab.calls()]
    assert all(first == second for first, second in zip(runs[::2], runs[1::2], strict=True))
    assert sorted(runs) == ["x"] * 12 + ["y"] * 12


def test_disturbed_pair_is_measured_again_and_counted(lab: Lab) -> None:
    """The fourth pair and its repetition: others took all but a fifth of a CPU."""
    lab.others(*[0.1] * 6, 3.8, 0.1, 0.1, 3.8, 0.1)
    done = lab.study()
    assert done.returncode == 0, done.stderr
    assert "2 disturbed pairs were measured again: other programs left too few cores free" in done.stdout
    assert [place["pair"] for place in lab.places() if place["disturbed"]] == [3] * 4
    assert len(lab.calls()) == 16


def test_busy_cores_refuse_the_study(lab: Lab) -> None:
    lab.others(3.8)
    done = lab.study()
    assert (done.returncode, len(lab.calls())) == (3, 4)
    assert "refused: no core is free for each polling thread: the host of both ends: 1 thread polls, " in done.stderr
    assert "other programs took 3.8 of 4 CPUs" in done.stderr and "worse" not in done.stdout
    lab.others(0.1)
    assert lab.study().returncode == 0


def test_too_few_cores_refuse_the_study_at_once(lab: Lab) -> None:
    lab.plan("b", threads=5)
    done = lab.study()
    assert (done.returncode, len(lab.calls())) == (3, 2)
    assert "5 threads poll, and rpma-bench may use 4 CPUs: each polling thread needs a core" in done.stderr


def test_cores_that_are_taken_later_leave_it_unclear(lab: Lab) -> None:
    lab.others(*[0.1] * 14, 3.8)
    for side, ns in (("a", 10_000), ("b", 10_100)):
        lab.plan(side, ns, **{"fake-noise": 0.5})
    done = lab.study("--figures", "p50")
    assert done.returncode == 3, done.stderr
    assert "w, p50: unclear: other programs took the cores in 14 of 21 pairs, 6 pairs\n" in done.stdout


def test_runs_that_record_nothing_are_told(lab: Lab) -> None:
    lab.others(None)
    done = lab.study()
    assert done.returncode == 0
    assert "For some runs it is unknown whether other programs took the cores" in done.stdout


def test_runs_of_fio_are_pairs_too(lab: Lab) -> None:
    """fio starts once in each run, and records nothing of other programs."""
    fio = {"programs": {"fio": [sys.executable, str(TOOL), str(lab.folder)]},
           "series": [{"name": "f", "tool": "fio", "repeats": 1, "options": {"rw": "write", "bs": "4k"}}]}  # fmt: skip
    for side in "ab":
        lab.plan(side, replaced=fio)
    done = lab.study("--figures", "p50")
    assert done.returncode == 0, done.stderr
    assert "  f, p50: same within 2 %" in done.stdout and "it is unknown whether" in done.stdout
    assert [place["order"] for place in lab.places()] == list(range(12))


def test_killed_study_goes_on_with_whole_pairs(lab: Lab) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    line = [*START, "study", "--ab", "a.json", "b.json"]
    with subprocess.Popen(line, cwd=lab.folder, env=environment, text=True, stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as process:  # fmt: skip
        assert process.stderr
        for told in process.stderr:
            if told.startswith("5/48"):  # only one side of the third pair is measured
                process.kill()
                break
        process.wait(300)
    before = lab.results()
    assert len(before) == 4
    (lab.dir / "A" / next(path for path in before if path.parent.name == "A").name).unlink()
    assert lab.study().returncode == 0
    after = lab.results()
    assert len(after) == 12 and len(before.items() & after.items()) == 2
    assert {place["pair"] for place in lab.places()} == set(range(6))


def test_failure_is_told_and_tried_again(lab: Lab) -> None:
    (lab.folder / "fail").touch()
    done = lab.study()
    assert done.returncode == 2 and "rpma-bench: exit code 2: no such device: mlx7_0" in done.stderr
    (lab.folder / "fail").unlink()
    assert lab.study().returncode == 0


def test_finished_study_measures_nothing_anew(lab: Lab) -> None:
    first, second = lab.study(), lab.study()
    assert first.stdout == second.stdout and len(lab.calls()) == 12


FIO = {"name": "f", "tool": "fio", "options": {"rw": "write"}}
NEEDS = [{"name": "off", "text": "Set it."}]


@pytest.mark.parametrize(
    ("plan", "why"),
    [({"series": [{"name": "w", "tool": "rpma-bench", "axes": {"size": [1, 2]}}]},
      "A has 1 measurements and B 2: pairs need as many of each"),
     ({"requirements": NEEDS}, "b: pairs cannot wait for a setting"),
     ({"series": [{**FIO, "repeats": 2}]}, "A has 1 measurements and B 2")],
)  # fmt: skip
def test_plans_that_are_no_pair_are_refused(plan: dict[str, Any], why: str, lab: Lab) -> None:
    lab.plan("b", replaced=plan)
    done = lab.study()
    assert done.returncode == 2 and why in done.stderr and not lab.dir.exists()


def test_sides_that_measure_other_points_are_refused(lab: Lab) -> None:
    lab.plan("b", **{"fake-points": 2})
    done = lab.study()
    assert done.returncode == 2 and "w: A measured 1 points and B 2: pairs need as many of each" in done.stderr


@pytest.mark.parametrize(
    "words",
    [("study",), ("study", "plan.json", "--ab", "a.json", "b.json"), ("study", "plan.json", "--figures", "p50"),
     ("study", "--ab", "a.json", "b.json", "--met", "off"), ("study", "--ab", "a.json", "b.json", "--figures", "p5x")],
)  # fmt: skip
def test_wrong_usage_is_refused(words: tuple[str, ...], quick: Command, tmp_path: Path) -> None:
    done = quick(*words, cwd=tmp_path)
    assert done.returncode == 64 and "Traceback" not in done.stderr
