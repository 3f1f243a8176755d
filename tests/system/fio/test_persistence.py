# SPDX-License-Identifier: BSD-3-Clause
"""What is called persistent, by the file system of the server's file.

The oracles are stat(1), which names file systems, and mounts that are made here.
"""

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fio_runs import FIO, KIB, STORES, Run, client, file_system, refused, run_client, server, words

SMALL: dict[str, Any] = {"rw": "write", "bs": 4 * KIB, "size": 64 * KIB}
MEMORY = {"tmpfs", "ramfs", "hugetlbfs"}


@pytest.fixture
def in_memory() -> Iterator[Path]:
    if file_system(Path("/dev/shm")) not in MEMORY:
        pytest.skip("/dev/shm is no tmpfs here")
    path = Path(subprocess.run(["mktemp", "-p", "/dev/shm"], check=True, capture_output=True, text=True).stdout.strip())
    path.write_bytes(bytes(64 * KIB))
    yield path
    path.unlink()


def told(folder: Path, port: str, **options: Any) -> str:
    return run_client(folder, port, **{**SMALL, **options}).told[0]


@pytest.mark.parametrize("direct", [0, 1])
@pytest.mark.parametrize("mode", ["apm", "gpspm"])
def test_a_file_in_memory_is_never_persistent(tmp_path: Path, in_memory: Path, mode: str, direct: int) -> None:
    with server(tmp_path, filename=in_memory, size=64 * KIB, clients=2, direct_write_to_pmem=direct) as it:
        line = told(tmp_path, it.port, mode=mode)
        assert "visibility only" in line and "a file in memory" in line
        with client(tmp_path, it.port, mode=mode, flush_type="persistent", **SMALL) as run:
            refused(run, "a file in memory", "does not survive", "flush_type=visibility")


def test_a_file_here_is_what_its_file_system_makes_it(tmp_path: Path) -> None:
    kind = file_system(tmp_path)
    with server(tmp_path, filename="file", size=64 * KIB) as it:
        line = told(tmp_path, it.port, mode="gpspm")
    if kind in STORES:
        assert "reaches persistence" in line
    else:
        assert "visibility only" in line and ("in memory" if kind in MEMORY else "unknown") in line


def test_a_page_cache_is_not_persistent_by_apm(tmp_path: Path) -> None:
    if file_system(tmp_path) not in STORES:
        pytest.skip("needs a folder for temporary files on a disk")
    with server(tmp_path, filename="file", size=64 * KIB) as it:
        with client(tmp_path, it.port, flush_type="persistent", **SMALL) as run:
            refused(run, "a file", "page cache", "mode=gpspm", "flush_type=visibility")


# --- mounts of a server's own --------------------------------------------------

OVERLAY = """mount -t {upper} none up && mkdir up/data up/work &&
mount -t overlay none -o {options}lowerdir=low,upperdir=$PWD/up/data,workdir=$PWD/up/work place"""
DISK_ON_DISK = "mkdir up/data up/work && mount -t overlay none -o lowerdir=low,upperdir=$PWD/up/data,workdir=$PWD/up/work place"
LOOP = """mount -t tmpfs none up && truncate -s 16m up/disk && mkfs.ext4 -q up/disk &&
mount -o loop up/disk place"""
# the upper layer is beneath something else by then
HIDDEN = OVERLAY.format(upper="tmpfs", options="") + " && mount -t tmpfs none up"


@contextmanager
def mounted(folder: Path, mounts: str) -> Iterator[Run]:
    """A server in a mount namespace of its own, with a file in the folder `place` there."""
    for name in ("low", "up", "place"):
        (folder / name).mkdir()
    if subprocess.run(["unshare", "-m", "sh", "-c", mounts], cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip("these mounts cannot be made here")
    for name in ("data", "work"):
        subprocess.run(["rm", "-rf", folder / "up" / name], check=True)
    job = words(name="server", ioengine="librpma", role="server", port=0, size=64 * KIB, filename=folder / "place" / "file")
    run = Run(folder, "-m", "sh", "-c", f"{mounts} && exec {shlex.join([FIO, *job])}", fio="unshare")
    try:
        run.listening()
        yield run
    finally:
        run.kill()


@pytest.mark.parametrize(
    ("mounts", "part"),
    [(OVERLAY.format(upper="tmpfs", options=""), "a file in memory"), (LOOP, "a file in memory"),
     (DISK_ON_DISK, "persistence"), (OVERLAY.format(upper="tmpfs", options="volatile,"), "unknown"), (HIDDEN, "unknown")],
    ids=["overlay on tmpfs", "loop on tmpfs", "overlay on a disk", "overlay that syncs nothing", "overlay on what is hidden"],
)  # fmt: skip
def test_what_lies_beneath_decides(tmp_path: Path, mounts: str, part: str) -> None:
    if part == "persistence" and file_system(tmp_path) not in STORES:
        pytest.skip("needs a folder for temporary files on a disk")
    with mounted(tmp_path, mounts) as it:
        line = told(tmp_path, it.port, mode="gpspm")
    assert part in line and ("visibility only" in line) == (part != "persistence")
