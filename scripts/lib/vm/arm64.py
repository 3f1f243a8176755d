# SPDX-License-Identifier: BSD-3-Clause
"""The program of tests/fetch-arm64: what a program for arm64 is built with and run
with, unpacked in the cache; nothing is installed, and the host's own packages
stay as they are."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from apt import RELEASES, fresh_archive
from cache import made_once
from failure import Parser
from fetched import print_directory

LIST = Path(__file__).resolve().parents[2] / "packages.list"


def libraries() -> list[str]:
    """The development packages of the set build in scripts/packages.list, and the one of the unit tests."""
    sets: dict[str, list[str]] = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            sets[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            sets[list(sets)[-1]].append(line.split()[0])
    return [name for name in sets["build"] if name.endswith("-dev")] + ["libcmocka-dev"]


def arm64_root(release: str) -> Path:
    packages = libraries()

    def fetch(target: Path) -> None:
        fresh_archive(release, machine="arm64").unpack_with_dependencies(packages, target)

    # another list, another directory
    digest = hashlib.sha256(" ".join(packages).encode()).hexdigest()[:8]
    return made_once(f"arm64/{release}-{digest}", fetch)


def main() -> int:
    parser = Parser(
        prog="fetch-arm64",
        description="Print the directory with the unpacked arm64 libraries and headers of a Debian "
                    "release; fetch them first if they are not in the cache.")
    parser.add_argument("release", choices=RELEASES)
    return print_directory(parser, arm64_root)


if __name__ == "__main__":
    sys.exit(main())
