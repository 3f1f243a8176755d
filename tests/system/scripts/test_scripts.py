# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/test, scripts/quickstart and their parts say and exit with."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SUMMARY = ROOT / "scripts/lib/test_summary.py"
JUNIT = '<testsuite name="x" tests="{count}">{cases}</testsuite>'


def case(name: str, status: str = "run", output: str = "") -> str:
    return f'<testcase name="{name}" status="{status}"><system-out>{output}</system-out></testcase>'


def summarise(results: Path, steps: str, ci: bool = False) -> subprocess.CompletedProcess[str]:
    (results / "steps").write_text(steps)
    environment = {**os.environ, "CI": "true" if ci else ""}
    return subprocess.run(
        [SUMMARY, results, "7"], env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def write_junit(results: Path, name: str, *cases: str) -> None:
    (results / f"{name}.xml").write_text(JUNIT.format(count=len(cases), cases="".join(cases)))


def test_runs_are_added_up_and_closed_as_ctest_does(tmp_path: Path) -> None:
    write_junit(tmp_path, "release", case("a"), case("b"))
    write_junit(tmp_path, "asan", case("a"))
    done = summarise(tmp_path, "build-release\t0\t2\nrelease\t0\t3\nasan\t0\t5\n")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-3:] == [
        "100% tests passed, 0 tests failed out of 4",
        "",
        "Total Test time (real) =   7.00 sec",
    ]


@pytest.mark.parametrize(
    ("steps", "name"),
    [
        ("build-release\t1\t2\nrelease\t0\t2\n", "build-release: build-release"),
        ("release\t8\t1\n", "release: ctest itself (exit status 8)"),
    ],
)
def test_a_step_that_fails_fails_the_whole(tmp_path: Path, steps: str, name: str) -> None:
    write_junit(tmp_path, "release", case("a"))
    done = summarise(tmp_path, steps)
    assert done.returncode == 1
    assert f"FAILED   {name}" in done.stdout
    assert "50% tests passed, 1 tests failed out of 2" in done.stdout


def test_a_failed_test_is_named(tmp_path: Path) -> None:
    write_junit(tmp_path, "release", case("a"), case("broken", "fail"))
    done = summarise(tmp_path, "release\t8\t1\n")
    assert done.returncode == 1
    assert "FAILED   release: broken" in done.stdout


@pytest.mark.parametrize(
    ("skipping", "shown"),
    [
        (case("a", "notrun", "no such device"), "release: a: no such device"),
        (case("a", "run", "[  SKIPPED ] odp"), "release: a/odp: skipped by the test"),
        (case("a", "run", "SKIPPED [1] ../t.py:3: no X"), "release: a/t.py: no X"),
        (case("a", "run", "ok b\nskip c-d: no PMem\nok e"), "release: a/c-d: no PMem"),
    ],
)
def test_a_skip_nobody_allowed_is_shown_and_fails_in_ci(
    tmp_path: Path, skipping: str, shown: str
) -> None:
    write_junit(tmp_path, "release", skipping, case("b"))
    for ci in (False, True):
        done = summarise(tmp_path, "release\t0\t1\n", ci)
        assert f"skipped  {shown}" in done.stdout
        assert done.returncode == (1 if ci else 0)


@pytest.mark.parametrize(
    ("test", "output", "status"),
    [
        ("soft.launcher", "SKIPPED [1] ../test_launcher.py:61: no clang here", 0),
        ("soft.launcher", "SKIPPED [1] ../test_launcher.py:61: no gcc here", 1),
        ("librpma-reference.mr", "[  SKIPPED ] advise__refuses_null", 0),
        ("librpma-reference.mr", "[  SKIPPED ] reg__refuses_null", 1),
    ],
)
def test_only_what_is_named_may_skip_in_ci(
    tmp_path: Path, test: str, output: str, status: int
) -> None:
    write_junit(tmp_path, "release", case(test, "run", output))
    assert summarise(tmp_path, "release\t0\t1\n", ci=True).returncode == status


