# SPDX-License-Identifier: BSD-3-Clause
"""rpmemd --check: what a user could serve, and why it would be durable."""

import fcntl
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

RPMEMD = os.environ["RPMEMD"]
LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
LIMIT_S = 300
MIB = 1 << 20


def pool_set(directory: Path, name: str, size: int = 8 * MIB) -> None:
    """A pool without headers: any file of the right size is one."""
    part = directory / f"{name}.part"
    (directory / f"{name}.set").write_text(f"PMEMPOOLSET\nOPTION NOHDRS\n8M {part}\n")
    with open(part, "wb") as file:
        file.truncate(size)


def check(directory: Path, *options: str, **variables: str) -> tuple[int, str]:
    done = subprocess.run(
        [LAUNCHER, "--", RPMEMD, f"--poolset-dir={directory}", "--check", *options],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, "HOME": str(directory), **variables},
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_a_good_set(tmp_path: Path) -> None:
    pool_set(tmp_path, "good")
    (tmp_path / "notes.txt").write_text("not a pool set")
    code, output = check(tmp_path)
    assert code == 0
    assert "RDMA: the address 127.0.0.1 has the device soft" in output
    line = [line for line in output.splitlines() if line.startswith("  good.set: 8 MiB of ")]
    assert len(line) == 1 and line[0].endswith("; GPSPM: persist-apm is not set"), output
    assert "notes.txt" not in output


def test_sets_are_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("c", "a", "d", "b"):
        pool_set(tmp_path, name)
    lines = check(tmp_path)[1].splitlines()
    assert [line.split(":")[0] for line in lines if line.startswith("  ")] == [f"  {c}.set" for c in "abcd"]


def test_a_misspelt_first_line_is_told(tmp_path: Path) -> None:
    pool_set(tmp_path, "good")
    (tmp_path / "bad.set").write_text("PMEMPOOL\n8M /p\n")
    code, output = check(tmp_path)
    assert code == 1 and "  good.set: 8 MiB" in output
    assert "  bad.set: not a pool set: expected a regular file that begins with PMEMPOOLSET\n" in output


def test_on_a_terminal_it_points_at_check() -> None:
    """By hand it would print the bytes of the protocol, and wait."""
    ours, terminal = os.openpty()
    try:
        done = subprocess.run([RPMEMD], stdin=terminal, capture_output=True, text=True, timeout=LIMIT_S)
    finally:
        os.close(ours)
        os.close(terminal)
    assert (done.returncode, done.stdout) == (64, "")
    assert "rpmemd --check" in done.stderr and len(done.stderr.splitlines()) == 1


def test_sets_below_the_directory(tmp_path: Path) -> None:
    (tmp_path / "below" / "deeper").mkdir(parents=True)
    pool_set(tmp_path / "below" / "deeper", "good")
    assert "  below/deeper/good.set: 8 MiB" in check(tmp_path)[1]


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "around").symlink_to("..")
    assert check(tmp_path / "sets")[1].endswith("  none\n")


def test_sets_that_cannot_be_served(tmp_path: Path) -> None:
    pool_set(tmp_path, "good")
    pool_set(tmp_path, "missing")
    (tmp_path / "missing.part").unlink()
    (tmp_path / "bad.set").write_text("PMEMPOOLSET\nwhat is this\n")
    code, output = check(tmp_path)
    assert code == 1
    assert f"  missing.set: not created yet, or a part is missing: cannot open the part {tmp_path}/missing.part" in output
    assert "  bad.set: cannot be opened: " in output
    assert "  good.set: 8 MiB" in output


def shorter(part: Path) -> None:
    os.truncate(part, 4 * MIB)


def gone(part: Path) -> None:
    part.unlink()


def in_use(part: Path) -> int:
    lock = os.open(part, os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


@pytest.mark.parametrize("harmed", ["a", "b"])
@pytest.mark.parametrize("harm, reason", [
    (shorter, "has 4194304 bytes"), (gone, "cannot open the part"), (in_use, "is locked: its pool is open elsewhere"),
])  # fmt: skip
def test_a_set_is_good_as_long_as_each_part_is(
    tmp_path: Path, harm: Callable[[Path], int | None], reason: str, harmed: str
) -> None:
    (tmp_path / "two.set").write_text(f"PMEMPOOLSET\nOPTION NOHDRS\n8M {tmp_path}/a\n8M {tmp_path}/b\n")
    for part in ("a", "b"):
        with open(tmp_path / part, "wb") as file:
            file.truncate(8 * MIB)
    pool_set(tmp_path, "good")
    code, output = check(tmp_path)
    assert code == 0 and "  two.set: 16 MiB of " in output
    lock = harm(tmp_path / harmed)
    code, output = check(tmp_path)
    if lock is not None:
        os.close(lock)
    line = next(line for line in output.splitlines() if line.startswith("  two.set"))
    assert code == 1 and reason in line, line
    assert "  two.set: cannot be opened: " in line or harm is gone
    assert "  good.set: 8 MiB of " in output


def test_names_with_control_characters(tmp_path: Path) -> None:
    pool_set(tmp_path, "good")
    (tmp_path / "good.set").rename(tmp_path / "a\x1b[2Jb.set")
    output = check(tmp_path)[1]
    assert "\n  a?[2Jb.set: 8 MiB" in output
    assert "\x1b" not in output


def test_why_apm(tmp_path: Path) -> None:
    pool_set(tmp_path, "good")
    forced = check(tmp_path, "--persist-apm", PMEM_IS_PMEM_FORCE="1")[1]
    assert "; APM: PMEM_IS_PMEM_FORCE=1 states" in forced
    assert "; GPSPM: the pool is not in persistent memory" in check(tmp_path, "--persist-apm")[1]


def test_a_part_in_memory(tmp_path: Path) -> None:
    if not os.path.ismount("/dev/shm"):
        pytest.skip("/dev/shm is no tmpfs here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        pool_set(Path(memory), "lost")
        code, output = check(Path(memory))
        assert code == 1
        assert f"lost.set: cannot be opened: the part {memory}/lost.part is on a file system in memory" in output
        code, output = check(Path(memory), PMEM_IS_PMEM_FORCE="1")
        assert code == 0 and "  lost.set: 8 MiB of memory, lost at a power failure" in output


def test_without_a_directory(tmp_path: Path) -> None:
    code, output = check(tmp_path / "nowhere")
    assert code == 1
    assert f"cannot read the directory {tmp_path}/nowhere: No such file or directory" in output
