# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report study with tools that are scripts: what it keeps, what it prints, how it goes on."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sample
import sample_tools
from conftest import SOURCE, START, Command, refused

TOOL = Path(__file__).with_name("fake_tool.py")
FIO_JOB = sample_tools.fio_job("job", range(900, 1100), rw="write", bs="4k")
BENCH: dict[str, Any] = {"name": "b", "tool": "rpma-bench", "axes": {"size": [64, 256, 1024]}}


class Lab:
    """A folder with a plan, its tools, and what they noted."""

    def __init__(self, folder: Path, command: Command) -> None:
        self.folder, self._command = folder, command
        self.dir = folder / "plan.study"
        (folder / "bench.json").write_text(json.dumps(sample.result([sample.lat_point(0, 64, count=200)])))
        (folder / "fio.json").write_text(json.dumps(sample_tools.fio(FIO_JOB)))

    def plan(self, *series: dict[str, Any], **more: Any) -> None:
        tool = [sys.executable, str(TOOL), str(self.folder)]
        programs = {"rpma-bench": tool, "fio": tool, **more.pop("programs", {})}
        document = {"schema": "rpma-report-study/1", "name": "lab", "programs": programs, "series": series}
        document.update(more)
        (self.folder / "plan.json").write_text(json.dumps(document))

    def study(self, *options: object) -> subprocess.CompletedProcess[str]:
        return self._command("study", "plan.json", *options, cwd=self.folder)

    def start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        return subprocess.Popen(
            [*START, "study", "plan.json"], cwd=self.folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]

    def results(self) -> list[Path]:
        return sorted((self.dir / "results").glob("*.json"))

    def began(self) -> int:
        """Waits until a tool that waits is there."""
        with (self.folder / "began").open() as fifo:
            return int(fifo.read())


@pytest.fixture
def lab(tmp_path: Path, quick: Command) -> Lab:
    return Lab(tmp_path, quick)


@pytest.mark.drawn
def test_study_measures_all_points_and_ends_with_the_report(lab: Lab) -> None:
    lab.plan(BENCH, {"name": "f", "tool": "fio", "axes": {"bs": ["4k"]}, "repeats": 2})
    done = lab.study()
    assert (done.returncode, done.stdout) == (0, "5 measurements are done: plan.study/report.html\n")
    assert done.stderr.count(": measured\n") == 5 and len(lab.results()) == 5
    assert "<svg" in (lab.dir / "report.html").read_text(encoding="utf-8")
    assert (lab.dir / "points.csv").stat().st_size > 0


def test_manual_names_all_that_a_study_leaves(lab: Lab) -> None:
    lab.plan(BENCH)
    lab.study()
    page = (SOURCE.parent / "doc/rpma-report.1").read_text(encoding="utf-8")
    told = page.partition("directory of the study:")[2].partition(".El")[0]
    names = {name for line in re.findall(r"^\.It Pa (.*)$", told, re.MULTILINE) for name in line.split(" , ")}
    assert {entry.name for entry in lab.dir.iterdir()} == names


def test_study_that_is_done_measures_nothing_anew(lab: Lab) -> None:
    lab.plan(BENCH)
    lab.study()
    pages = [(lab.dir / "report.html").read_bytes()]
    done = lab.study()
    pages.append((lab.dir / "report.html").read_bytes())
    assert done.returncode == 0 and len(lab.calls()) == 3 and pages[0] == pages[1]


def test_point_that_is_missing_is_measured_again(lab: Lab) -> None:
    lab.plan(BENCH)
    lab.study()
    lab.results()[1].unlink()
    assert lab.study().returncode == 0 and len(lab.calls()) == 4 and len(lab.results()) == 3