def test_no_test_at_all_is_a_failure(tmp_path: Path) -> None:
    assert summarise(tmp_path, "").returncode == 1


def test_every_allowed_skip_has_a_reason() -> None:
    for line in (ROOT / "tests/skips-allowed").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, reason = line.split(maxsplit=1)
            assert ":" in pattern and reason


@pytest.mark.parametrize("script", ["test", "quickstart", "package", "lint"])
def test_an_unknown_option_is_named_and_exits_64(script: str) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / script, "--frobnicate"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 64
    assert "--frobnicate" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("script", ["test", "quickstart", "package", "lint"])
def test_help_goes_to_stdout(script: str) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / script, "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"Usage: scripts/{script}") and not done.stderr


def test_lint_says_that_it_needs_version_control(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(ROOT / "scripts/lint", tmp_path / "scripts")
    done = subprocess.run([script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and done.stdout == ""
    assert "under version control" in done.stderr


def install_packages(folder: Path, *sets: str) -> subprocess.CompletedProcess[str]:
    """packages_install with the programs of FOLDER alone, then a word that it went on."""
    for tool in ("bash", "dirname", "grep"):
        (folder / tool).symlink_to(f"/usr/bin/{tool}")
    script = f". scripts/lib/packages.sh; packages_install {' '.join(sets)}; echo on"
    return subprocess.run(["/usr/bin/bash", "-euo", "pipefail", "-c", script], cwd=ROOT,
                          env={"PATH": str(folder)}, capture_output=True, text=True, check=False)


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_another_distribution_gets_a_list_and_exit_3(tmp_path: Path) -> None:
    done = install_packages(tmp_path, "build", "guest")
    assert done.returncode == 3 and done.stdout == ""
    assert " libibverbs-dev " in done.stderr and " qemu-system-x86 " in done.stderr
    assert "python3-matplotlib" not in done.stderr


def test_fedora_gets_the_line_to_type_with_what_is_missing(tmp_path: Path) -> None:
    program(tmp_path, "dnf", "exit 99")
    program(tmp_path, "rpm", 'for name; do :; done; [ "$name" = gcc ] || [ "$name" = cmake ]')
    done = install_packages(tmp_path, "build", "package", "test")
    line = next(one for one in done.stderr.splitlines() if "dnf install" in one).split()
    assert done.returncode == 3 and done.stdout == ""
    assert line[:3] == ["sudo", "dnf", "install"]
    assert {"gcc-c++", "rdma-core-devel", "hwloc-devel", "jansson-devel", "libcmocka-devel"} <= set(line)
    assert len(line) == len(set(line))
    assert not {"gcc", "cmake", "libc6-dev", "dpkg-dev", "libnss-myhostname", "pmdk-tools"} & set(line)
    assert "--no-install" in done.stderr


def test_fedora_goes_on_where_all_is_installed(tmp_path: Path) -> None:
    program(tmp_path, "rpm", "exit 0")
    done = install_packages(tmp_path, "build", "report", "test")
    assert (done.returncode, done.stdout) == (0, "on\n"), done.stderr


@pytest.mark.parametrize(("machine", "status"), [("amd64", 0), ("all", 0), ("arm64", 3)])
def test_any_system_with_apt_is_asked_for_packages_of_its_machine(
    tmp_path: Path, machine: str, status: int
) -> None:
    program(tmp_path, "apt-get", "echo apt-get fails; exit 1")
    program(tmp_path, "apt-cache", "exit 0")
    program(tmp_path, "sudo", 'exec "$@"')
    (tmp_path / "env").symlink_to("/usr/bin/env")
    program(tmp_path, "dpkg", "echo amd64")
    program(tmp_path, "dpkg-query", f"echo installed {machine}")
    done = install_packages(tmp_path, "build")
    assert done.returncode == status, done.stderr
    assert done.stdout == "on\n" if status == 0 else "apt-get fails" in done.stdout
    assert ("apt-get install " in done.stderr and " libibverbs-dev" in done.stderr) == (status == 3)
