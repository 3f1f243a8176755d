# SPDX-License-Identifier: BSD-3-Clause
"""An initramfs: files in the kernel's format, and kernel modules in the order in which insmod takes
them, which stands in the modules themselves."""

from __future__ import annotations

import lzma
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator


@dataclass(frozen=True)
class File:
    name: str  # without a slash in front
    mode: int
    data: bytes = b""


def directory(name: str) -> File:
    return File(name, stat.S_IFDIR | 0o755)


def program(name: str, data: bytes) -> File:
    return File(name, stat.S_IFREG | 0o755, data)


def plain(name: str, data: bytes) -> File:
    return File(name, stat.S_IFREG | 0o644, data)


CONSOLE = File("dev/console", stat.S_IFCHR | 0o600)


def tree(name: str, top: Path) -> Iterator[File]:
    """The files and links below TOP, at NAME."""
    yield directory(name)
    for path in sorted(top.rglob("*")):
        at = f"{name}/{path.relative_to(top)}"
        if path.is_symlink():
            yield File(at, stat.S_IFLNK | 0o777, os.fsencode(os.readlink(path)))
        elif path.is_dir():
            yield directory(at)
        else:
            yield plain(at, path.read_bytes())


class Modules:
    """The modules of an unpacked kernel package."""

    def __init__(self, kernel: Path) -> None:
        found = [path for path in kernel.rglob("*.ko*") if path.suffix in (".ko", ".xz")]
        self.paths = {path.name.split(".")[0].replace("-", "_"): path for path in found}
        self.loaded: dict[str, bytes] = {}

    def image(self, name: str) -> bytes:
        path = self.paths[name]
        data = path.read_bytes()
        return lzma.decompress(data) if path.suffix == ".xz" else data

    def in_order(self, names: list[str]) -> list[str]:
        """The modules to load for NAMES that are not loaded yet; from now on they are. A name without a
        file is built into the kernel or gone from it."""
        order: list[str] = []
        for name in names:
            if name in self.loaded or name not in self.paths:
                continue
            image = self.image(name)
            self.loaded[name] = image
            order += self.in_order(_dependencies(image)) + [name]
        return order

    def files(self, group: str, names: list[str]) -> list[File]:
        """The list of what to load for NAMES, called by the name of the GROUP, and the modules."""
        order = self.in_order(names)
        listed = "".join(f"{name}.ko\n" for name in order).encode()
        return [plain(f"modules/{group}.list", listed),
                *(plain(f"modules/{name}.ko", self.loaded[name]) for name in order)]


def _dependencies(image: bytes) -> list[str]:
    names: list[str] = []
    for field in image.split(b"\0"):
        if field.startswith(b"depends="):
            names += field[len(b"depends="):].decode().split(",")
        elif field.startswith(b"softdep=pre: "):
            names += field[len(b"softdep=pre: "):].decode().split(" post:")[0].split()
    return [name.replace("-", "_") for name in names if name]


def _entry(file: File, number: int = 0) -> bytes:
    """One file of a cpio archive in the format "newc", see the kernel's
    Documentation/driver-api/early-userspace/buffer-format.rst."""
    encoded = file.name.encode() + b"\0"
    major, minor = (5, 1) if file == CONSOLE else (0, 0)
    fields = (number, file.mode, 0, 0, 1, 0, len(file.data), 0, 0, major, minor, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return header + b"\0" * (-len(header) % 4) + file.data + b"\0" * (-len(file.data) % 4)


def packed(files: list[File]) -> bytes:
    entries = [_entry(file, number) for number, file in enumerate(files, 1)]
    return b"".join(entries) + _entry(File("TRAILER!!!", 0))
