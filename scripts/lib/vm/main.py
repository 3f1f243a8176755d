# SPDX-License-Identifier: BSD-3-Clause
"""The main of scripts/vm: options, cache, run, one line if it fails."""

from __future__ import annotations

import os
import platform
import shutil
import sys

import run
from failure import NO_DEVICE, RUN_FAILED, Failure, Stopped
from kernel import kernel
from kvm import QEMU
from options import Options, parse
from processes import stop_on_signals
from root import root_for

EPIPE_STATUS = 141


def _check_host() -> None:
    if platform.machine() != "x86_64":
        raise Failure(f"the guest is x86-64 only and this host is {platform.machine()}", NO_DEVICE)
    if not shutil.which(QEMU):
        raise Failure(f"{QEMU} is not installed; apt-get install qemu-system-x86")


def _status(options: Options) -> int:
    _check_host()
    root = root_for(options.release, options.build)
    return run.run(options, kernel(root.release), root)


def main() -> int:
    options = parse(sys.argv[1:])
    stop_on_signals()
    try:
        return _status(options)
    except Failure as failure:
        print(f"vm: {failure}", file=sys.stderr)
        return failure.status
    except Stopped as stopped:
        return stopped.status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EPIPE_STATUS
    except OSError as error:
        print(f"vm: {error}", file=sys.stderr)
        return RUN_FAILED


if __name__ == "__main__":
    sys.exit(main())
