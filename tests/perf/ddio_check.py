#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long rpma-ddio-check takes on a large machine: 8 NICs of two functions
below switches, 32 root ports, 8 regions of persistent memory. By hand:

  tests/perf/ddio_check.py build/release/tools/rpma-ddio-check/rpma-ddio-check

It reads a clock, so it is not a test; more than a second ends it with 1.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOOL = str(Path(sys.argv[1]).resolve()) if len(sys.argv) == 2 else sys.exit(__doc__)
os.environ["RPMA_DDIO_CHECK"] = TOOL
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system/ddio-check"))

from config_space import intel_port  # noqa: E402  the path is made above
from golden import healthy  # noqa: E402
from trees import OFF, Nic, Region, build, card  # noqa: E402

NICS, ROOT_PORTS, REGIONS, RUNS = 8, 32, 8, 20
LIMIT_S = 1.0


def make(tree: Path) -> None:
    nics = [Nic(name=f"mlx5_{n}", netdev=f"ens{n}np0",
                chain=card(f"0000:{0x17 + n:02x}:00.0", root=f"0000:16:{n:02x}.0")) for n in range(NICS)]
    build(healthy(nics=nics, regions=[Region(number=n) for n in range(REGIONS)]), tree)
    # the other root ports, with nothing below them
    for n in range(NICS, ROOT_PORTS):
        address = f"0000:16:{n:02x}.0"
        port = tree / "sys/devices/pci0000:16" / address
        port.mkdir(parents=True)
        (port / "config").write_bytes(bytes(intel_port(0x2030, OFF).bytes))
        (port / "class").write_text("0x060400\n")
        link = tree / "sys/bus/pci/devices" / address
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(f"../../../devices/pci0000:16/{address}")


def seconds(*options: str) -> float:
    begun = time.monotonic()
    subprocess.run([TOOL, *options], stdout=subprocess.DEVNULL, check=False)
    return time.monotonic() - begun


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        tree = Path(directory) / "tree"
        make(tree)
        options = ("--sysroot", str(tree), "--target", "/dev/dax0.0")
        times = [seconds(*options, *more) for more in ((), ("--json",)) for _ in range(RUNS)]
        dump = seconds(*options, "--dump-facts", f"{directory}/dump")
    print(f"median {statistics.median(times) * 1e3:.1f} ms, most {max(times) * 1e3:.1f} ms of {len(times)} runs; "
          f"with a dump {dump * 1e3:.1f} ms; the limit is {LIMIT_S * 1e3:.0f} ms")
    return max(*times, dump) > LIMIT_S


if __name__ == "__main__":
    sys.exit(main())
