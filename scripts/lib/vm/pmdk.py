# SPDX-License-Identifier: BSD-3-Clause
"""The program of tests/fetch-pmdk: Debian's own PMDK, unpacked in the cache, for
tests that give it our librpmem."""

from __future__ import annotations

import sys
from pathlib import Path

from apt import fresh_archive
from cache import made_once
from failure import Parser
from fetched import print_directory

RELEASES = ("bookworm",)  # its PMDK is the last that loads librpmem
PACKAGES = ("libpmemobj1", "libpmemobj-dev", "libpmempool1", "pmdk-tools",
            # what they need, and what else pmempool is linked with
            "libpmem1", "libpmem-dev", "libpmemblk1", "libpmemlog1", "libndctl6", "libdaxctl1")


def pmdk(release: str) -> Path:
    def fetch(target: Path) -> None:
        fresh_archive(release).unpack(PACKAGES, target)

    return made_once(f"pmdk/{release}", fetch)


def main() -> int:
    parser = Parser(
        prog="fetch-pmdk",
        description="Print the directory with the unpacked PMDK of a Debian release; fetch it first "
                    "if it is not in the cache.")
    parser.add_argument("release", choices=RELEASES)
    return print_directory(parser, pmdk)


if __name__ == "__main__":
    sys.exit(main())
