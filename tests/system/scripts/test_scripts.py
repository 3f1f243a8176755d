# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/test, scripts/quickstart and their neighbours say and exit with."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("script", ["test", "quickstart", "package", "lint"])
def test_an_unknown_option_is_named_and_exits_64(script: str) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / script, "--frobnicate"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 64
    assert "--frobnicate" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("options", [["--step"], ["--no-install", "--step", "vlagrind"]])
def test_a_step_has_to_be_one(options: list[str]) -> None:
    done = subprocess.run([ROOT / "scripts/test", *options], capture_output=True, text=True, check=False,
                          env={"PATH": "/usr/bin:/bin", "FIO_SOURCE_DIR": "/none"})
    assert done.returncode == 64 and not done.stdout
    assert "--step" in done.stderr and len(done.stderr.splitlines()) == 1


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
