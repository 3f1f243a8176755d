# SPDX-License-Identifier: BSD-3-Clause
"""Programs that load libibverbs at run time get the device, however they ask for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LAUNCHER = Path(os.environ["RPMA_SOFT_LAUNCHER"])
BY_NAME = os.environ["BY_NAME"]
NAMES = LAUNCHER.parent / "librpma-soft"
LIMIT_S = 60

Run = subprocess.CompletedProcess[str]


def run(*words: str | Path, **environment: str) -> Run:
    return subprocess.run(
        [LAUNCHER, *words], env={**os.environ, **environment}, capture_output=True, text=True,
        check=False, timeout=LIMIT_S,
    )  # fmt: skip


def gets_the_device(done: Run) -> None:
    assert (done.returncode, done.stderr) == (0, "")
    file, devices = done.stdout.splitlines()
    assert file.endswith("/librpma-soft.so")
    assert int(devices.removeprefix("devices: ")) > 0


@pytest.mark.parametrize("version", ["IBVERBS_1.1", "none"])
@pytest.mark.parametrize("flags", ["now+local", "now+global", "now+local+deepbind"])
@pytest.mark.parametrize("library", ["libibverbs.so.1", "libibverbs.so", "librdmacm.so.1"])
def test_by_name(library: str, flags: str, version: str) -> None:
    """libibverbs.so is there without a development package too; librdmacm needs libibverbs."""
    gets_the_device(run(BY_NAME, library, flags, version))


def test_by_the_path_of_its_folder() -> None:
    """What a variable as NCCL_IBVERBS_LIB is set to."""
    gets_the_device(run(BY_NAME, NAMES / "libibverbs.so.1", "now", "IBVERBS_1.1"))


def test_by_name_where_an_rpath_has_another(tmp_path: Path) -> None:
    """DT_RPATH comes before LD_LIBRARY_PATH."""
    program = tmp_path / "program"
    source = Path(__file__).with_name("by_name.c")
    commands: list[list[str | Path]] = [
        ["gcc", "-D_GNU_SOURCE", source, "-o", program, f"-Wl,-rpath,{tmp_path},--disable-new-dtags"],
        ["gcc", "-shared", "-x", "c", "/dev/null", "-o", tmp_path / "libibverbs.so.1"],
    ]
    for command in commands:
        subprocess.run(command, check=True, timeout=LIMIT_S)
    gets_the_device(run(program, "libibverbs.so.1", "now", "none"))


def test_by_ctypes() -> None:
    """What a Python program does is dlopen() and dlsym()."""
    script = """if True:
        import ctypes
        count = ctypes.c_int()
        ctypes.CDLL("libibverbs.so.1").ibv_get_device_list(ctypes.byref(count))
        print(count.value)"""
    assert int(run(sys.executable, "-B", "-c", script).stdout) > 0


@pytest.mark.parametrize("program", [["ibv_devices"], ["rping", "-h"]], ids=["libibverbs", "librdmacm"])
def test_a_linked_program_starts_without_a_word_of_the_loader(program: list[str]) -> None:
    """"no version information available", "version not found" and the like go to standard error."""
    done = run(*program, LD_BIND_NOW="1")
    assert "version" not in done.stderr and "symbol" not in done.stderr


def test_the_real_libraries_are_not_loaded() -> None:
    listed = run("ldd", BY_NAME).stdout + run("ldd", "/usr/bin/ib_write_lat").stdout
    found = {line.split()[0] for line in listed.splitlines() if "libibverbs" in line or "librdmacm" in line}
    assert found == {str(NAMES / "libibverbs.so.1"), str(NAMES / "librdmacm.so.1")}
