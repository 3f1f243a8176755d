# SPDX-License-Identifier: BSD-3-Clause
"""One guest: the job it is given, and the QEMU that runs it.

The job is a directory shared with the guest: settings and command are shell
text for init, trees the paths to show, token the bytes that end its output.
"""

from __future__ import annotations

import os
import secrets
import shlex
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import kvm
from failure import Failure
from kernel import Kernel
from options import Options, Pmem
from processes import checked, start
from root import PATH, SOURCE, Root

PORTS = ("control", "out", "err")
# These of the root's directories are the guest's own: a tree below one of
# them has to be shown again.
HIDDEN = ("/tmp", "/run", "/dev", "/proc", "/sys")
FSDAX_PLACE = "/mnt/pmem"
LABEL_BYTES = 128 << 10
# Root ports of two makers, a switch, and network cards with many capabilities
# that have no cable.
PCIE = (
    "pcie-root-port,id=port1,chassis=1,slot=1",
    "e1000e,bus=port1,romfile=",
    "ioh3420,id=port2,chassis=2,slot=2",
    "x3130-upstream,id=switch,bus=port2",
    "xio3130-downstream,id=below1,bus=switch,chassis=3,slot=1",
    "xio3130-downstream,id=below2,bus=switch,chassis=4,slot=2",
    "e1000e,bus=below1,romfile=",
    "virtio-rng-pci,bus=below2",
)
# A host bridge whose window takes up both devices.
CXL_WINDOW = "cxl-fmw.0.targets.0=cxl,cxl-fmw.0.size=1G"
CXL_BYTES = 256 << 20  # the least that a decoder takes
CXL_LABEL_BYTES = 1 << 20
# QEMU 7.2 has no interrupts for the event log, whose driver then takes no device: where the firmware
# keeps the errors the driver does not ask for them.
CXL_LINE = " pcie_ports=compat"
DOMAINS = {"adr": "mem-ctrl", "eadr": "cpu"}


@dataclass(frozen=True)
class Place:
    """The address and names of a guest on the network."""
    role: str
    host_name: str
    address: str
    address6: str
    gid: str
    gid6: str


PLACES = {
    "client": Place("client", "rpma-vm", "10.0.0.1", "fd00::1",
                    "ffff:0a00:0001", "fd00:.*:0001"),
    "peer": Place("peer", "rpma-vm-peer", "10.0.0.2", "fd00::2",
                  "ffff:0a00:0002", "fd00:.*:0002"),
}


@dataclass
class Machine:
    """A running guest and the host's ends of its ports."""
    role: str
    process: subprocess.Popen[bytes]
    ports: dict[str, socket.socket]
    token: bytes
    console: bytearray = field(default_factory=bytearray)


def _pmem_device(pmem: Pmem) -> str:
    return {"devdax": "/dev/dax0.0", "fsdax": FSDAX_PLACE, "raw": "/dev/pmem0"}[pmem.mode]


def _environment(options: Options, root: Root, place: Place, out: Path) -> dict[str, str]:
    other = PLACES["peer" if place.role == "client" else "client"] if options.peer else place
    variables = {
        "PATH": PATH,
        "HOME": "/tmp/home",
        "LANG": "C.UTF-8",
        "RPMA_VM_ADDR": place.address,
        "RPMA_VM_ADDR6": place.address6,
        "RPMA_VM_PEER": other.address,
        "RPMA_VM_PEER6": other.address6,
        "RPMA_VM_OUT": str(out),
        "RPMA_VM_RELEASE": root.release,
        "RPMA_BUILD_DIR": str(root.build),
    }
    if options.pmem:
        variables["RPMA_VM_PMEM"] = _pmem_device(options.pmem)
    return variables | options.environment


def _trees(root: Root, out: Path) -> list[tuple[str, Path]]:
    """The paths that the guest would not see by itself, with how to show them:
    "same" is one of the root's own, otherwise a share of that name."""
    wanted = [("source", SOURCE), ("build", root.build)]
    if root.is_host:
        # The caller's directory is where scripts of tests live.
        wanted.append(("cwd", Path.cwd()))
        wanted = [("same", path) for _, path in wanted
                  if path.is_dir() and path.as_posix().startswith(tuple(f"{h}/" for h in HIDDEN))]
    return [(how, path) for how, path in wanted if path != out]


def write_job(job: Path, options: Options, root: Root, place: Place, out: Path) -> bytes:
    netdev = "eth0" if options.peer else "dummy0"
    settings = {
        "role": place.role, "host_name": place.host_name, "netdev": netdev,
        "address": place.address, "address6": place.address6,
        "gid": place.gid, "gid6": place.gid6, "out_path": str(out),
        "pmem_mode": options.pmem.mode if options.pmem else "", "cxl": "yes" if options.cxl else "",
    }
    lines = "".join(f"{name}={shlex.quote(value)}\n" for name, value in settings.items())
    (job / "settings").write_text(lines, encoding="utf-8", errors="surrogateescape")
    command = options.command if place.role == "client" else ["sh", "-c", options.peer or ""]
    environment = _environment(options, root, place, out)
    exported = [f"{name}={value}" for name, value in environment.items()]
    text = (f"cd {shlex.quote(os.getcwd())} 2>/dev/null || cd /\n"
            f"exec env -i {shlex.join(exported)} {shlex.join(command)}\n")
    (job / "command").write_text(text, encoding="utf-8", errors="surrogateescape")
    trees = "".join(f"{how} {path}\n" for how, path in _trees(root, out))
    (job / "trees").write_text(trees, encoding="utf-8", errors="surrogateescape")
    names = [f"{p.address} {p.host_name}\n{p.address6} {p.host_name}\n"
             for p in ([place] if not options.peer else PLACES.values())]
    (job / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n" + "".join(names),
                               encoding="ascii")
    # Output that may be its beginning is held back: a byte that ends no line.
    token = b"\0" + secrets.token_hex(24).encode()
    (job / "token").write_bytes(token)
    return token


