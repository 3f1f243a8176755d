# SPDX-License-Identifier: BSD-3-Clause
"""The ways by which Debian's fio finds the engine, and what it shows of it; and the fio it is not for."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fio_runs import ALIASES, ENGINE_DIR, FIO, Run, run_client, run_fio, server, words
from free_port import free_port

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


@pytest.mark.parametrize("alias", [name for name in ALIASES if name.endswith("client")])
def test_by_an_old_name(anybody: Run, tmp_path: Path, alias: str) -> None:
    """Whose port is that of the thread, and this is the first."""
    code, _, errors = run_fio(tmp_path, *by(alias, anybody.port))
    assert code == 0, errors


def test_both_sides_in_one_job_file(tmp_path: Path) -> None:
    """The client's port is known before the server listens, so one is given away here."""
    for thread in ("thread=1", "thread=0"):
        (tmp_path / "both.fio").write_text(
            f"[global]\nioengine=librpma\nport={free_port()}\n{thread}\nverify_state_save=0\n"
            "[server]\nrole=server\nsize=1m\n[client]\nrw=randwrite\nbs=4k\nsize=256k\nverify=crc32c\niodepth=4\n"
        )
        code, _, errors = run_fio(tmp_path, "both.fio")
        assert code == 0, errors
        assert [entry.name for entry in tmp_path.iterdir()] == ["both.fio"]


def own_version() -> bytes:
    return subprocess.run([FIO, "--version"], capture_output=True, check=True).stdout.strip()


def of_another_version(folder: Path, version: bytes) -> str:
    """Debian's fio with another version in its mouth, of the same length."""
    content, own = Path(FIO).read_bytes(), own_version()
    assert len(own) == len(version) and content.count(own + b"\0") >= 1
    program = folder / "fio"
    program.write_bytes(content.replace(own + b"\0", version + b"\0"))
    program.chmod(0o755)
    return str(program)


def test_another_fio_is_refused_with_both_versions(tmp_path: Path) -> None:
    program = of_another_version(tmp_path, b"fio-3.32")
    for engine in ("librpma", "librpma_apm_client"):
        code, out, errors = run_fio(tmp_path, *by(engine, "7204"), fio=program)
        lines = [line for line in errors.splitlines() if "fio-3.32" in line and f"{own_version().decode()} " in line]
        assert (code, len(lines)) == (1, 1), errors
        assert lines[0].startswith("librpma: ")


def test_a_distributions_suffix_is_the_same_version(anybody: Run, tmp_path: Path) -> None:
    """As long as what it is compared with has no room for one, a shorter version has to do."""
    program = of_another_version(tmp_path, b"fio-3.3\x00")
    code, _, errors = run_fio(tmp_path, *by("librpma", anybody.port), fio=program)
    assert code == 1
    assert f"{own_version().decode()} " in errors


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc")
def test_nothing_else_is_exported() -> None:
    """fio would take a symbol of the engine's name for its table of hooks."""
    import subprocess

    out = subprocess.run(["nm", "-D", "--defined-only", str(MODULE)], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in out.splitlines()}
    assert names - {"ioengine", *ALIASES} == set()


def test_a_plain_run_leaves_nothing(anybody: Run, tmp_path: Path) -> None:
    run_client(tmp_path, anybody.port, **SMALL)
    assert list(tmp_path.iterdir()) == []
