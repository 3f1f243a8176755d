# SPDX-License-Identifier: BSD-3-Clause
"""How QEMU runs a guest: under KVM where a probe boot shows that it works, else
emulated. /dev/kvm may exist and open and still not work."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from pathlib import Path

from cache import cache_dir, locked
from kernel import Kernel
from processes import kill, start

QEMU = "qemu-system-x86_64"
COMMON = ("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio")
MARKER = b"rpma-vm-probe-passed"
PROBE_S = 15


def accelerator(accelerated: bool, hidden: bool = False) -> list[str]:
    flags = ",-hypervisor" if hidden else ""
    if accelerated:
        return ["-accel", "kvm", "-cpu", f"host{flags}"]
    return ["-accel", "tcg,thread=multi", "-cpu", f"max{flags}"]


def kernel_line(accelerated: bool) -> str:
    """Emulated, the kernel distrusts the TSC and falls back to a clock that
    takes a microsecond to read, and its own tests and zeroing take seconds. A
    timer that comes late, as on a busy host, is taken for one that is broken."""
    line = "console=ttyS0 quiet panic=-1 oops=panic mitigations=off"
    emulated = "tsc=reliable no_timer_check cryptomgr.notests init_on_alloc=0"
    return line if accelerated else f"{line} {emulated}"


def _probe(kernel: Kernel) -> bool:
    child = start([QEMU, *COMMON, *accelerator(True), "-machine", "pc", "-m", "512M",
                   "-kernel", str(kernel.image), "-initrd", str(kernel.initramfs),
                   "-append", f"{kernel_line(True)} rpma_vm_probe"],
                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert child.stdout
    os.set_blocking(child.stdout.fileno(), False)
    seen = b""
    deadline = time.monotonic() + PROBE_S
    try:
        while MARKER not in seen and child.poll() is None and time.monotonic() < deadline:
            seen += child.stdout.read() or b""
            time.sleep(0.05)
        return MARKER in seen + (child.stdout.read() or b"")
    finally:
        kill(child)


def works(kernel: Kernel) -> bool:
    """The answer holds as long as the host and the guest's kernel stay."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    key = hashlib.sha256(f"{boot}{kernel.initramfs}".encode()).hexdigest()[:16]
    answer = cache_dir() / f"kvm-{key}"
    with locked("kvm"):
        if not answer.exists():
            passed = _probe(kernel)
            answer.write_text("works\n" if passed else "fails\n", encoding="ascii")
    return answer.read_text(encoding="ascii") == "works\n"
