# SPDX-License-Identifier: BSD-3-Clause
"""rpma-ddio-check in guests for arm64, which is built for them: never ready without --assume-pmem.

All but the hypervisor is well there: the rest of the machine is that of golden_adapter.py which is
ready, arm-iron. Its processor has no flag that tells of a hypervisor. One guest has a device tree, as
QEMU boots a kernel by itself, the other firmware with ACPI and SMBIOS.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from golden_adapter import TREES
from trees import build

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts/lib/vm"))
import arm64_guest  # noqa: E402
import initramfs  # noqa: E402
from apt import host_release  # noqa: E402

TOOL, ROOT = Path(os.environ["RPMA_DDIO_CHECK"]), Path(os.environ["RPMA_ARM64_ROOT"])
INIT = Path(__file__).with_name("on_arm64_init")
LIMIT_S = 1200  # it takes seconds
CASES = ["all", "names", "described", "functions"]

pytestmark = pytest.mark.skipif(not shutil.which(arm64_guest.QEMU), reason=f"no {arm64_guest.QEMU} here")


@pytest.fixture(scope="module", params=[False, True], ids=["device-tree", "firmware"])
def seen(request: pytest.FixtureRequest) -> Any:
    """The directory that a guest has left."""
    iron = next(tree for tree in TREES if tree.name == "arm-iron")
    with tempfile.TemporaryDirectory() as name:
        build(iron.host, Path(name) / "iron")
        image = arm64_guest.initramfs(host_release(), ROOT, INIT.read_bytes(), TOOL,
                                      list(initramfs.tree("iron", Path(name) / "iron")))
        out = Path(name) / "out"
        out.mkdir()
        console = arm64_guest.boot(host_release(), image, out, request.param, LIMIT_S)
        assert (out / "ended").exists(), console[-4000:]
        print(console)
        yield out


def judged(seen: Path, name: str) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Exit status, judgement, and the check of the provider."""
    document = json.loads((seen / f"{name}.json").read_text(encoding="utf-8"))
    status = int((seen / f"{name}.status").read_text())
    assert document["run"]["exit_code"] == status
    check = next(check for check in document["checks"] if check["id"] == "PM-07")
    return status, document["judgement"], check


def test_the_machine_is_ready_without_what_the_guest_shows(seen: Path) -> None:
    status, judgement, check = judged(seen, "none")
    assert (status, judgement["row"], check["status"]) == (0, "eadr", "PASS"), check


@pytest.mark.parametrize("name", CASES)
def test_a_guest_is_not_ready(seen: Path, name: str) -> None:
    for options in ("", "-stated"):
        status, judgement, check = judged(seen, name + options)
        assert (status, judgement["row"]) == (3, "unproven"), judgement
        assert check["status"] in ("WARN", "UNKNOWN"), check


def test_all_of_it_shows_a_hypervisor(seen: Path) -> None:
    _, _, check = judged(seen, "all")
    assert check["status"] == "WARN" and "hypervisor" in check["meaning"], check


@pytest.mark.parametrize("name", CASES)
def test_a_statement_about_the_memory_is_taken(seen: Path, name: str) -> None:
    status, judgement, check = judged(seen, f"{name}-assumed")
    assert (status, judgement["row"], check["status"]) == (0, "eadr", "ASSUMED"), check
    assert judgement["assumed"], judgement


def test_the_guest_itself_has_nothing_that_is_ready(seen: Path) -> None:
    """No RDMA device, no persistent memory."""
    status, judgement, _ = judged(seen, "here")
    assert (status, judgement["row"]) == (3, "no-device"), judgement
