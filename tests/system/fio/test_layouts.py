# SPDX-License-Identifier: BSD-3-Clause
"""An engine and a fio of one name whose structs differ, in both directions: refused with a sentence, never a signal.

layouts.cmake builds the engines, from headers with members more or fewer than those of the fio that runs.
"""

import os
from pathlib import Path

import pytest
from fio_runs import Run, run_fio, words

ENGINES = sorted(Path(path) for path in os.environ["FIO_OTHER_ENGINES"].split(":"))
SENTENCE = "librpma: the structures of fio-"


def check_refusal(folder: Path, engine: Path, **options: object) -> None:
    code, _, errors = run_fio(
        folder, *words(name="job", ioengine=f"external:{engine}", **options), "--rw=write", "--bs=4k", "--size=64k"
    )
    assert code == 1, (code, errors)
    lines = [line for line in errors.splitlines() if line.startswith(SENTENCE)]
    assert len(lines) == 1 and "differ from those in the headers" in lines[0] and "-DFIO_SOURCE_DIR=" in lines[0], errors


def test_there_are_layouts_of_both_directions() -> None:
    assert {name.stem.removeprefix("fio_layout_").split("_")[0] for name in ENGINES} == {"longer", "shorter"}


@pytest.mark.parametrize("thread", [0, 1])
@pytest.mark.parametrize("engine", ENGINES, ids=lambda path: path.stem)
def test_a_client_is_refused(anybody: Run, tmp_path: Path, engine: Path, thread: int) -> None:
    check_refusal(tmp_path, engine, port=anybody.port, thread=thread)


@pytest.mark.parametrize("engine", [path for path in ENGINES if "io_u" not in path.stem], ids=lambda path: path.stem)
def test_a_server_is_refused(tmp_path: Path, engine: Path) -> None:
    """It uses no io_u."""
    check_refusal(tmp_path, engine, role="server", port=0)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda path: path.stem)
def test_a_job_that_sets_itself_up_is_refused(anybody: Run, tmp_path: Path, engine: Path) -> None:
    check_refusal(tmp_path, engine, port=anybody.port, create_serialize=0)
