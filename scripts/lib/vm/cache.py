# SPDX-License-Identifier: BSD-3-Clause
"""The cache directory: what is fetched or made once and used by every run.

Everything in it is made in a temporary directory under a lock and then
renamed, so that an entry is either whole or absent, whatever runs at the same
time and whenever it is interrupted.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator

from failure import Failure


def cache_dir() -> Path:
    base = os.environ.get("RPMA_VM_CACHE")
    if not base:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        base = os.path.join(home, "rpma-vm")
    path = Path(base).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot make the cache directory {path}: {error.strerror}; "
                      "RPMA_VM_CACHE names another") from error
    return path


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock NAME of the cache, against other processes."""
    path = cache_dir() / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def made_once(name: str, make: Callable[[Path], None],
              remove: Callable[[Path], None] = shutil.rmtree) -> Path:
    """Return the cache's directory NAME; have MAKE fill it if it is not there."""
    entry = cache_dir() / name
    if entry.is_dir():
        return entry
    with locked(name):
        if entry.is_dir():
            return entry
        for left_over in entry.parent.glob(f".{entry.name}.*"):
            remove(left_over)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{entry.name}.", dir=entry.parent))
        unfinished.chmod(0o755)
        try:
            make(unfinished)
            unfinished.rename(entry)
        except BaseException:
            remove(unfinished)
            raise
    return entry
