# SPDX-License-Identifier: BSD-3-Clause
"""The parts of scripts/test: what it runs, what it remembers, how it ends and shows a test."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts/lib/suite"))

import failures  # noqa: E402
import records  # noqa: E402
import results  # noqa: E402
import steps  # noqa: E402
import watch  # noqa: E402
from results import Outcome, Skip  # noqa: E402


def case(name: str, status: str = "run", output: str = "") -> str:
    return f'<testcase name="{name}" status="{status}" time="1.5"><system-out>{output}</system-out></testcase>'


@pytest.fixture
def junit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results")
    (tmp_path / "results").mkdir()

    def read(*cases: str, tree: str = "release", status: int = 0) -> Outcome:
        file = tmp_path / "junit.xml"
        file.write_text(f'<testsuite name="x">{"".join(cases)}</testsuite>')
        return results.read_ctest(tree, tree, file, status, 3)

    return read


def test_outcomes_are_added_up_and_closed_as_ctest_does(junit) -> None:
    lines = results.closing_lines([junit(case("a"), case("b")), junit(case("a"), tree="asan")], 7)
    assert lines[-3:] == ["100% tests passed, 0 tests failed out of 3", "", "Total Test time (real) =   7.00 sec"]


def test_a_ctest_that_fails_without_a_failed_test_fails(junit) -> None:
    lines = results.closing_lines([junit(case("a"), status=8)], 7)
    assert "FAILED   release: ctest itself" in lines
    assert "50% tests passed, 1 tests failed out of 2" in lines


def test_a_failed_test_is_named_and_its_output_kept(junit) -> None:
    outcome = junit(case("a"), case("broken", "fail", "it is all wrong"))
    lines = results.closing_lines([outcome], 7)
    assert "FAILED   release: broken" in lines
    assert "it is all wrong" in [line.strip() for line in lines]
    assert (results.RESULTS / "release/broken.log").read_text() == "it is all wrong"


@pytest.mark.parametrize(("skipping", "shown"), [
    (case("a", "notrun", "no such device"), "release: a: no such device"),
    (case("a", "run", "[  SKIPPED ] odp"), "release: a/odp: skipped by the test"),
    (case("a", "run", "SKIPPED [1] ../t.py:3: no X"), "release: a/t.py: no X"),
    (case("a", "run", "ok b\nskip c-d: no PMem\nok e"), "release: a/c-d: no PMem"),
])
@pytest.mark.parametrize("ci", ["", "true"])
def test_a_skip_nobody_allowed_is_shown_and_fails_in_ci(junit, monkeypatch, skipping, shown, ci) -> None:
    monkeypatch.setenv("CI", ci)
    outcome = junit(skipping, case("b"))
    assert results.forbid_skips(outcome)[0].startswith(f"skipped  {shown}")
    assert f"skipped  {shown}\n" in (results.RESULTS / "skipped").read_text()
    assert bool(outcome.failed) == (ci == "true")


@pytest.mark.parametrize(("test", "output", "allowed"), [
    ("soft.launcher", "SKIPPED [1] ../test_launcher.py:61: no clang here", True),
    ("soft.launcher", "SKIPPED [1] ../test_launcher.py:61: no gcc here", False),
    ("librpma-reference.mr", "[  SKIPPED ] advise__refuses_null", True),
    ("librpma-reference.mr", "[  SKIPPED ] reg__refuses_null", False),
])
def test_only_what_is_named_may_skip_in_ci(junit, monkeypatch, test, output, allowed) -> None:
    monkeypatch.setenv("CI", "true")
    outcome = junit(case(test, "run", output))
    results.forbid_skips(outcome)
    assert bool(outcome.failed) != allowed


def test_no_test_at_all_is_no_success() -> None:
    assert "0% tests passed, 0 tests failed out of 0" in results.closing_lines([], 1)


def test_every_allowed_skip_has_a_reason() -> None:
    for line in (ROOT / "tests/skips-allowed").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, reason = line.split(maxsplit=1)
            assert ":" in pattern and reason


CMOCKA = """\
[ RUN      ] refuses_null
[  ERROR   ] --- 0x3 != 0x4
[   LINE   ] --- /src/tests/unit/common/test_allow.c:31: error: Failure!
[  FAILED  ] refuses_null
[==========] 1 test(s) run.
"""
SETUP = """\
[ RUN      ] pds__are_many
Could not run test: pd
[   LINE   ] --- ../../tests/device/test_pd_mr.c:22: error: Failure!Test setup failed
[  ERROR   ] pds__are_many
[ RUN      ] other
"""
PYTEST = """\
F.
=================================== FAILURES ===================================
_______________________________ test_port[tcp] _________________________________
tests/system/x/helper.py:9: in check
    assert one == other
