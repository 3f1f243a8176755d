# SPDX-License-Identifier: BSD-3-Clause
"""Writes a file whole or not at all.

The bytes go to a temporary file beside the target, reach the disk, and then take
the target's name: a reader sees the old file or the new one, never a part.
"""

import os
import stat
import tempfile
from pathlib import Path

from rpma_report.failure import Failure


class NotWritten(Failure):
    """The output could not be written, in one line."""


def write_atomically(path: Path, data: bytes) -> None:
    target = Path(os.path.realpath(path))
    try:
        _check_target(path, target)
        _replace(target, data)
    except OSError as error:
        raise NotWritten(f"{path}: cannot be written: {error.strerror}") from error


def make_folder(path: Path) -> None:
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise NotWritten(f"{path}: no folder can be made there: {error.strerror}") from error


def _check_target(path: Path, target: Path) -> None:
    """A device or a pipe must not be renamed over, nor a read-only file replaced."""
    if not target.exists():
        return
    if target.is_dir():
        raise NotWritten(f"{path}: is a directory, give the name of a file")
    if not stat.S_ISREG(target.stat().st_mode):
        raise NotWritten(f"{path}: is not a regular file, a page is not written there")
    if not os.access(target, os.W_OK):
        raise NotWritten(f"{path}: is write-protected")


def _replace(target: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(target: Path) -> int:
    """The mode the file has, or the one a new file gets."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
