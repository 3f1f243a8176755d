# SPDX-License-Identifier: BSD-3-Clause
"""The program of tests/fetch-reference: Debian's own librpma, unpacked in the cache,
for tests that compare ours with it."""

from __future__ import annotations

import sys
from pathlib import Path

from apt import RELEASES, fresh_archive
from cache import made_once
from failure import Parser
from fetched import print_directory

PACKAGES = ("librpma0", "librpma-dev")


def reference(release: str) -> Path:
    def fetch(target: Path) -> None:
        fresh_archive(release).unpack(PACKAGES, target)

    return made_once(f"reference/{release}", fetch)


def main() -> int:
    parser = Parser(
        prog="fetch-reference",
        description="Print the directory with the unpacked librpma0 and librpma-dev of a Debian "
                    "release; fetch them first if they are not in the cache.")
    parser.add_argument("release", choices=RELEASES)
    return print_directory(parser, reference)


if __name__ == "__main__":
    sys.exit(main())
