# SPDX-License-Identifier: BSD-3-Clause
"""A release's kernel and the initramfs that boots it.

The packages are unpacked in the cache, not installed. The initramfs holds a
static busybox, our init, and the modules in the order in which insmod takes
them: what each depends on stands in the module itself. An emulated processor
would take half of a boot to decompress the kernel: that is done once, here.
"""

from __future__ import annotations

import hashlib
import lzma
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

from apt import fresh_archive
from cache import cache_dir, locked, made_once
from failure import Failure

INIT = Path(__file__).with_name("init")
MODULES = {
    "base": ["virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay"],
    # Without crc32 in the crypto layer rxe refuses every network device.
    "rdma": ["virtio_net", "dummy", "crc32_generic", "rdma_rxe", "rdma_ucm", "ib_uverbs"],
    "pmem": ["nfit", "nd_pmem", "device_dax", "dax_pmem", "crc32c_generic", "ext4"],
    # after pmem, on whose modules these stand
    "cxl": ["cxl_acpi", "cxl_pci", "cxl_port", "cxl_mem", "cxl_pmem", "dax_cxl"],
}


SECTOR_BYTES = 512
XZ_MAGIC = b"\xfd7zXZ\0"


@dataclass(frozen=True)
class Kernel:
    image: Path
    decompressed: Path  # the image itself where it is compressed in another way than by xz
    initramfs: Path


def _fetch(release: str, target: Path) -> None:
    archive = fresh_archive(release)
    package = archive.dependency("linux-image-amd64", r"linux-image-[0-9][^ ,]*-amd64")
    archive.unpack([package, "busybox-static"], target)


class _Modules:
    """The modules of an unpacked kernel package."""

    def __init__(self, tree: Path) -> None:
        found = [path for path in tree.rglob("*.ko*") if path.suffix in (".ko", ".xz")]
        self.paths = {path.name.split(".")[0].replace("-", "_"): path for path in found}

    def image(self, name: str) -> bytes:
        path = self.paths[name]
        data = path.read_bytes()
        return lzma.decompress(data) if path.suffix == ".xz" else data

    def in_order(self, names: list[str], loaded: dict[str, bytes]) -> list[str]:
        """What to load for NAMES that is not among LOADED yet; adds it there.
        A name without a file is built into the kernel or gone from it."""
        order: list[str] = []
        for name in names:
            if name in loaded or name not in self.paths:
                continue
            image = self.image(name)
            loaded[name] = image
            order += self.in_order(_dependencies(image), loaded) + [name]
        return order


def _dependencies(image: bytes) -> list[str]:
    names: list[str] = []
    for field in image.split(b"\0"):
        if field.startswith(b"depends="):
            names += field[len(b"depends="):].decode().split(",")
        elif field.startswith(b"softdep=pre: "):
            names += field[len(b"softdep=pre: "):].decode().split(" post:")[0].split()
    return [name.replace("-", "_") for name in names if name]


def _entry(name: str, mode: int, data: bytes = b"", number: int = 0) -> bytes:
    """One file of a cpio archive in the format "newc", see the kernel's
    Documentation/driver-api/early-userspace/buffer-format.rst."""
    encoded = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 5 if name == "dev/console" else 0,
              1 if name == "dev/console" else 0, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return header + b"\0" * (-len(header) % 4) + data + b"\0" * (-len(data) % 4)


def _initramfs(tree: Path) -> bytes:
    modules = _Modules(tree)
    loaded: dict[str, bytes] = {}
    files: list[tuple[str, int, bytes]] = [(name, stat.S_IFDIR | 0o755, b"")
                                           for name in ("bin", "dev", "modules")]
    files.append(("dev/console", stat.S_IFCHR | 0o600, b""))
    busybox = next(path for path in tree.rglob("bin/busybox") if path.is_file())
    files.append(("bin/busybox", stat.S_IFREG | 0o755, busybox.read_bytes()))
    files.append(("init", stat.S_IFREG | 0o755, INIT.read_bytes()))
    for group, names in MODULES.items():
        order = modules.in_order(names, loaded)
        listed = "".join(f"{name}.ko\n" for name in order).encode()
        files.append((f"modules/{group}.list", stat.S_IFREG | 0o644, listed))
        files += [(f"modules/{name}.ko", stat.S_IFREG | 0o644, loaded[name]) for name in order]
    entries = [_entry(name, mode, data, number)
               for number, (name, mode, data) in enumerate(files, 1)]
    return b"".join(entries) + _entry("TRAILER!!!", 0)


def _payload(image: bytes) -> bytes:
    """The compressed kernel in a bzImage, see the kernel's Documentation/arch/x86/boot.rst."""
    setup_sectors = image[0x1f1]
    offset, length = struct.unpack_from("<II", image, 0x248)
    begin = (setup_sectors + 1) * SECTOR_BYTES + offset
    return image[begin:begin + length]


def _decompressed(release: str, image: Path) -> Path:
    entry = cache_dir() / f"kernel/{release}-{image.name}.elf"
    if entry.exists():
        return entry
    payload = _payload(image.read_bytes())
    if not payload.startswith(XZ_MAGIC):
        return image
    with locked(f"kernel/{release}"):
        unfinished = entry.with_suffix(".unfinished")
        # not lzma.decompress(), as the size of the kernel follows the stream
        unfinished.write_bytes(lzma.LZMADecompressor().decompress(payload))
        unfinished.rename(entry)
    return entry


def kernel(release: str) -> Kernel:
    tree = made_once(f"kernel/{release}", lambda target: _fetch(release, target))
    images = sorted(tree.glob("boot/vmlinuz-*"))
    if not images:
        raise Failure(f"{tree} holds no kernel: remove it and run again")
    recipe = INIT.read_bytes() + repr(MODULES).encode() + images[-1].name.encode()
    digest = hashlib.sha256(recipe).hexdigest()[:16]
    initramfs = cache_dir() / f"kernel/{release}-initramfs-{digest}"
    if not initramfs.exists():
        with locked(f"kernel/{release}"):
            if not initramfs.exists():
                unfinished = initramfs.with_suffix(".unfinished")
                unfinished.write_bytes(_initramfs(tree))
                unfinished.rename(initramfs)
    return Kernel(images[-1], _decompressed(release, images[-1]), initramfs)
