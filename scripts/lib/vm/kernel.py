# SPDX-License-Identifier: BSD-3-Clause
"""A release's kernel and the initramfs that boots it.

The packages are unpacked in the cache, not installed. The initramfs holds a
static busybox, our init, and modules. An emulated processor would take half of
a boot to decompress the kernel: that is done once, here.
"""

from __future__ import annotations

import hashlib
import lzma
import struct
from dataclasses import dataclass
from pathlib import Path

from apt import fresh_archive
from cache import cache_dir, locked, made_once
from failure import Failure
from initramfs import CONSOLE, Modules, directory, packed, program

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


def _initramfs(tree: Path) -> bytes:
    busybox = next(path for path in tree.rglob("bin/busybox") if path.is_file())
    files = [*(directory(name) for name in ("bin", "dev", "modules")), CONSOLE,
             program("bin/busybox", busybox.read_bytes()), program("init", INIT.read_bytes())]
    modules = Modules(tree)
    for group, names in MODULES.items():
        files += modules.files(group, names)
    return packed(files)


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
