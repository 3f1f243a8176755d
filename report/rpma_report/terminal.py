# SPDX-License-Identifier: BSD-3-Clause
"""The standard output of a command: lines or files that arrive, or a failure."""

import os
import sys

from rpma_report.atomic_file import NotWritten


def say(line: str) -> None:
    """Characters that the terminal has not become question marks."""
    encoding = sys.stdout.encoding if sys.stdout else None
    put((line + "\n").encode(encoding or "utf-8", "replace"))


def put(data: bytes) -> None:
    if sys.stdout is None:
        raise NotWritten("standard output cannot be written to: it is closed")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except OSError as error:
        with open(os.devnull, "wb") as nowhere:  # what is left in the buffer must not fail again at exit
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise NotWritten(f"standard output cannot be written to: {error.strerror}") from error
