# SPDX-License-Identifier: BSD-3-Clause
"""How the guest's parts give up: one sentence, one exit status, printed once by
the program's main."""

from __future__ import annotations

import argparse
from typing import NoReturn

RUN_FAILED = 2
NO_DEVICE = 3
USAGE = 64


class Failure(Exception):
    def __init__(self, message: str, status: int = RUN_FAILED) -> None:
        super().__init__(message)
        self.status = status


class Stopped(BaseException):
    """SIGINT, SIGTERM or SIGHUP arrived."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.status = 128 + signal_number


class Parser(argparse.ArgumentParser):
    """Wrong options: one line and the status of usage errors."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message} (see --help)\n")
