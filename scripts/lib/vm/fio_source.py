# SPDX-License-Identifier: BSD-3-Clause
"""The program of scripts/fio-source: the headers of Debian's fio, in the cache.

No package has them, so they come from the source package. Nothing is taken
from it but headers outside the folder of fio's own engines, and the file that
names the release.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from apt import RELEASES, UNSTABLE, fresh_archive, host_release
from cache import made_once
from failure import Failure, Parser
from fetched import print_directory
from processes import checked, note


def _fetch_headers(release: str, target: Path) -> None:
    tarball = fresh_archive(release, "deb-src").fetch_source("fio", target)
    checked("cannot unpack fio's headers", [
        "tar", "-C", str(target), "-xf", str(tarball), "--strip-components=1", "--wildcards",
        "--exclude=*/engines", "*.h", "*/FIO-VERSION-GEN"])
    for name in target.glob("fio_[0-9]*"):
        name.unlink()


def _fetch_stand_in(target: Path) -> None:
    _fetch_headers(UNSTABLE, target)
    package = target / "package"
    package.mkdir()
    fresh_archive(UNSTABLE).unpack(["fio"], package)
    (package / "usr/bin/fio").rename(target / "fio")
    shutil.rmtree(package)


def fio_source(release: str) -> Path:
    """The directory with fio.h of RELEASE's fio; fetched if it is not there."""
    return made_once(f"fio/{release}", lambda target: _fetch_headers(release, target))


def fio_for_guest(release: str) -> Path:
    """Like fio_source(); where the archive has no source of that fio, the
    headers of a later one, which is the program fio beside them."""
    try:
        return fio_source(release)
    except Failure as failure:
        note(f"{failure}; a later fio stands in for it")
    return made_once(f"fio/{UNSTABLE}", _fetch_stand_in)


def main() -> int:
    parser = Parser(
        prog="fio-source",
        description="Print a directory with the headers of the fio of a Debian release, as CMake "
                    "wants it in FIO_SOURCE_DIR; fetch them first if they are not in the cache.")
    parser.add_argument("release", nargs="?", choices=RELEASES, help="default: this host's")
    return print_directory(parser, lambda release: fio_source(release or host_release()))


if __name__ == "__main__":
    sys.exit(main())
