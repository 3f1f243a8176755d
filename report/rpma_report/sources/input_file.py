# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of a file that the user named: a regular one, or a pipe such as <(command).

Reading a named pipe without a writer would wait for one, perhaps for ever. The pipe is
given a moment, for its writer may be about to start; a writer that is there may take as
long as it likes.
"""

import errno
import os
import select
import stat
from pathlib import Path
from typing import BinaryIO

_WRITER_S = 5.0


def read_at_most(path: Path, limit: int) -> bytes:
    with open(path, "rb", opener=_open_at_once) as file:
        first = _first(file) if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode) else b""
        os.set_blocking(file.fileno(), True)
        return first + file.read(limit - len(first))


def _open_at_once(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NONBLOCK)


def _first(pipe: BinaryIO) -> bytes:
    """Raises OSError where there is no writer; a byte may come just when it is looked for."""
    readable, _, _ = select.select([pipe], [], [], _WRITER_S)
    if readable:
        return b""
    try:
        found = os.read(pipe.fileno(), 1)
    except BlockingIOError:
        return b""
    if not found:
        raise OSError(errno.ENXIO, "it is a pipe without a writer")
    return found
