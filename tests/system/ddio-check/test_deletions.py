# SPDX-License-Identifier: BSD-3-Clause
"""Every file of a tree that is ready is taken away by itself: what the verdict depends on
must keep the tree from being ready while it is gone.

The list of what it depends on is that of rpma-ddio-check(1), by the kernel's file. With
RPMA_EVERY_TREE all trees are gone through, else one of each kind of evidence.
"""

import os
import re
from pathlib import Path

import pytest
from checker import run
from golden import ROWS, Golden
from test_trees import TREES
from trees import build

READY = [tree for tree in TREES if ROWS[tree.row][1] == 0]
SLICE = ["clx-ddio-off", "arm-iron", "iron-i3en-metal"]
CHOSEN = READY if "RPMA_EVERY_TREE" in os.environ else [tree for tree in READY if tree.name in SLICE]

DEVICE = [r"^sys/class/infiniband/\w+$", r"/ports/1/state$"]
MEMORY = [r"/region\d/persistence_domain$", r"/ndbus\d/provider$", r"/region\d/read_only$",
          r"/namespace\d\.0/mode$", r"^facts\.json$", r"^proc/self/limits$"]
MACHINE = [r"^proc/cpuinfo$", r"^sys/class/dmi/id/sys_vendor$"]


def by_registers_alone(tree: Golden) -> bool:
    """Without a probe or a statement, which are evidence too."""
    return (tree.row == "ddio-off" and tree.ddio is not None and tree.ddio.evidence == "registers"
            and tree.host.probe is None and "--assume-ddio" not in tree.options)


def required(tree: Golden) -> list[str]:
    """Patterns of files without which TREE is not ready."""
    host, nic = tree.host, tree.host.nics[-1]
    # another device, or another port, may do
    patterns = [] if len(host.nics) > 1 or len(nic.ports) > 1 else list(DEVICE)
    # the ids of Omni-Path tell as much as its driver
    if nic.chain and nic.driver == "mlx5_core" and len(host.nics) == 1:
        patterns.append(rf"/{re.escape(nic.auxiliary or nic.chain[-1].address)}/driver$")
    if len(host.nics) == 1 and by_registers_alone(tree):
        patterns.append(rf"/{re.escape(nic.chain[0].address)}/config$")
    patterns += MEMORY
    # a block device has bad blocks of its own
    if all(region.mode == "dax" for region in host.regions):
        patterns.append(r"/region\d/badblocks$")
    if "--assume-pmem" not in tree.options:
        patterns += MACHINE
    for region in host.regions:
        if region.provider == "ACPI.NFIT":
            patterns += [rf"/region{region.number}/devtype$", *(rf"/{dimm.name}/nfit/flags$" for dimm in region.dimms)]
    if host.cpu == "neoverse" and host.smbios is not None:
        patterns.append(r"/dmi/entries/0-0/raw$")
    return patterns


@pytest.mark.parametrize("tree", CHOSEN, ids=[tree.name for tree in CHOSEN])
def test_no_tree_is_ready_without_what_it_depends_on(tree: Golden, tmp_path: Path) -> None:
    top, aside = tmp_path / "tree", tmp_path / "aside"
    build(tree.host, top)
    patterns = [re.compile(pattern) for pattern in required(tree)]
    wrong, gone = [], 0
    for path in sorted(top.rglob("*")):
        name = str(path.relative_to(top))
        if path.is_dir() and not path.is_symlink():
            continue
        path.rename(aside)
        done = run("--sysroot", str(top), *tree.options, "--quiet")
        aside.rename(path)
        assert done.returncode in (0, 1, 3), (name, done.stderr)
        if any(pattern.search(name) for pattern in patterns):
            gone += 1
            wrong += [name] if done.returncode == 0 else []
    assert gone >= 8 and not wrong, wrong
