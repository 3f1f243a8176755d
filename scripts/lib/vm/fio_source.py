# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/fio-source runs: the headers of Debian's fio, in the cache.

No package has them, so they come from the source package. Nothing is taken
from it but headers outside the folder of fio's own engines, and the file that
names the release.
"""

from __future__ import annotations

import sys
from pathlib import Path

from apt import RELEASES, fresh_archive, host_release
from cache import made_once
from failure import Failure, Parser, Stopped
from processes import checked, stop_on_signals


def fio_source(release: str) -> Path:
    """The directory with fio.h of RELEASE's fio; fetched if it is not there."""

    def fetch(target: Path) -> None:
        tarball = fresh_archive(release, "deb-src").fetch_source("fio", target)
        checked("cannot unpack fio's headers", [
            "tar", "-C", str(target), "-xf", str(tarball), "--strip-components=1", "--wildcards",
            "--exclude=*/engines", "*.h", "*/FIO-VERSION-GEN"])
        for name in target.glob("fio_[0-9]*"):
            name.unlink()

    return made_once(f"fio/{release}", fetch)


def main() -> int:
    parser = Parser(
        prog="fio-source",
        description="Print a directory with the headers of the fio of a Debian release, as CMake "
                    "wants it in FIO_SOURCE_DIR; fetch them first if they are not in the cache.")
    parser.add_argument("release", nargs="?", choices=RELEASES, help="default: this host's")
    release = parser.parse_args().release
    stop_on_signals()
    try:
        print(fio_source(release or host_release()))
    except Failure as failure:
        print(f"fio-source: {failure}", file=sys.stderr)
        return failure.status
    except Stopped as stopped:
        return stopped.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