def _share(tag: str, path: Path, writable: bool = False) -> list[str]:
    escaped = str(path).replace(",", ",,")
    rights = "" if writable else ",readonly=on"
    return ["-virtfs", f"local,path={escaped},mount_tag={tag},security_model=none,"
                       f"multidevs=remap{rights}"]


def _memory_file(job: Path, name: str, size_bytes: int) -> list[str]:
    """The memory NAME of devices, which is a file."""
    backing = job.parent / f"{job.name}.{name}"
    with open(backing, "wb") as file:
        file.truncate(size_bytes)
    escaped = str(backing).replace(",", ",,")
    return ["-object", f"memory-backend-file,id={name},share=on,mem-path={escaped},size={size_bytes}"]


def _pmem_arguments(pmem: Pmem, job: Path) -> list[str]:
    return [*_memory_file(job, "pmem", pmem.size_bytes + LABEL_BYTES),
            "-device", f"nvdimm,memdev=pmem,label-size={LABEL_BYTES}"]


def _cxl_arguments(job: Path) -> list[str]:
    known = checked("cannot ask QEMU for its devices", [kvm.QEMU, "-device", "cxl-type3,help"])
    volatile = "volatile-memdev" in known
    arguments = ["-machine", CXL_WINDOW, "-device", "pxb-cxl,id=cxl,bus=pcie.0,bus_nr=12",
                 *_memory_file(job, "cxl-pmem", CXL_BYTES), *_memory_file(job, "cxl-lsa", CXL_LABEL_BYTES),
                 "-device", "cxl-rp,id=cxl-port0,bus=cxl,port=0,chassis=10,slot=0", "-device",
                 f"cxl-type3,bus=cxl-port0,{'persistent-' if volatile else ''}memdev=cxl-pmem,lsa=cxl-lsa"]
    if volatile:
        arguments += [*_memory_file(job, "cxl-ram", CXL_BYTES),
                      "-device", "cxl-rp,id=cxl-port1,bus=cxl,port=1,chassis=11,slot=1",
                      "-device", "cxl-type3,bus=cxl-port1,volatile-memdev=cxl-ram"]
    return arguments


def _arguments(options: Options, kernel: Kernel, root: Root, job: Path, out: Path) -> list[str]:
    accelerated = kvm.works(kernel)
    image = kernel.image if accelerated else kernel.decompressed
    machine, memory = "q35" if options.pcie or options.cxl else "pc", "2G"
    if options.cxl:
        machine += ",cxl=on"
    if options.pmem:
        machine += f",nvdimm=on,nvdimm-persistence={DOMAINS[options.pmem.domain]}"
        memory += f",slots=2,maxmem={(4 << 30) + options.pmem.size_bytes}B"
    arguments = [kvm.QEMU, *kvm.COMMON, *kvm.accelerator(accelerated, options.hidden),
                 "-machine", machine, "-m", memory, "-smp", str(options.cpus),
                 "-kernel", str(image), "-initrd", str(kernel.initramfs),
                 "-append", kvm.kernel_line(accelerated) + (CXL_LINE if options.cxl else ""),
                 "-device", "virtio-serial-pci"]
    arguments += _share("root", root.path) + _share("job", job) + _share("out", out, True)
    for device in PCIE if options.pcie else ():
        arguments += ["-device", device]
    for how, path in _trees(root, out):
        if how != "same":
            arguments += _share(how, path)
    if options.pmem:
        arguments += _pmem_arguments(options.pmem, job)
    if options.cxl:
        arguments += _cxl_arguments(job)
    return arguments


def boot(options: Options, kernel: Kernel, root: Root, role: str, directory: Path, out: Path,
         wire: socket.socket | None) -> Machine:
    """Start the guest ROLE; WIRE is its end of the network to the other guest."""
    job = directory / role
    job.mkdir()
    place = PLACES[role]
    token = write_job(job, options, root, place, out)
    arguments = _arguments(options, kernel, root, job, out)
    ours: dict[str, socket.socket] = {}
    theirs: list[socket.socket] = []
    for port in PORTS:
        ours[port], guest_end = socket.socketpair()
        theirs.append(guest_end)
        arguments += ["-chardev", f"socket,id={port},fd={guest_end.fileno()}",
                      "-device", f"virtserialport,chardev={port},name={port}"]
    if wire:
        theirs.append(wire)
        arguments += ["-netdev", f"socket,id=wire,fd={wire.fileno()}", "-device",
                      f"virtio-net-pci,netdev=wire,romfile=,mac=52:54:00:00:00:{place.address[-1]:0>2}"]
    try:
        process = start(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT, pass_fds=[end.fileno() for end in theirs])
    except OSError as error:
        raise Failure(f"cannot start {kvm.QEMU}: {error.strerror}") from error
    finally:
        for end in theirs:
            end.close()
    return Machine(role, process, ours, token)