E   AssertionError: the server printed no port
E   assert 3 == 4
__________________ test_port[a name so long that it has one _] _
tests/system/x/helper.py:9: in check
E   assert 5 == 6
=========================== short test summary info ============================
FAILED ../test_x.py::test_port[tcp] - AssertionError
"""
TRANSCRIPT = """\
/src/tests/system/transcript/fio.transcript:12: $ fio --enghelp=librpma
exit status 1, expected 0
stdout lacks 'serverip'
--- stdout
--- stderr
no such engine

4 invocations, 1 failed
"""
GUEST = """\
ok interop (4 s)
not ok rpma-bench (status 1)
    ok several clients of one server (3 s)
    not ok a server killed in mid-run
    status 0, expected 2
ok fio (3 s)
"""
FUZZ = """\
build/asan/tests/fuzz/mutate_message: round 41 crashed the parser; again: build/asan/tests/fuzz/mutate_message 42 41
"""
ASAN = """\
==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60 at pc 0x55 bp 0x7f sp 0x7f
READ of size 1 at 0x60 thread T0
    #0 0x55 in parse /src/common/rdma/handshake.c:77
    #1 0x56 in LLVMFuzzerTestOneInput /src/tests/fuzz/fuzz_message.c:12
"""


@pytest.mark.parametrize(("test", "output", "shown", "again"), [
    ("common.allow", CMOCKA, ["refuses_null", "0x3 != 0x4", "test_allow.c:31"], "RPMA_TEST_CASE=refuses_null ctest"),
    ("device.pd_mr", SETUP, ["pds__are_many", "setup failed", "test_pd_mr.c:22"], "RPMA_TEST_CASE=pds__are_many"),
    ("x.y", PYTEST, ["test_port[tcp] at tests/system/x/helper.py:9", "no port", "assert 3 == 4"], "-k test_port'"),
    ("transcript.fio", TRANSCRIPT, ["fio.transcript:12 $ fio --enghelp", "expected 0", "lacks 'serverip'"], "TRANSCRIPT_LINE=12"),
    ("guest.host", GUEST, ["rpma-bench", "a server killed in mid-run", "status 0, expected 2"],
     "tests/vm/boot_and_test host rpma-bench"),
    ("fuzz.message", FUZZ + ASAN, ["message", "round 41", "heap-buffer-overflow", "parse /src/common/rdma/handshake.c:77"],
     "mutate_message 42 41"),
    ("bench.loop", ASAN, ["heap-buffer-overflow", "handshake.c:77"], "ctest --test-dir build/asan"),
    ("any", "one\ntwo\n", ["one", "two"], "ctest --test-dir build/asan -V -R '^any$'"),
])
def test_a_failure_is_shown_in_ten_lines_with_the_way_to_repeat_it(test, output, shown, again) -> None:
    lines = failures.lines("asan", test, output)
    text = "\n".join(lines)
    assert len(lines) <= 8 and all(len(line) < 200 for line in lines)
    assert all(words in text for words in shown), text
    assert again in lines[-1]


def test_a_long_log_does_not_hide_what_was_expected() -> None:
    log = "".join(f"E   server: line {number}\n" for number in range(500))
    output = PYTEST.replace("E   assert 3 == 4\n", f"E   assert 3 == 4\n{log}")
    assert len(failures.lines("release", "x.y", output)) <= 8


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two files, in place of ours."""
    for command in (["init", "-q"], ["config", "user.name", "x"], ["config", "user.email", "x"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    for name in ("librpma/peer.c", "report/draw.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("one")
    (tmp_path / ".gitignore").write_text("records/\n")
    monkeypatch.setattr(records, "ROOT", tmp_path)
    monkeypatch.setattr(records, "FOLDER", tmp_path / "records")
    return tmp_path


COMPILED = steps.Step("tsan", "tsan")
GUEST = steps.Step("guest-trixie", "release", lane="guest")
ALL_FILES = steps.Step("lint", "release", of_code=False)
KINDS = (COMPILED, GUEST, ALL_FILES)


def pass_all() -> None:
    states = records.States()
    for step in KINDS:
        records.write(step.name, states.of(step), "passed", 1, 1)


@pytest.mark.parametrize(("changed", "left"), [
    (None, {"tsan", "guest-trixie", "lint"}), ("report/draw.py", {"tsan", "guest-trixie"}), ("scripts/vm", {"tsan"}),
    ("tests/unit/librpma/test_peer.c", {"guest-trixie"}),
    ("librpma/peer.c", set()), ("tools/new.c", set())])
def test_a_change_undoes_what_depends_on_it(sources: Path, changed: str | None, left: set[str]) -> None:
    pass_all()
    if changed:
        (sources / changed).parent.mkdir(parents=True, exist_ok=True)
        (sources / changed).write_text("two")
    states = records.States()
    assert {step.name for step in KINDS if records.holds(step, states)} == left


@pytest.mark.parametrize("status", ["failed", "stopped"])
def test_what_did_not_pass_is_run_again(sources: Path, status: str) -> None:
    records.write(COMPILED.name, records.States().of(COMPILED), status, 1, 1)
    assert not records.holds(COMPILED, records.States())


def test_a_record_cut_short_does_not_hold(sources: Path) -> None:
    pass_all()
    file = records.FOLDER / "tsan.json"
    file.write_text(file.read_text()[:-9])
    assert not records.holds(COMPILED, records.States())


def test_without_version_control_nothing_holds(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_output", lambda *command: "")
    pass_all()
    assert not records.holds(COMPILED, records.States())


def looked_at_until(ends, command: list[str], idle_limit_s: float) -> watch.Watch:
    """A parent in the place of ctest, with one child."""
    script = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    with subprocess.Popen([sys.executable, "-c", script, *command]) as parent:
        seen = watch.Watch(parent.pid, idle_limit_s)
        while parent.poll() is None and not ends(seen):
            seen.look()
            time.sleep(0.05)
        parent.kill()
    return seen


def test_a_test_that_waits_in_vain_is_ended_and_says_where(tmp_path: Path) -> None:
    fifo = tmp_path / "without-writer"
    os.mkfifo(fifo)
    seen = looked_at_until(lambda _: False, ["cat", str(fifo)], idle_limit_s=0.3)
    assert len(seen.ended) == 1
    assert "no progress" in seen.ended[0] and "without-writer" in seen.ended[0]


def test_a_test_at_work_is_not_ended() -> None:
    work = "sum = 0\nfor number in range(5_000_000):\n    sum += number"
    seen = looked_at_until(lambda _: False, [sys.executable, "-c", work], idle_limit_s=0.01)
    assert not seen.ended


@pytest.fixture(scope="module")
def ctest_of_release() -> dict[str, set[str]]:
    """The tests of the release tree, and their labels."""
    done = subprocess.run(["ctest", "--test-dir", os.environ["RPMA_BUILD_DIR"], "--show-only=json-v1"],
                          check=True, capture_output=True, text=True)
    found = {}
    for test in json.loads(done.stdout)["tests"]:
        labels = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
        found[test["name"]] = set(labels[0]) if labels else set()
    return found


def selected(step: steps.Step) -> set[str]:
    done = subprocess.run(["ctest", "--test-dir", os.environ["RPMA_BUILD_DIR"], "--show-only=json-v1", *step.tests],
                          check=True, capture_output=True, text=True)
    return {test["name"] for test in json.loads(done.stdout)["tests"]}


def test_every_test_is_in_one_step_of_all(ctest_of_release) -> None:
    of_release = [step for step in steps.steps_of("all") if step.tree == "release" and step.tests]
    taken = [name for step in of_release for name in selected(step)]
    assert set(taken) == set(ctest_of_release)
    assert len(taken) == len(set(taken)), sorted(name for name in taken if taken.count(name) > 1)


def test_the_default_run_has_no_long_test(ctest_of_release) -> None:
    for step in steps.steps_of("default"):
        if step.tree == "release":
            assert not {n for n in selected(step) if ctest_of_release[n] & {"long", "perf", "measured"}}


RUN_OF_TWO = """\
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import main, records, results, run
from steps import Step
results.RESULTS = main.RESULTS = run.RESULTS = Path(sys.argv[2], "results")
records.FOLDER = Path(sys.argv[2], "records")
wait = ("sh", "-c", f"echo at work; read line < {sys.argv[2]}/fifo")
sys.exit(main.run_alone([Step("first", None, command=("true",)), Step("second", None, command=wait)], 0))
"""


def run_of_two(folder: Path) -> subprocess.Popen[str]:
    """The second step waits for ever."""
    return subprocess.Popen([sys.executable, "-B", "-c", RUN_OF_TWO, str(ROOT / "scripts/lib/suite"), str(folder)],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                            env={**os.environ, "FIO_SOURCE_DIR": "/none", "CI": ""})  # fmt: skip


def wait_for_second(run: subprocess.Popen[str], folder: Path) -> None:
    log = folder / "results/second.log"
    while not (log.exists() and log.read_text() == "at work\n"):
        assert run.poll() is None
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_stopped_keeps_what_has_passed(tmp_path: Path, number: signal.Signals) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "results").mkdir()
    (tmp_path / "results/first.log").write_text("of the last run")
    with run_of_two(tmp_path) as run:
        wait_for_second(run, tmp_path)
        run.send_signal(number)
        output = run.communicate()[0]
    assert run.returncode == 128 + number, output
    kept = {name: json.loads((tmp_path / f"records/{name}.json").read_text())["status"] for name in ("first", "second")}
    assert kept == {"first": "passed", "second": "stopped"}
    assert (tmp_path / "results.last/first.log").read_text() == "of the last run"


def test_a_second_run_in_a_tree_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with run_of_two(tmp_path) as run:
        wait_for_second(run, tmp_path)
        with run_of_two(tmp_path) as second:
            assert second.communicate()[0] == "scripts/test: another run is at work in this tree\n"
        assert second.returncode == 4
        assert (tmp_path / "results/second.log").read_text() == "at work\n"
        run.terminate()
        run.communicate()