def test_words_reach_the_tool_as_they_are(lab: Lab) -> None:
    values = ["$(touch pwned)", "; touch pwned", "a b", "'\"", "*", "\u2028", "--x"]
    lab.plan({"name": "b", "tool": "rpma-bench", "axes": {"op": values}})
    assert lab.study().returncode == 0
    assert {call["words"][3] for call in lab.calls()} == {f"--op={value}" for value in values}
    assert not list(lab.folder.rglob("pwned"))


def test_tools_work_inside_the_directory(lab: Lab) -> None:
    lab.plan(BENCH)
    lab.study()
    assert {call["cwd"] for call in lab.calls()} == {str(lab.dir / "work")}


def test_job_file_and_its_variables_reach_fio(lab: Lab) -> None:
    (lab.folder / "job.fio").write_text("[a]\nbs=${size}\n")
    lab.plan({"name": "f", "tool": "fio", "job_file": "job.fio", "axes": {"size": ["4k"]}, "repeats": 1})
    assert lab.study().returncode == 0
    assert [(call["stdin"], call["size"]) for call in lab.calls()] == [("[a]\nbs=${size}\n", "4k")]


def test_failure_is_told_and_tried_again(lab: Lab) -> None:
    lab.plan(BENCH, {"name": "broken", "tool": "rpma-bench", "options": {"fake": "fail"}})
    done = lab.study()
    assert done.returncode == 2 and len(lab.results()) == 3
    last = done.stderr.splitlines()[-1]
    assert "1 of 4 measurements failed, the first (broken): rpma-bench: exit code 2: no such device: mlx7_0" in last
    assert not (lab.dir / "report.html").exists()
    (lab.folder / "free").touch()
    assert lab.study().returncode == 0 and len(lab.calls()) == 5 and len(lab.results()) == 4


def test_half_a_result_is_none(lab: Lab) -> None:
    lab.plan({"name": "b", "tool": "rpma-bench", "options": {"fake": "truncate"}})
    done = lab.study()
    assert done.returncode == 2 and "no result: " in done.stderr and "truncated?" in done.stderr
    assert lab.results() == []


def test_interrupted_result_of_the_tool_is_none(lab: Lab) -> None:
    run = sample.result([sample.lat_point(0, 64, count=200)], status="interrupted")
    (lab.folder / "bench.json").write_text(json.dumps(run))
    lab.plan({"name": "b", "tool": "rpma-bench"})
    done = lab.study()
    assert done.returncode == 2 and "the run is interrupted" in done.stderr and lab.results() == []


def test_program_that_is_not_there_is_named(lab: Lab) -> None:
    lab.plan(BENCH, programs={"rpma-bench": ["./nowhere/rpma-bench"]})
    done = lab.study()
    assert done.returncode == 2 and "rpma-bench cannot be started: No such file" in done.stderr


def test_measurement_that_takes_too_long_is_ended(lab: Lab) -> None:
    lab.plan({"name": "b", "tool": "rpma-bench", "options": {"fake": "wait"}}, timeout_s=1)
    done = lab.study()
    assert done.returncode == 2 and "took longer than 1 s (timeout_s)" in done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(lab.began(), 0)


@pytest.fixture
def waiting(lab: Lab) -> Iterator[Callable[[], tuple[subprocess.Popen[str], int]]]:
    """A study whose last measurement waits: the process, and that of the tool."""
    os.mkfifo(lab.folder / "began")
    lab.plan(BENCH, {"name": "w", "tool": "rpma-bench", "options": {"fake": "wait"}})
    started = []

    def start() -> tuple[subprocess.Popen[str], int]:
        process = lab.start()
        started.append(process)
        return process, lab.began()

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=300)


Waiting = Callable[[], tuple[subprocess.Popen[str], int]]


