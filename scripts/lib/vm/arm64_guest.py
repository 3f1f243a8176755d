# SPDX-License-Identifier: BSD-3-Clause
"""A guest for arm64: Debian's kernel on QEMU's board "virt", emulated.

It has no root: what it runs is in its initramfs, with a static busybox, and what it leaves in /out is
on the host. So it is up and done in seconds. With firmware it has ACPI and SMBIOS, without a device
tree. Nothing is installed on the host but QEMU.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import kvm
from apt import fresh_archive
from cache import made_once
from failure import Failure
from initramfs import CONSOLE, File, Modules, directory, packed, program
from processes import checked

QEMU = "qemu-system-aarch64"
# the processor of many servers, not one that shows an emulator
MACHINE = ("-accel", "tcg", "-machine", "virt", "-cpu", "neoverse-n1", "-m", "1G")
FIRMWARE = "usr/share/qemu-efi-aarch64/QEMU_EFI.fd"
LINE = "console=ttyAMA0 quiet panic=-1 oops=panic cryptomgr.notests init_on_alloc=0"
MODULES = ["virtio_pci", "9pnet_virtio", "9p", "dmi_sysfs"]
LIBRARIES = ("usr/lib/aarch64-linux-gnu", "lib/aarch64-linux-gnu", "usr/lib", "lib")


def _fetched(release: str) -> Path:
    def fetch(target: Path) -> None:
        archive = fresh_archive(release, machine="arm64")
        package = archive.dependency("linux-image-arm64", r"linux-image-[0-9][^ ,]*-arm64")
        archive.unpack([package, "busybox-static", "qemu-efi-aarch64"], target)

    return made_once(f"kernel/{release}-arm64", fetch)


def _library(name: str, root: Path) -> Path:
    for folder in LIBRARIES:
        if (root / folder / name).exists():
            return root / folder / name
    raise Failure(f"{root} has no {name}")


def _linked_with(path: Path, root: Path) -> dict[str, Path]:
    """The libraries below ROOT that a program is linked with, and those are, by name."""
    found: dict[str, Path] = {}
    rest = [path]
    while rest:
        file = rest.pop()
        needs = checked(f"cannot read {file}", ["readelf", "--dynamic", str(file)])
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", needs):
            if name not in found:
                found[name] = _library(name, root)
                rest.append(found[name])
    return found


def initramfs(release: str, root: Path, init: bytes, path: Path, others: list[File]) -> bytes:
    """An initramfs with INIT and the program PATH, whose libraries are below ROOT, and OTHER files."""
    tree = _fetched(release)
    busybox = next(found for found in tree.rglob("bin/busybox") if found.is_file())
    files = [*(directory(name) for name in ("bin", "dev", "lib", "modules", "out")), CONSOLE,
             program("bin/busybox", busybox.read_bytes()), program("init", init),
             program(f"bin/{path.name}", path.read_bytes())]
    files += [program(f"lib/{name}", file.read_bytes()) for name, file in _linked_with(path, root).items()]
    return packed([*files, *Modules(tree).files("all", MODULES), *others])


def boot(release: str, image: bytes, out: Path, firmware: bool, limit_s: int) -> str:
    """Until it powers itself off; what it said on its console."""
    tree = _fetched(release)
    kernel = sorted(tree.glob("boot/vmlinuz-*"))[-1]
    escaped = str(out).replace(",", ",,")
    share = f"local,path={escaped},mount_tag=out,security_model=none,multidevs=remap"
    with tempfile.NamedTemporaryFile() as initrd:
        initrd.write(image)
        initrd.flush()
        command = [QEMU, *kvm.COMMON, *MACHINE, "-kernel", str(kernel), "-initrd", initrd.name,
                   "-append", LINE, "-virtfs", share]
        if firmware:
            command += ["-bios", str(tree / FIRMWARE)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=limit_s, check=False)
    return done.stdout
