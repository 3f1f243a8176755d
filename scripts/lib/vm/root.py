# SPDX-License-Identifier: BSD-3-Clause
"""The file tree a guest runs on, and a build of the project that is valid there.

With the host's own release it is the host's / and the developer's build tree.
The other release gets a small Debian made by mmdebstrap in the cache; the
project is built inside it at the host's speed, again whenever sources change.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from apt import host_release, sources
from cache import cache_dir, locked, made_once
from failure import USAGE, Failure
from fio_source import fio_for_guest
from processes import checked, last_words, note, run

PACKAGES = (
    # to build the project
    "gcc", "libc6-dev", "cmake", "ninja-build", "pkgconf", "python3",
    "libibverbs-dev", "librdmacm-dev", "libhwloc-dev", "libjansson-dev", "libcmocka-dev",
    "libpmem-dev", "nettle-dev", "zlib1g-dev",
    # to run it, and what it is compared with
    "rdma-core", "ibverbs-providers", "ibverbs-utils", "rdmacm-utils", "perftest",
    "python3-pyverbs", "fio",
    # for the guest itself
    "iproute2", "ndctl", "e2fsprogs", "procps",
)
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SOURCE = Path(__file__).resolve().parents[3]

# In a mount namespace: the sources and fio's headers read-only and the build
# tree at their own paths inside the root, then cmake in it.
BUILD_SCRIPT = """\
set -e
root=$1 source=$2 build=$3 fio=$4 program=/usr/bin/fio
mkdir -p "$root$source" "$root$build"
mount --bind "$source" "$root$source"
mount -o remount,bind,ro "$root$source"
if [ "$fio" ]; then
	mkdir -p "$root$fio"
	mount --bind "$fio" "$root$fio"
	mount -o remount,bind,ro "$root$fio"
fi
if [ -e "$fio/fio" ]; then
	program=$build/fio
	cp "$fio/fio" "$program"
fi
mount --bind "$build" "$root$build"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
exec env -i PATH="$PATH" HOME=/root LANG=C.UTF-8 chroot "$root" sh -c '
	set -e
	[ -e "$2/build.ninja" ] || cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \\
		-DCMAKE_COMPILE_WARNING_AS_ERROR=ON \\
		-DRPMA_BUILD_REPORT=OFF -DRPMA_BUILD_DOC=OFF -DFIO_SOURCE_DIR="$3" -DFIO_PROGRAM="$4"
	cmake --build "$2"' sh "$source" "$build" "$fio" "$program"
"""


@dataclass(frozen=True)
class Root:
    release: str
    path: Path
    build: Path
    is_host: bool


def _namespace() -> list[str]:
    """The command that gives us the right to mount and chroot."""
    if os.geteuid() == 0:
        return ["unshare", "--mount", "--propagation", "private"]
    return ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private"]


def _check_tools(release: str) -> None:
    missing = [] if shutil.which("mmdebstrap") else ["mmdebstrap"]
    if os.geteuid() and not shutil.which("newuidmap"):
        missing.append("uidmap")
    if missing:
        raise Failure(f"a {release} root cannot be made: {' and '.join(missing)} not installed; "
                      f"apt-get install {' '.join(missing)}")


def _make_root(release: str, target: Path) -> None:
    _check_tools(release)
    note(f"making a root of Debian {release} in the cache; this takes a minute or two, once")
    archive = target / "root.tar"
    mode = "root" if os.geteuid() == 0 else "unshare"
    output = ["mmdebstrap", f"--mode={mode}", "--variant=minbase", "--architectures=amd64",
              f"--include={','.join(PACKAGES)}", "--aptopt=Apt::Install-Recommends false",
              *_apt_options(), release, str(archive), *sources(release)]
    checked(f"cannot make a root of Debian {release}", output)
    # An ordinary user becomes the owner of all files: nothing else is needed,
    # and the root can be removed like any other directory.
    checked("cannot unpack the root", [
        "tar", "-C", str(target), "--exclude=./dev/*", "-xf", str(archive)])
    archive.unlink()


def _apt_options() -> list[str]:
    """The host's way to its mirror."""
    dump = checked("cannot read the host's apt configuration", ["apt-config", "dump", "Acquire"])
    return [f"--aptopt={line.rstrip(';')}" for line in dump.splitlines()
            if line.startswith(("Acquire::http", "Acquire::https", "Acquire::Check"))
            and not line.endswith('"";')]


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:12]


def _fio_headers(release: str) -> str:
    """The directory of the headers; empty: there is none, and the build is without the fio engine."""
    try:
        return str(fio_for_guest(release))
    except Failure as failure:
        note(f"building without the fio engine: {failure}")
        return ""


def _built_in(release: str, root: Path) -> Path:
    fio = _fio_headers(release)
    digest = _digest(str(SOURCE), str(root), fio)
    name = f"build/{release}-{digest}"
    build = cache_dir() / name
    with locked(name):
        build.mkdir(exist_ok=True)
        if not any(build.iterdir()):
            note(f"building the project in the root of Debian {release}")
        status, output = run([*_namespace(), "sh", "-c", BUILD_SCRIPT, "sh", str(root),
                              str(SOURCE), str(build), fio],
                             env={"PATH": PATH})
        if status and "cannot change root filesystem propagation" in output:
            raise Failure("this is a chroot whose / is no mount point, in which nothing can be "
                          "mounted safely: bind it to itself (mount --bind) before the chroot")
        if status:
            sys.stderr.write(output[-8000:])
            raise Failure(f"the project does not build on Debian {release}: {last_words(output)}")
    return build


def _host_build(chosen: Path | None) -> Path:
    if chosen is None:
        chosen = Path(os.environ.get("RPMA_BUILD_DIR") or SOURCE / "build/release")
    elif not chosen.is_dir():
        raise Failure(f"--build {chosen}: no such directory")
    return chosen.resolve()


def root_for(release: str | None, build: Path | None) -> Root:
    host = host_release()
    if release is None or release == host:
        return Root(host, Path("/"), _host_build(build), True)
    if build:
        raise Failure("--build is for a guest of the host's own release; the other has a build of "
                      "its own", USAGE)
    name: str = release
    path = made_once(f"root/{name}-{_digest(*PACKAGES)}", lambda target: _make_root(name, target))
    return Root(name, path, _built_in(name, path), False)
