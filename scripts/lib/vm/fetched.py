# SPDX-License-Identifier: BSD-3-Clause
"""The shared part of programs that print a directory with something of a
Debian release, fetched into the cache when it is not there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Callable

from failure import Failure, Parser, Stopped
from processes import stop_on_signals


def print_directory(parser: Parser, find: Callable[[Any], Path]) -> int:
    """The main of such a program; the parser has the release as an argument."""
    release = parser.parse_args().release
    stop_on_signals()
    try:
        print(find(release))
    except Failure as failure:
        print(f"{parser.prog}: {failure}", file=sys.stderr)
        return failure.status
    except Stopped as stopped:
        return stopped.status
    return 0
