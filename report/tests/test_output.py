# SPDX-License-Identifier: BSD-3-Clause
"""The output file: whole or untouched, whatever the user has set."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

import sample
from conftest import Command, Write, refused
from rpma_report import atomic_file
from rpma_report.failure import Failure

RESULT = sample.result([sample.lat_point(0, 64, count=2000), sample.bw_point(1, 64)])


def test_refused_input_leaves_a_good_page(quick: Command, write: Write, tmp_path: Path) -> None:
    out = write(b"good page", "out.html")
    refused(quick("create", write(b"{"), "-o", out))
    assert out.read_bytes() == b"good page"


def test_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.html"
    out.write_bytes(b"old")

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Failure, match="out.html: cannot be written: No space left on device"):
        atomic_file.write_atomically(out, b"new")
    assert out.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.html"]


@pytest.mark.parametrize(
    "place, why",
    [("absent/out.html", "absent/out.html: cannot be written: No such file or directory"), (".", "is a directory"),
     ("/proc/out.html", "/proc/out.html: cannot be written: ")],
)  # fmt: skip
def test_place_for_no_page_is_refused(place: str, why: str, quick: Command, write: Write, tmp_path: Path) -> None:
    refused(quick("create", write(RESULT), "-o", tmp_path / place), why)


def test_device_is_not_renamed_over(quick: Command, write: Write) -> None:
    refused(quick("create", write(RESULT), "-o", "/dev/null"), "/dev/null: is not a regular file")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_write_protected_file(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    out = write(b"old", "out.html")
    monkeypatch.setattr(os, "access", lambda _path, mode: mode != os.W_OK)  # root passes any mode
    with pytest.raises(Failure, match="out.html: is write-protected"):
        atomic_file.write_atomically(out, b"new")
    assert out.read_bytes() == b"old"


def test_link_keeps_pointing_to_the_page(quick: Command, write: Write, tmp_path: Path) -> None:
    target = write(b"old", "target.html")
    link = tmp_path / "link.html"
    link.symlink_to(target)
    assert quick("create", write(RESULT), "-o", link).returncode == 0
    assert link.is_symlink() and target.read_bytes().startswith(b"<!DOCTYPE html>")


def test_mode_follows_the_umask_or_the_old_file(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_bytes(b"")
    old.chmod(0o640)
    mask = os.umask(0o027)
    try:
        atomic_file.write_atomically(new, b"")
        atomic_file.write_atomically(old, b"")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


@pytest.mark.parametrize("option, begins", [("-o", "<!DOCTYPE html>"), ("--csv", "run,"), ("--md", "# ")])
def test_one_output_may_be_standard_output(option: str, begins: str, quick: Command, write: Write, tmp_path: Path) -> None:
    """The same bytes as in a file, and no file of that name."""
    result = write(RESULT)
    page = ("-o", tmp_path / "page.html") if option != "-o" else ()
    assert quick("create", result, *page, option, tmp_path / "file").returncode == 0
    done = quick("create", result, *page, option, "-")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout == (tmp_path / "file").read_text()
    assert done.stdout.startswith(begins)
    assert not Path("-").exists()


def wrong_usage(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert (done.returncode, done.stdout) == (64, "")
    assert words in done.stderr


def test_two_outputs_are_not_one(quick: Command, write: Write) -> None:
    wrong_usage(quick("create", write(RESULT), "-o", "-", "--md", "-"), "- is to be two outputs at once")


def test_lines_of_a_command_and_a_file_are_not_one(quick: Command, write: Write) -> None:
    wrong_usage(quick("compare", write(RESULT), write(RESULT, "b.json"), "-o", "-"), "-: standard output has the lines")


@pytest.mark.parametrize("name, option", [("r.pdf", "--pdf"), ("r.MD", "--md"), ("r.csv", "--csv")])
def test_a_page_is_html(name: str, option: str, quick: Command, write: Write, tmp_path: Path) -> None:
    done = quick("create", write(RESULT), "-o", tmp_path / name)
    wrong_usage(done, f"a page is HTML: give {option} ")
    assert not (tmp_path / name).exists()