def test_killed_study_takes_its_measurement_with_it_and_goes_on(lab: Lab, waiting: Waiting) -> None:
    process, _ = waiting()
    process.kill()
    process.communicate(timeout=300)
    before = {path: path.stat().st_mtime_ns for path in lab.results()}
    (lab.folder / "free").touch()
    done = lab.study()  # waits until what the killed one left has ended
    assert done.returncode == 0 and len(lab.results()) == 4
    assert before.items() <= {path: path.stat().st_mtime_ns for path in lab.results()}.items()
    assert len(lab.calls()) == 5  # four measurements, one of them begun twice


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_ends_the_measurement_and_the_study(
    number: signal.Signals, code: int, lab: Lab, waiting: Waiting
) -> None:
    process, tool = waiting()
    process.send_signal(number)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == code and "Traceback" not in stderr
    assert stderr.endswith("of 4 measurements are done; the same command goes on\n")
    with pytest.raises(ProcessLookupError):
        os.kill(tool, 0)
    (lab.folder / "free").touch()
    assert lab.study().returncode == 0 and len(lab.results()) == 4


def test_only_one_study_works_in_a_directory(lab: Lab, waiting: Waiting) -> None:
    waiting()
    refused(lab.study(), "plan.study: another study", "is at work in it")


def test_directory_of_another_plan_is_refused(lab: Lab) -> None:
    lab.plan(BENCH)
    lab.study()
    state = (lab.dir / "study.json").read_bytes()
    lab.plan({**BENCH, "axes": {"size": [64, 512]}})
    refused(lab.study(), "plan.study: is the directory of another plan", "--dir")
    assert (lab.dir / "study.json").read_bytes() == state and len(lab.calls()) == 3


def test_directory_of_something_else_is_refused(lab: Lab) -> None:
    lab.plan(BENCH)
    (lab.folder / "home").mkdir()
    (lab.folder / "home" / "thesis.txt").touch()
    refused(lab.study("--dir", "home"), "home: is not the directory of a study: it holds thesis.txt")
    assert [entry.name for entry in (lab.folder / "home").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"schema": "rpma-report-study-state/9"}'])
def test_broken_state_is_refused(text: str, lab: Lab) -> None:
    lab.plan(BENCH)
    lab.dir.mkdir()
    (lab.dir / "study.json").write_text(text)
    refused(lab.study(), "study.json: ")


@pytest.mark.parametrize("took", ["[1, 1e308]", f"[1, 1{400 * '0'}]", "[-1, 5]", "[1, -5]"])
def test_times_that_nothing_took_are_refused(took: str, lab: Lab) -> None:
    lab.plan(BENCH)
    lab.study()
    file = lab.dir / "study.json"
    told = json.loads(file.read_text())
    file.write_text(json.dumps({**told, "seconds": {"fio": "HERE"}}).replace('"HERE"', took))
    refused(lab.study(), "study.json: top level: is not the state of a study of this version")


def test_file_in_place_of_a_folder_is_named(lab: Lab) -> None:
    lab.plan(BENCH)
    lab.study()
    (lab.dir / "work").rmdir()
    (lab.dir / "work").touch()
    refused(lab.study(), "plan.study/work: no folder can be made there: File exists")


def test_link_in_the_directory_leads_no_result_out_of_it(lab: Lab) -> None:
    lab.plan(BENCH)
    lab.study()
    precious = lab.folder / "precious"
    precious.write_text("as it was")
    for result in lab.results():
        result.unlink()
        result.with_name(f".{result.stem}.part").symlink_to(precious)
        log = lab.dir / "logs" / f"{result.stem}.log"
        log.unlink()
        log.symlink_to(precious)
    assert lab.study().returncode == 0
    assert precious.read_text() == "as it was" and not any(r.is_symlink() for r in lab.results())


NEEDS = [{"name": "ddio-off", "text": "BIOS, IIO, port 2: DDIO to Disabled.\nThen boot."},
         {"name": "ddio-on", "text": "DDIO back to Enabled."}]  # fmt: skip
GROUPS = (BENCH, {**BENCH, "requires": "ddio-off"}, {**BENCH, "requires": "ddio-on"})


