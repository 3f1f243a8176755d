# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a run, with thousands of small files: in memory where there is room, as a disk takes
minutes to make and remove them."""

import os
import shutil
import tempfile

import pytest

MEMORY = "/dev/shm"
ROOM_BYTES = 1 << 30


def memory_with_room() -> str | None:
    try:
        free = os.statvfs(MEMORY)
    except OSError:
        return None
    has_room = free.f_bavail * free.f_frsize >= ROOM_BYTES
    return MEMORY if has_room and os.access(MEMORY, os.W_OK) else None


def pytest_configure(config: pytest.Config) -> None:
    folder = tempfile.mkdtemp(prefix="rpma-ddio-check-", dir=memory_with_room())
    os.chmod(folder, 0o755)  # some tests look as another user
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    config.option.basetemp = f"{folder}/pytest"


def pytest_unconfigure() -> None:
    shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
