# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --check: what a report looks like, and the status of a process with findings."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).resolve().parent / "mistake.c"
LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
MISTAKE = os.environ["CHECK_MISTAKE"]
ENDINGS = {"return": 0, "exit": 3, "_exit": 3, "abort": -6, "segv": -11, "term": -15}
HEADING = re.compile(r"(?m)^== rpma-soft: ([a-z-]+): ")


def run(*words: str, check: str | None = "--check") -> subprocess.CompletedProcess[str]:
    options = [] if check is None else [check]
    return subprocess.run([LAUNCHER, *options, MISTAKE, *words], capture_output=True, text=True, timeout=300)


def last_line(err: str) -> str:
    return err.splitlines()[-1]


def here() -> str:
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    return f"mistake.c:{next(number for number, line in enumerate(lines, 1) if '/* HERE */' in line)}"


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_process_with_an_error_ends_with_99_in_every_way(ending: str) -> None:
    done = run("once", ending)
    assert done.returncode == 99, done.stderr
    assert HEADING.findall(done.stderr) == ["post-in-state"]
    assert last_line(done.stderr).startswith("== rpma-soft: 1 errors, 0 warnings, 0 suppressed, 0 requests seen")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_process_without_one_ends_as_it_does(ending: str) -> None:
    done = run("none", ending)
    assert done.returncode == ENDINGS[ending], done.stderr
    assert HEADING.findall(done.stderr) == []


def test_more_requests_built_at_once_than_there_are_slots() -> None:
    """None of them was posted, so nothing is known of what takes the places."""
    done = run("built", "return")
    assert done.returncode == 99 and HEADING.findall(done.stderr) == ["sq-full"], done.stderr
    assert re.search(r"built at once for QP 0x[0-9a-f]+ than its send queue has slots: \d+\n", done.stderr)
    assert "signaled" not in done.stderr and "build mistake.c:" in done.stderr


@pytest.mark.parametrize("ending", ["return", "exit"])
def test_what_was_printed_is_not_lost(ending: str) -> None:
    assert run("once", ending).stdout == "unflushed "


def test_without_checks_nothing_is_reported() -> None:
    done = run("once", "return", check=None)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_place_is_the_line_of_the_program() -> None:
    err = run("once", "return").stderr
    if "mistake.c" not in err:
        pytest.skip("needs libdw.so.1 and debug information")
    assert re.search(rf"(?m)^ +posted at +\w+ {re.escape(here())}( < |$)", err), err


def test_the_same_place_is_reported_once_and_counted() -> None:
    err = run("often", "return").stderr
    assert len(HEADING.findall(err)) == 1
    assert re.search(r"(?m)^== rpma-soft: post-in-state at .*: seen 5 times$", err), err


def test_twenty_are_printed_and_the_rest_is_counted() -> None:
    err = run("many", "return").stderr
    assert len(HEADING.findall(err)) == 20
    assert len(re.findall(r"(?m)^== rpma-soft: post-in-state at .*: seen 1 times$", err)) == 12
    assert last_line(err).startswith("== rpma-soft: 32 errors,")


@pytest.mark.parametrize(("word", "status"), [("exit=7", 7), ("halt", 99), ("post-in-state", 99), ("rnr", 0)])
def test_words_choose_what_is_reported_and_the_status(word: str, status: int) -> None:
    done = run("many", "return", check=f"--check={word}")
    assert done.returncode == status, done.stderr
    assert len(HEADING.findall(done.stderr)) == {"halt": 1, "rnr": 0}.get(word, 20)


@pytest.mark.parametrize(("check", "status"), [("--check", 0), ("--check=strict", 99)])
def test_warnings_change_the_status_with_strict_alone(check: str, status: int) -> None:
    done = run("asleep", "return", check=check)
    assert HEADING.findall(done.stderr) == ["lost-wakeup"]
    assert done.returncode == status
    assert last_line(done.stderr).startswith("== rpma-soft: 0 errors, 1 warnings,")


@pytest.mark.parametrize("line", ["post-in-state:main", "post-*:ma?n # as it is", " *:main "])
def test_suppressions_match_a_function_of_the_stack(tmp_path: Path, line: str) -> None:
    (tmp_path / "s").write_text(f"# not this one\nrnr:*\n{line}\n", encoding="utf-8")
    done = run("once", "return", check=f"--check=suppressions={tmp_path}/s")
    assert (done.returncode, HEADING.findall(done.stderr)) == (0, [])
    assert last_line(done.stderr).startswith("== rpma-soft: 0 errors, 0 warnings, 1 suppressed,")