def test_requirement_stops_the_study_and_says_what_to_set(lab: Lab) -> None:
    lab.plan(*GROUPS, requirements=NEEDS)
    done = lab.study()
    assert done.returncode == 3 and len(lab.results()) == 3 and done.stdout == ""
    assert done.stderr.endswith(
        "3 of 9 measurements are done. The next 3 need ddio-off:\n"
        "  BIOS, IIO, port 2: DDIO to Disabled.\n  Then boot.\n"
        "Then go on with: rpma-report study plan.json --met ddio-off\n"
    )


def test_requirements_that_are_met_let_the_study_go_on(lab: Lab) -> None:
    lab.plan(*GROUPS, requirements=NEEDS)
    codes = [lab.study().returncode, lab.study("--met", "ddio-off").returncode, lab.study().returncode]
    assert codes == [3, 3, 3] and len(lab.results()) == 6
    assert lab.study("--met", "ddio-on").returncode == 0 and len(lab.results()) == 9


def test_setting_is_remembered_until_the_next_one(lab: Lab) -> None:
    lab.plan(*GROUPS, requirements=NEEDS)
    lab.study("--met", "ddio-off")
    for path in lab.results()[:3]:
        path.unlink()
    assert lab.study().returncode == 3  # resumed after a kill, say: ddio-off is still met
    lab.study("--met", "ddio-on")
    for path in lab.results():
        path.unlink()
    assert lab.study().returncode == 3
    assert len(lab.results()) == 6  # ddio-off is asked for again


def test_check_decides_in_place_of_the_user(lab: Lab) -> None:
    needs = [{"name": "ddio-off", "text": "Set it.", "check": ["test", "-e", str(lab.folder / "free")]}]
    lab.plan({**BENCH, "requires": "ddio-off"}, requirements=needs)
    done = lab.study()
    assert done.returncode == 3 and done.stderr.endswith("Then go on with: rpma-report study plan.json\n")
    (lab.folder / "free").touch()
    assert lab.study().returncode == 0


def test_unknown_requirement_is_wrong_usage(lab: Lab) -> None:
    lab.plan(*GROUPS, requirements=NEEDS)
    done = lab.study("--met", "ddio")
    assert done.returncode == 64 and "expected one of ddio-off, ddio-on" in done.stderr


def test_other_host_gets_quoted_words_over_ssh(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake ssh does what sshd does: gives the words to a shell."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(lab.folder))  # for the lock
    ssh = lab.folder / "ssh"
    last = 'while [ $# -gt 1 ]; do shift; done; eval "$1"'
    ssh.write_text(f'#!/bin/sh\necho "$@" >> {lab.folder}/ssh-calls\n{last}\n')
    ssh.chmod(0o755)
    lab.plan({"name": "b", "tool": "rpma-bench", "ssh": "client-2", "axes": {"op": ["a; touch pwned $(x)"]}},
             programs={"ssh": ["./ssh", "-i", "secret-key"]})  # fmt: skip
    assert lab.study().returncode == 0
    assert "BatchMode=yes" in (told := (lab.folder / "ssh-calls").read_text()) and " -- client-2 " in told
    assert lab.calls()[0]["words"] == ["local", "--json", "--quiet", "--op=a; touch pwned $(x)"]
    assert "secret-key" not in everything(lab.dir)


def test_nothing_of_programs_and_environment_is_kept(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RPMA_TEST_PASSWORD", "hunter2")
    programs = {"rpma-bench": ["env", "TOKEN=hunter3", sys.executable, str(TOOL), str(lab.folder)]}
    lab.plan(BENCH, {"name": "broken", "tool": "rpma-bench", "options": {"fake": "fail"}}, programs=programs)
    first = lab.study()
    (lab.folder / "free").touch()
    second = lab.study()
    assert (first.returncode, second.returncode) == (2, 0)
    told = everything(lab.dir) + first.stderr + second.stderr
    assert "hunter" not in told and shlex.quote(str(TOOL)) not in told


def everything(folder: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())
