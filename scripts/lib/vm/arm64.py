# SPDX-License-Identifier: BSD-3-Clause
"""What tests/fetch-arm64 runs: what a program for arm64 is built with and run
with, unpacked in the cache; nothing is installed, and the host's own packages
stay as they are."""

from __future__ import annotations

import sys
from pathlib import Path

from apt import RELEASES, fresh_archive
from cache import made_once
from failure import Parser
from fetched import print_directory

# The libraries of the sets build and test in scripts/packages.list.
PACKAGES = ("libc6-dev", "libcmocka-dev", "libhwloc-dev", "libibverbs-dev", "libjansson-dev",
            "libpmem-dev", "librdmacm-dev")


def arm64_root(release: str) -> Path:
    def fetch(target: Path) -> None:
        fresh_archive(release, machine="arm64").unpack_with_dependencies(PACKAGES, target)

    return made_once(f"arm64/{release}", fetch)


def main() -> int:
    parser = Parser(
        prog="fetch-arm64",
        description="Print the directory with the unpacked arm64 libraries and headers of a Debian "
                    "release; fetch them first if they are not in the cache.")
    parser.add_argument("release", choices=RELEASES)
    return print_directory(parser, arm64_root)


if __name__ == "__main__":
    sys.exit(main())
