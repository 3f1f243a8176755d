# SPDX-License-Identifier: BSD-3-Clause
"""The walk of capabilities against lspci, for every PCI function of the machine
this runs on: their places and ids, port types, the use of the link. Root sees
all of the space, others 64 bytes. In a guest with ports, RPMA_PCI_PORTS=yes
requires them to be among what was compared."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

WALK = os.environ["RPMA_PCI_WALK"]
DEVICES = Path("/sys/bus/pci/devices")
Function = dict[str, Any]

# PCI Express Base Specification, table 7-20; in the words of lspci.
TYPES = {"Endpoint": 0, "Legacy Endpoint": 1, "Root Port": 4, "Upstream Port": 5,
         "Downstream Port": 6, "PCI-Express to PCI/PCI-X Bridge": 7,
         "PCI/PCI-X to PCI-Express Bridge": 8, "Root Complex Integrated Endpoint": 9,
         "Root Complex Event Collector": 10}
SPEEDS = {"unknown": 0, "2.5GT/s": 1, "5GT/s": 2, "8GT/s": 3, "16GT/s": 4, "32GT/s": 5,
          "64GT/s": 6}
# PCI Code and ID Assignment Specification, chapters 2 and 3.
CAPABILITIES = {"Power Management": 0x01, "AGP": 0x02, "Vital Product Data": 0x03,
                "Slot ID": 0x04, "MSI:": 0x05, "PCI-X": 0x07, "HyperTransport": 0x08,
                "Vendor Specific Information": 0x09, "Debug port": 0x0a, "Hot-plug": 0x0c,
                "Subsystem:": 0x0d, "Bridge subsystem": 0x0d, "Express": 0x10, "MSI-X:": 0x11,
                "SATA HBA": 0x12, "PCI Advanced Features": 0x13, "Enhanced Allocation": 0x14}
EXTENDED = {"Advanced Error Reporting": 0x01, "Virtual Channel": 0x02,
            "Device Serial Number": 0x03, "Power Budgeting": 0x04, "Vendor Specific": 0x0b,
            "Access Control Services": 0x0d, "Alternative Routing-ID": 0x0e,
            "Address Translation Service": 0x0f, "Single Root I/O Virtualization": 0x10,
            "Page Request": 0x13, "Resizable BAR": 0x15, "Dynamic Power": 0x16,
            "Transaction Processing Hints": 0x17, "Latency Tolerance": 0x18,
            "Secondary PCI Express": 0x19, "Process Address Space": 0x1b, "L1 PM": 0x1e,
            "Precision Time": 0x1f, "Data Link Feature": 0x25}


def number(table: dict[str, int], name: str) -> int | None:
    """None: lspci has a name for it that we have not."""
    return next((value for key, value in table.items() if name.startswith(key)), None)


def of_lspci(*options: str) -> dict[str, Function]:
    text = subprocess.run(["lspci", "-D", "-vvv", *options], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60).stdout
    functions: dict[str, Function] = {}
    for block in text.strip().split("\n\n"):
        function: Function = {"capabilities": {}, "extended": {}}
        functions[block.split(" ")[0]] = function
        for at, version, name in re.findall(r"\tCapabilities: \[(\w+)(?: v(\d+))?\] (.*)", block):
            if version:
                function["extended"][int(at, 16)] = (number(EXTENDED, name), int(version))
            else:
                function["capabilities"][int(at, 16)] = number(CAPABILITIES, name)
        express = re.search(r"\[(\w+)\] Express \(v\d\) ([^(,]+)", block)
        if express and "DevCtl:" in block:
            function["express"] = of_express(block, int(express[1], 16), express[2].strip())
    return functions


def of_express(block: str, at: int, name: str) -> dict[str, Any]:
    sizes = re.search(r"MaxPayload (\d+) bytes, MaxReadReq (\d+) bytes", block)
    control = block.partition("DevCtl:")[2]
    can = re.search(r"LnkCap:.*Speed ([^,]+), Width x(\d+)", block)
    now = re.search(r"LnkSta:\s*Speed ([^, ]+)[^,]*, Width x(\d+)", block)
    assert sizes, block
    return {"at": at, "type": TYPES[name], "payload": int(sizes[1]), "read": int(sizes[2]),
            "ordering": "RlxdOrd+" in control.partition("DevSta:")[0],
            "snoop": "NoSnoop+" in control.partition("DevSta:")[0],
            "max": (SPEEDS[can[1]], int(can[2])) if can else (0, 0),
            "now": (SPEEDS[now[1]], int(now[2])) if now else (0, 0)}


def walk(*arguments: str) -> str:
    return subprocess.run([WALK, *arguments], check=True, text=True, stdout=subprocess.PIPE,
                          timeout=60).stdout


def of_walk(text: str) -> dict[str, Function]:
    functions: dict[str, Function] = {}
    function: Function = {}
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "function":
            function = functions[words[0]] = {"capabilities": {}, "extended": {}}
        elif kind == "capability":
            function["capabilities"][int(words[0], 16)] = int(words[2], 16)
        elif kind == "extended":
            function["extended"][int(words[0], 16)] = (int(words[2], 16), int(words[4]))
        elif kind == "express":
            function["express"] = {
                "at": int(words[0], 16), "type": int(words[2]), "payload": int(words[4]),
                "read": int(words[6]), "ordering": words[8] == "1", "snoop": words[10] == "1"}
        elif kind == "link":
            function["express"]["max"] = (int(words[1]), int(words[2]))
            function["express"]["now"] = (int(words[4]), int(words[5]))
    return functions


def is_named(theirs: Function) -> Function:
    """What lspci has no name for in our tables is compared by place alone."""
    return {"capabilities": {at for at, name in theirs["capabilities"].items() if name is None},
            "extended": {at for at, (name, _) in theirs["extended"].items() if name is None}}


def compare(address: str, theirs: Function, ours: Function) -> None:
    unnamed = is_named(theirs)
    for at in unnamed["capabilities"]:
        ours["capabilities"][at] = None
    for at in unnamed["extended"]:
        ours["extended"][at] = (None, ours["extended"][at][1])
    assert ours == theirs, address


@pytest.fixture(name="compared", scope="module")
def compared_functions() -> dict[str, Function]:
    if not shutil.which("lspci"):
        pytest.skip("lspci is not installed (package pciutils)")
    if not DEVICES.is_dir() or not any(DEVICES.iterdir()):
        pytest.skip("this machine has no PCI devices")
    if os.geteuid() != 0:
        pytest.skip("only root sees the capabilities")
    theirs, ours = of_lspci(), of_walk(walk("/"))
    assert theirs.keys() == ours.keys()
    for address, function in theirs.items():
        compare(address, function, ours[address])
    return ours


def test_every_function_is_walked_as_by_lspci(compared: dict[str, Function]) -> None:
    assert compared
    seen = [f["express"]["type"] for f in compared.values() if "express" in f]
    print(f"compared {len(compared)} functions, port types {sorted(set(seen))}")
    if os.environ.get("RPMA_PCI_PORTS"):
        assert {0, 4, 5, 6} <= set(seen)
        assert sum(len(f["extended"]) for f in compared.values()) > 8


def test_a_recorded_tree_is_walked_alike(compared: dict[str, Function], tmp_path: Path) -> None:
    """In a guest the tree is left for the host, where it is walked again."""
    assert compared
    text = walk("/", str(tmp_path / "tree"))
    assert walk(str(tmp_path / "tree")) == text
    if os.environ.get("RPMA_VM_OUT"):
        shutil.copytree(tmp_path / "tree", Path(os.environ["RPMA_VM_OUT"]) / "pci-tree",
                        symlinks=True)
        (Path(os.environ["RPMA_VM_OUT"]) / "pci-walk").write_text(text, encoding="ascii")


def test_others_see_no_capability() -> None:
    if not DEVICES.is_dir() or not any(DEVICES.iterdir()):
        pytest.skip("this machine has no PCI devices")
    other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    text = subprocess.run([*(other if os.geteuid() == 0 else []), WALK, "/"], check=True,
                          text=True, stdout=subprocess.PIPE, timeout=60).stdout
    assert all(line.endswith(" bytes 64") for line in text.splitlines()
               if line.startswith("function "))
    assert "capability" not in text and "express" not in text
