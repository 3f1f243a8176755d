# SPDX-License-Identifier: BSD-3-Clause
"""The engine as it is built for several releases of fio: a loader, and a folder with a module for each.

Here the folder has one, for the fio that runs. Another fio is that one with another version in its mouth.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fio_runs import FIO, Run, another_fio, fio_version, run_fio, words

LOADER = Path(os.environ["FIO_LOADER_DIR"])
OWN = fio_version()
RELEASE = OWN.removeprefix("fio-")
OTHER = RELEASE[:-1] + ("2" if RELEASE[-1] != "2" else "3")
SMALL: dict[str, Any] = {"rw": "write", "bs": "4k", "size": "64k"}


@pytest.fixture
def other_fio(tmp_path: Path) -> str:
    program = another_fio(tmp_path, f"fio-{OTHER}")
    assert subprocess.run([program, "--version"], capture_output=True, text=True).stdout == f"fio-{OTHER}\n"
    return program


def load(folder: Path, engine: str | Path, port: str = "7204", fio: str = FIO, loader: Path = LOADER) -> tuple[int, str]:
    code, _, errors = run_fio(
        folder, *words(name="c", ioengine=engine, port=port, verify_state_save=0, **SMALL), fio=fio, LD_LIBRARY_PATH=str(loader)
    )
    return code, errors


@pytest.mark.parametrize("engine", ["librpma", "librpma_apm_client", f"external:{LOADER}/librpma-fio.so", str(LOADER / "librpma")])
def test_the_module_of_this_release_is_found(anybody: Run, tmp_path: Path, engine: str) -> None:
    code, errors = load(tmp_path, engine, anybody.port)
    assert code == 0, errors


def test_help_has_the_options(tmp_path: Path) -> None:
    code, out, errors = run_fio(tmp_path, "--enghelp=librpma", LD_LIBRARY_PATH=str(LOADER))
    assert code == 0, errors
    assert "direct_write_to_pmem" in out


@pytest.mark.parametrize("engine", ["librpma", "librpma_apm_client"])
def test_another_release_is_named_with_those_that_are_there(tmp_path: Path, other_fio: str, engine: str) -> None:
    code, errors = load(tmp_path, engine, fio=other_fio)
    assert code == 1
    assert f"librpma: no engine for fio-{OTHER}: {LOADER.resolve()}/librpma-fio has {RELEASE};" in errors


def copied(folder: Path) -> Path:
    shutil.copytree(LOADER, folder / "copy", symlinks=True)
    return folder / "copy"


def test_several_are_in_the_order_of_releases(tmp_path: Path, other_fio: str) -> None:
    loader = copied(tmp_path)
    for release in ("3.100", "3.9", "README"):
        (loader / "librpma-fio" / (f"{release}.so" if release[0] == "3" else release)).touch()
    _, errors = load(tmp_path, "librpma", fio=other_fio, loader=loader)
    assert f"librpma-fio has 3.9, {RELEASE}, 3.100;" in errors


def test_no_folder_is_no_module(tmp_path: Path) -> None:
    loader = copied(tmp_path)
    shutil.rmtree(loader / "librpma-fio")
    code, errors = load(tmp_path, "librpma", loader=loader)
    assert (code, f"no engine for {OWN}: {loader}/librpma-fio has none;" in errors) == (1, True), errors


def test_a_module_in_the_name_of_another_release_is_refused(tmp_path: Path, other_fio: str) -> None:
    loader = copied(tmp_path)
    (loader / f"librpma-fio/{RELEASE}.so").rename(loader / f"librpma-fio/{OTHER}.so")
    code, errors = load(tmp_path, "librpma", fio=other_fio, loader=loader)
    assert (code, f"built with the headers of {OWN} and cannot be loaded by fio-{OTHER}" in errors) == (1, True), errors


def test_a_module_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    loader = copied(tmp_path)
    (loader / f"librpma-fio/{RELEASE}.so").write_text("no object")
    code, errors = load(tmp_path, "librpma", loader=loader)
    assert (code, f"librpma: {loader}/librpma-fio/{RELEASE}.so: " in errors) == (1, True), errors


def test_the_loader_exports_no_table() -> None:
    """fio would take it, whatever its release."""
    for name, expected in (("librpma-fio.so", {"get_ioengine", "loader_table"}), ("librpma_apm_client.so", {"get_ioengine"})):
        out = subprocess.run(["nm", "-D", "--defined-only", LOADER / name], capture_output=True, text=True, check=True).stdout
        assert {line.split()[-1].split("@")[0] for line in out.splitlines()} == expected
