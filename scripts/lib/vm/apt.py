# SPDX-License-Identifier: BSD-3-Clause
"""Packages of a Debian release, fetched without installing anything.

The mirror, its keys and the way to it (proxies, options) are those of the
host's own apt; only the name of the release is replaced. The lists live in a
private apt directory in the cache, so no right to change the host is needed.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Sequence

from cache import cache_dir, locked
from failure import NO_DEVICE, Failure
from processes import checked, note

RELEASES = ("bookworm", "trixie")
UNSTABLE = "sid"  # what later releases come from; it has no updates
KEYS = "debian-archive"


def host_release() -> str:
    """The code name of the Debian release that this host runs."""
    fields: dict[str, str] = {}
    for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition("=")
        fields[name] = value.strip('"')
    release = fields.get("VERSION_CODENAME", "")
    if fields.get("ID") != "debian" or release not in RELEASES:
        raise Failure(f"this host runs {fields.get('PRETTY_NAME', 'an unknown system')}; the guest "
                      "is made from a Debian 12 (bookworm) or 13 (trixie) host", NO_DEVICE)
    return release


def sources(release: str, kind: str = "deb") -> list[str]:
    """The host's own apt sources of Debian's archive, turned to RELEASE; KIND
    is deb for packages, deb-src for their sources."""
    host = host_release()
    tails = ("",) if release == UNSTABLE else ("", "-updates", "-security")
    suites = {host + tail: release + tail for tail in tails}
    stanzas = checked("cannot read the host's apt sources",
                      ["apt-get", "indextargets", "Created-By: Packages"])
    lines: list[str] = []
    for stanza in re.split(r"\n\n+", stanzas.strip()):
        field = dict(line.split(": ", 1) for line in stanza.splitlines() if ": " in line)
        suite = suites.get(field.get("Release", ""))
        keys = field.get("Signed-By", "")
        if (suite is None or field.get("Component") != "main"
                or field.get("Origin", "Debian") != "Debian" or (keys and KEYS not in keys)):
            continue
        options = f"[signed-by={keys}] " if keys.startswith("/") else ""
        line = f"{kind} {options}{field['Repo-URI']} {suite} main"
        if line not in lines:
            lines.append(line)
    if not lines:
        raise Failure(f"the host's apt sources name no archive of Debian {host}: add one to "
                      "/etc/apt/sources.list.d")
    return lines


def _write_private_directory(base: Path, release: str, kind: str, machine: str) -> None:
    for folder in ("etc/parts", "etc/none", "lists/partial", "archives/partial"):
        (base / folder).mkdir(parents=True, exist_ok=True)
    (base / "etc/sources.list").write_text("\n".join(sources(release, kind)) + "\n",
                                           encoding="utf-8")
    (base / "status").touch()
    host_options = checked("cannot read the host's apt configuration", ["apt-config", "dump"])
    kept = [line for line in host_options.splitlines() if line.startswith("Acquire::")]
    own = {
        "Dir::Etc::main": base / "etc/none.conf",
        "Dir::Etc::parts": base / "etc/parts",
        "Dir::Etc::sourcelist": base / "etc/sources.list",
        "Dir::Etc::sourceparts": base / "etc/none",
        "Dir::Etc::preferences": base / "etc/none.pref",
        "Dir::Etc::preferencesparts": base / "etc/none",
        "Dir::State::status": base / "status",
        "Dir::State::lists": base / "lists",
        "Dir::Cache": base,
        "Dir::Cache::archives": base / "archives",
        "APT::Architecture": machine,
        "APT::Architectures": machine,
        "APT::Sandbox::User": "",
        "APT::Default-Release": "",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "APT::Update::Error-Mode": "any",
    }
    kept += [f'{name} "{value}";' for name, value in own.items()]
    (base / "apt.conf").write_text("\n".join(kept) + "\n", encoding="utf-8")


def _unpack_all(debs: Path, target: Path) -> None:
    for deb in sorted(debs.glob("*.deb")):
        checked(f"cannot unpack {deb.name}", ["dpkg-deb", "-x", str(deb), str(target)])
    shutil.rmtree(debs)


class Archive:
    """Debian's archive of one release as seen from this host: its packages
    (deb) for one kind of machine, or their sources (deb-src)."""

    def __init__(self, release: str, kind: str = "deb", machine: str = "amd64") -> None:
        self.release = release
        self.kind = kind
        self.machine = machine
        self.name = release if kind == "deb" else f"{release}-src"
        if machine != "amd64":
            self.name += f"-{machine}"
        self.base = cache_dir() / "apt" / self.name
        self.environment = {**os.environ, "APT_CONFIG": str(self.base / "apt.conf"),
                            "LC_ALL": "C.UTF-8"}

    def _apt(self, what: str, command: Sequence[str], **kwargs: str) -> str:
        return checked(f"{what} of Debian {self.release}", command, env=self.environment, **kwargs)

    def update(self) -> None:
        """Fetch the package lists."""
        _write_private_directory(self.base, self.release, self.kind, self.machine)
        self._apt("cannot fetch the package lists", ["apt-get", "update", "-q"])

    def dependency(self, package: str, pattern: str) -> str:
        """The name of the package matching PATTERN that PACKAGE depends on."""
        shown = self._apt(f"cannot look up {package}",
                          ["apt-cache", "show", "--no-all-versions", package])
        found = re.search(rf"^Depends:.*?\b({pattern})\b", shown, re.MULTILINE)
        if not found:
            raise Failure(f"{package} of Debian {self.release} depends on no {pattern}")
        return found.group(1)

    def unpack(self, packages: Sequence[str], target: Path) -> None:
        """Download PACKAGES and unpack them into TARGET."""
        debs = target / ".debs"
        debs.mkdir()
        self._download(packages, ["apt-get", "download", "-q"], debs)
        _unpack_all(debs, target)

    def unpack_with_dependencies(self, packages: Sequence[str], target: Path) -> None:
        """The same, with all packages that they depend on."""
        debs = target / ".debs"
        (debs / "partial").mkdir(parents=True)
        self._download(packages, ["apt-get", "install", "-q", "--yes", "--download-only",
                                  "--no-install-recommends", "-o", f"Dir::Cache::archives={debs}"], debs)
        _unpack_all(debs, target)

    def _download(self, packages: Sequence[str], command: Sequence[str], folder: Path) -> None:
        names = " ".join(packages)
        note(f"fetching {names} of Debian {self.release}")
        self._apt(f"cannot download {names}", [*command, *packages], cwd=str(folder))

    def fetch_source(self, package: str, target: Path) -> Path:
        """Download the source of PACKAGE into TARGET; return its upstream archive."""
        note(f"fetching the source of {package} of Debian {self.release}")
        self._apt(f"cannot download the source of {package}",
                  ["apt-get", "source", "-q", "--download-only", "--tar-only", package], cwd=str(target))
        found = sorted(target.glob(f"{package}_*.orig.tar.*"))
        tarballs = [name for name in found if name.suffix != ".asc"]
        if not tarballs:
            raise Failure(f"the source of {package} of Debian {self.release} has no .orig.tar")
        return tarballs[0]


def fresh_archive(release: str, kind: str = "deb", machine: str = "amd64") -> Archive:
    """The archive with up-to-date lists; the caller holds no lock of the cache
    named apt."""
    archive = Archive(release, kind, machine)
    with locked(f"apt/{archive.name}"):
        archive.update()
    return archive
