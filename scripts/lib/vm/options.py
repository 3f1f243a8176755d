# SPDX-License-Identifier: BSD-3-Clause
"""The command line of scripts/vm."""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from apt import RELEASES
from failure import USAGE, Failure, Parser

DESCRIPTION = """\
Boot a small virtual machine with Debian's own kernel and its soft-RoCE RDMA
device rxe0, run COMMAND in it, and end with COMMAND's exit status. COMMAND's
stdout and stderr are ours, byte for byte; its stdin is empty. The host's files
are visible under the same paths; what COMMAND writes to them stays in the
guest, except below RPMA_VM_OUT.
"""

EPILOG = """\
environment of COMMAND:
  RPMA_VM_ADDR, RPMA_VM_ADDR6  this guest's addresses on rxe0
  RPMA_VM_PEER, RPMA_VM_PEER6  the peer's; the same with one host
  RPMA_VM_PMEM                 /dev/dax0.0, the mount point of fsdax, or /dev/pmem0
  RPMA_VM_OUT                  the writable directory of --out
  RPMA_VM_RELEASE              bookworm or trixie
  RPMA_BUILD_DIR               a build tree that runs on this guest
  PATH, HOME, LANG, and what --env names; nothing else

With the host's own release the guest sees the host's root and the build tree
of --build. The other release gets a root of its own, in which the project is
built first. Kernels, roots and builds are kept in RPMA_VM_CACHE (default
~/.cache/rpma-vm); they can be removed at any time.

exit status: COMMAND's (128+N if signal N ended it); 2 the guest failed or
time was up; 3 no guest on this kind of host; 64 wrong options; 130, 143 on
signals. COMMAND's own may coincide: our failures have a line "vm: ...".

examples:
  scripts/vm -- ibv_devinfo
  scripts/vm --pmem 256M -- sh -c 'ndctl list; ls -l $RPMA_VM_PMEM'
  scripts/vm --hosts 2 --peer 'rping -s -a $RPMA_VM_ADDR -C 3' -- \\
      sh -c 'until rping -c -a $RPMA_VM_PEER -C 3; do sleep 0.2; done'
"""

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
SMALLEST_PMEM = 64 << 20
LARGEST_PMEM = 1 << 40


@dataclass(frozen=True)
class Pmem:
    size_bytes: int
    domain: str
    mode: str


@dataclass(frozen=True)
class Options:
    release: str | None
    pmem: Pmem | None
    peer: str | None
    pcie: bool
    cxl: bool
    hidden: bool
    cpus: int
    timeout_s: int
    out: Path | None
    build: Path | None
    environment: dict[str, str]
    verbose: bool
    command: list[str]


def parse_pmem(text: str) -> Pmem:
    size, *settings = text.split(",")
    match = re.fullmatch(r"([0-9]+)([KMG]?)(iB|B)?", size)
    if not match:
        raise argparse.ArgumentTypeError(f"size {size!r}: expected a number with K, M or G")
    size_bytes = int(match[1]) * UNITS[match[2]]
    if not SMALLEST_PMEM <= size_bytes <= LARGEST_PMEM or size_bytes % (2 << 20):
        raise argparse.ArgumentTypeError(
            f"size {size!r}: expected a multiple of 2M from 64M to 1024G")
    chosen = {"domain": "adr", "mode": "devdax"}
    known = {"domain": ("adr", "eadr"), "mode": ("devdax", "fsdax", "raw")}
    for setting in settings:
        name, _, value = setting.partition("=")
        if value not in known.get(name, ()):
            raise argparse.ArgumentTypeError(
                f"{setting!r}: expected domain=adr|eadr or mode=devdax|fsdax|raw")
        chosen[name] = value
    return Pmem(size_bytes, chosen["domain"], chosen["mode"])


def _positive(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a positive number")
    return int(text)


def _directory(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("'': expected a directory")
    return Path(text)


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME or NAME=VALUE")
    return name, value if equals else os.environ.get(name, "")


def _parser() -> Parser:
    parser = Parser(prog="vm", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter,
                    usage="scripts/vm [OPTION...] -- COMMAND...")
    parser.add_argument("--release", choices=RELEASES, help="the guest's Debian; default: the host's")
    parser.add_argument("--pmem", type=parse_pmem, metavar="SIZE[,domain=adr|eadr][,mode=M]",
                        help="emulated persistent memory, M is devdax (default), fsdax or raw; "
                             "default domain adr")
    parser.add_argument("--hosts", type=int, choices=(1, 2), default=1,
                        help="2 boots a second guest on the same network")
    parser.add_argument("--peer", metavar="'SERVER COMMAND'",
                        help="what the second guest's shell runs, started before COMMAND and "
                             "ended after it; its output and status are in RPMA_VM_OUT as "
                             "peer.out, peer.err, peer.status, and without --out on stderr")
    parser.add_argument("--pcie", action="store_true",
                        help="a machine with PCI Express: two root ports, an endpoint below one, "
                             "a switch with two endpoints below the other")
    parser.add_argument("--cxl", action="store_true",
                        help="a machine with a Compute Express Link: a persistent memory device, and "
                             "a volatile one where QEMU has them (8.1 or newer)")
    parser.add_argument("--hidden", action="store_true",
                        help="the processor does not tell that it is virtual: without the CPUID flag "
                             "of hypervisors")
    parser.add_argument("--cpus", type=_positive, default=2, metavar="N", help="default: 2")
    parser.add_argument("--timeout", type=_positive, default=600, metavar="SECONDS",
                        help="for boot and COMMAND together, default: 600")
    parser.add_argument("--out", type=_directory, metavar="DIR",
                        help="the directory that the guest may write, default: a temporary one")
    parser.add_argument("--build", type=_directory, metavar="DIR",
                        help="the build tree for a guest of the host's release; default: "
                             "RPMA_BUILD_DIR of the environment, else build/release")
    parser.add_argument("--env", type=_variable, action="append", default=[],
                        metavar="NAME[=VALUE]", help="a variable for COMMAND; may be repeated")
    parser.add_argument("--verbose", action="store_true",
                        help="show the console and the peer's output on stderr")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help=argparse.SUPPRESS)
    return parser


def parse(arguments: list[str]) -> Options:
    parser = _parser()
    before, command = arguments, []
    if "--" in arguments:
        at = arguments.index("--")
        before, command = arguments[:at], arguments[at + 1:]
    parsed = parser.parse_args(before)
    command = parsed.command + command
    if not command:
        parser.error("expected a COMMAND")
    if (parsed.hosts == 2) != (parsed.peer is not None):
        parser.error("--hosts 2 and --peer 'SERVER COMMAND' need each other")
    return Options(parsed.release, parsed.pmem, parsed.peer, parsed.pcie, parsed.cxl, parsed.hidden,
                   parsed.cpus, parsed.timeout, parsed.out, parsed.build, dict(parsed.env), parsed.verbose, command)