def test_json_has_a_line_for_each_finding_and_one_for_the_counts(tmp_path: Path) -> None:
    run("many", "return", check=f"--check=json={tmp_path}/j")
    lines = [json.loads(line) for line in (tmp_path / "j").read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 33
    assert {line["finding"] for line in lines[:-1]} == {"post-in-state"}
    assert all(line["level"] == "error" and line["stack"] for line in lines[:-1])
    assert lines[-1]["errors"] == 32 and lines[-1]["warnings"] == 0


def test_json_tells_which_finding_was_withdrawn(tmp_path: Path) -> None:
    done = run("late", "return", check=f"--check=json={tmp_path}/j")
    assert done.returncode == 0 and "event-unacknowledged: withdrawn: " in done.stderr, done.stderr
    found, withdrawn, counts = [json.loads(line) for line in (tmp_path / "j").read_text(encoding="utf-8").splitlines()]
    assert found["finding"] == withdrawn["withdrawn"] == "event-unacknowledged" and withdrawn["why"]
    assert (found["pid"], found["stack"]) == (withdrawn["pid"], withdrawn["stack"])
    assert counts["errors"] == 0


def test_what_is_suppressed_is_not_withdrawn(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("event-unacknowledged:*\n", encoding="utf-8")
    done = run("late", "return", check=f"--check=suppressions={tmp_path}/s")
    assert done.returncode == 0 and "withdrawn" not in done.stderr, done.stderr
    assert last_line(done.stderr).startswith("== rpma-soft: 0 errors, 0 warnings, 1 suppressed,")


@pytest.mark.parametrize("ending", ENDINGS)
def test_json_has_the_counts_of_a_process_however_it_ends(tmp_path: Path, ending: str) -> None:
    run("once", ending, check=f"--check=json={tmp_path}/j")
    lines = [json.loads(line) for line in (tmp_path / "j").read_text(encoding="utf-8").splitlines()]
    assert [line["errors"] for line in lines if "errors" in line] == [1]


def is_sanitized() -> bool:
    return any(name in Path(MISTAKE).read_bytes() for name in (b"__asan_init", b"__tsan_init"))


@pytest.mark.skipif(is_sanitized(), reason="a sanitizer needs more than the smallest stack")
def test_a_finding_in_a_thread_with_the_smallest_stack() -> None:
    done = run("narrow", "return")
    assert done.returncode == 99 and HEADING.findall(done.stderr) == ["post-in-state"], done.stderr
    assert here() in done.stderr


def test_json_is_utf_8_whatever_the_program_is_called(tmp_path: Path) -> None:
    program = os.fsencode(tmp_path) + b'/mist\xe4ke "\xed\xa0\x80'
    subprocess.run(["strip", "-o", program, MISTAKE], check=True)  # else its frames are in mistake.c
    subprocess.run([LAUNCHER, f"--check=json={tmp_path}/j", program, "once", "return"], capture_output=True, timeout=60)
    lines = [json.loads(line) for line in (tmp_path / "j").read_text(encoding="utf-8").splitlines()]
    assert lines[0]["stack"][-1]["file"].startswith('mist\ufffdke "\ufffd')


def test_a_file_for_findings_that_cannot_be_made_is_told_once(tmp_path: Path) -> None:
    done = run("many", "return", check=f"--check=json={tmp_path}/no/j")
    assert done.returncode == 99, done.stderr
    assert done.stderr.count(f"check: json={tmp_path}/no/j: No such file or directory") == 1


def test_suppressions_that_cannot_be_read_are_told_and_hide_nothing(tmp_path: Path) -> None:
    done = run("many", "return", check=f"--check=suppressions={tmp_path}")
    assert f"check: suppressions={tmp_path}: Is a directory" in done.stderr
    assert done.returncode == 99, done.stderr


def explain(which: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LAUNCHER, "--explain", which], capture_output=True, text=True, timeout=60)


def kinds() -> dict[str, tuple[str, str]]:
    """Each with its level and what it is, as --explain lists them."""
    rows = [line.split(maxsplit=2) for line in explain("list").stdout.splitlines()]
    return {row[0]: (row[1], row[2]) for row in rows}


def test_the_manual_lists_the_kinds_that_there_are() -> None:
    manual = (ROOT / "doc/rpma-soft.1").read_text(encoding="utf-8")
    section = manual[manual.index(".Sh CHECKS"):].split("\n.Sh ")[0]
    listed = re.findall(r"(?ms)^\.It Li ([a-z-]+) Pq (\w+)\n(.*?)(?=^\.(?:It|El))", section)
    assert {name: (level, text.replace("\n", " ").strip()) for name, level, text in listed} == kinds()


def test_each_kind_is_explained() -> None:
    assert len(kinds()) >= 44
    for name, (level, what) in kinds().items():
        text = explain(name).stdout
        assert text.startswith(f"{name} ({level})\n  {what}\n")
        for heading in ("What is demanded", "What hardware does", "How to mend it"):
            assert re.search(rf"(?m)^{heading}\n  \S", text), name
    assert explain("nonsense").returncode == 64
