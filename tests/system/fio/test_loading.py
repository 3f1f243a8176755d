# SPDX-License-Identifier: BSD-3-Clause
"""The ways by which Debian's fio finds the engine, and what it shows of it; and the fio it is not for."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from fio_runs import ALIASES, ENGINE_DIR, Run, another_fio, fio_version, run_fio, words

MODULE = ENGINE_DIR / "librpma"
SMALL: dict[str, Any] = {"rw": "write", "bs": "4k", "size": "64k", "verify": "crc32c"}


def by(engine: str | Path, port: str) -> list[str]:
    return words(name="client", ioengine=engine, port=port, verify_state_save=0, **SMALL)


def test_by_its_plain_name(anybody: Run, tmp_path: Path) -> None:
    """From a directory that the loader is told of."""
    code, _, errors = run_fio(tmp_path, *by("librpma", anybody.port))
    assert code == 0, errors


def test_by_a_path(anybody: Run, tmp_path: Path) -> None:
    for engine in (f"external:{MODULE}", str(MODULE)):
        code, _, errors = run_fio(tmp_path, *by(engine, anybody.port), LD_LIBRARY_PATH="")
        assert code == 0, errors


def test_by_a_relative_path(anybody: Run, tmp_path: Path) -> None:
    shutil.copy(MODULE, tmp_path / "engine.so")
    code, _, errors = run_fio(tmp_path, *by("external:./engine.so", anybody.port), LD_LIBRARY_PATH="")
    assert code == 0, errors


def test_another_fio_is_refused_with_both_versions(tmp_path: Path) -> None:
    program = another_fio(tmp_path, "fio-3.32")
    for engine in ("librpma", "librpma_apm_client"):
        code, out, errors = run_fio(tmp_path, *by(engine, "7204"), fio=program)
        lines = [line for line in errors.splitlines() if "fio-3.32" in line and f"{fio_version()} " in line]
        assert (code, len(lines)) == (1, 1), errors
        assert lines[0].startswith("librpma: ")


def test_nothing_else_is_exported() -> None:
    """fio would take a symbol of the engine's name for its table of hooks."""
    out = subprocess.run(["nm", "-D", "--defined-only", str(MODULE)], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in out.splitlines()}
    assert names - {"ioengine", *ALIASES} == set()
