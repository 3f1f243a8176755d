# SPDX-License-Identifier: BSD-3-Clause
"""What an operator is told, by processor: no switch is named that the processor does not have,
and the short form and the check have the same words.

Which switches exist is in the public documents: the IIO registers up to Cooper Lake (ddio.sh of
pmem/rpma), the firmware's menu on Ice Lake (pmem.io), TPH on AMD (58725) and elsewhere (PCI
Express 6.17), and which events count writes in tools/perf/pmu-events of Linux.
"""

from pathlib import Path
from typing import Any

import pytest
from checker import look, run
from config_space import ConfigSpace, connectx, ice_lake_port, other_port
from golden import DEVDAX, healthy, in_slot
from golden_ddio import GUEST
from golden_pmem import SPR, cxl_counted
from machine import LINK_LOCAL, LINK_LOCAL_V2, Dimm, Nic, Port, Region, card
from processors import PROCESSORS
from trees import build

TOP = Path(__file__).resolve().parents[3]
MENU, PROBE, NO_PROBE = "firmware's menu", "There is no switch to look for", "no probe can"

ROWS: list[tuple[str, ConfigSpace, str]] = [
    ("icx", ice_lake_port(), MENU),
    ("spr", other_port(0x8086, 0x352A), PROBE),
    ("emr", other_port(0x8086, 0x352A), PROBE),
    ("gnr", other_port(0x8086, 0x0DB0), PROBE),
    ("srf", other_port(0x8086, 0x0DB0), PROBE),
    ("client", other_port(0x8086, 0x1901), PROBE),
    ("rome", other_port(0x1022, 0x1483), NO_PROBE),
    ("milan", other_port(0x1022, 0x1483), NO_PROBE),
    ("epyc", other_port(0x1022, 0x14AB), PROBE),
    ("turin", other_port(0x1022, 0x153B), PROBE),
]


def on(cpu: str, port: ConfigSpace, tph: int | None = None, **changes: Any) -> Any:
    parts = {"no_turbo": None} if PROCESSORS[cpu].vendor != "GenuineIntel" else {}
    return in_slot(*card(port=port, nic=connectx(tph=tph)), cpu=cpu, **(parts | changes))


@pytest.mark.parametrize("cpu, port, words", ROWS, ids=[row[0] for row in ROWS])
def test_no_switch_is_named_that_is_not_there(tmp_path: Path, cpu: str, port: ConfigSpace, words: str) -> None:
    build(on(cpu, port), tmp_path / "tree")
    document = look(tmp_path / "tree", *DEVDAX)
    fix = next(check["fix"] for check in document["checks"] if check["id"] == "DDIO-04")
    steps = [step["text"] for step in document["advice"]["steps"]]
    assert words in fix and steps == [fix]
    assert ("menu" in fix) == (words == MENU)
    assert ("--probe" in fix) == (words != NO_PROBE)
    assert "GPSPM" in fix and "--assume-ddio off:WHY" in fix


@pytest.mark.parametrize("cpu, port, words", ROWS, ids=[row[0] for row in ROWS])
def test_tph_is_turned_off_first(tmp_path: Path, cpu: str, port: ConfigSpace, words: str) -> None:
    build(on(cpu, port, tph=1), tmp_path / "tree")
    document = look(tmp_path / "tree", *DEVDAX)
    steps = [step["text"] for step in document["advice"]["steps"]]
    assert len(steps) == 2 and steps[0].startswith("Turn TPH of the NIC off") and words in steps[1]
    assert document["advice"]["verdict"] == "APM_READY" and document["verdict"] == "UNDETERMINED"


def test_a_kernel_that_does_not_count_is_named(tmp_path: Path) -> None:
    """cxl/dirty_shutdown is there from Linux 6.15 on: Documentation/ABI/testing/sysfs-bus-nvdimm."""
    uncounted = Region(provider="CXL", dimms=[Dimm(flags=None, dirty_shutdown=None)])
    build(healthy(cpu="spr", nics=SPR, regions=[uncounted], cxl_pmem_bytes=256 << 30, cxl_gpf=(True, True)),
          tmp_path / "tree")
    check = next(check for check in look(tmp_path / "tree", *DEVDAX)["checks"] if check["id"] == "PM-08")
    assert check["status"] == "UNKNOWN" and "Linux 6.15" in check["fix"], check


# --- the hosts without a target --------------------------------------------------------

HOSTS: list[tuple[str, dict[str, Any], str, str]] = [
    ("nothing", {"regions": []}, "no persistent memory", "modprobe nfit"),
    ("memory-mode", {"regions": [], "lost_dimms": 4}, "memory mode", "ipmctl create -goal"),
    ("no-namespace", {"without": ["sys/bus/nd/devices/namespace0.0", "sys/bus/dax/devices/dax0.0"]}, "no namespace",
     "ndctl create-namespace -r region0"),
    ("cxl-capacity", {"regions": [], "cxl_pmem_bytes": 1 << 38, "without": ["**/commit"]}, "no region",
     "cxl create-region -t pmem -d decoder0.0 -m mem0, then"),
    ("cxl-no-window", {"regions": [], "cxl_pmem_bytes": 1 << 38, "without": ["**/commit", "**/cap_pmem"]}, "no region",
     "-d DECODER -m MEM (cxl list -MD shows both)"),
    ("namespace", {}, "No target was given", "--target"),
]


@pytest.mark.parametrize("name, changes, meaning, fix", HOSTS, ids=[row[0] for row in HOSTS])
def test_each_host_without_a_target_has_words_of_its_own(tmp_path: Path, name: str, changes: dict[str, Any],
                                                         meaning: str, fix: str) -> None:
    build(healthy(targets={}, **changes), tmp_path / "tree")
    check = next(check for check in look(tmp_path / "tree")["checks"] if check["id"] == "PM-01")
    assert meaning in check["meaning"] and fix in check["fix"], check


# --- limits of containers --------------------------------------------------------------

POD = {"proc/self/cgroup": "0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-1.scope"}
DOCKER = {".dockerenv": ""}
LOCKED: dict[str, Any] = {"memlock": "65536", "cap_ipc_lock": False}
CONTAINERS: list[tuple[str, dict[str, str], str, str]] = [
    ("host", {}, "setcap cap_ipc_lock+ep", "runAsUser"),
    ("docker", DOCKER, "--ulimit memlock=-1", "LimitMEMLOCK"),
    ("pod", POD, "LimitMEMLOCK= of containerd or CRI-O", "ulimit -l"),
]


@pytest.mark.parametrize("name, files, words, others", CONTAINERS, ids=[row[0] for row in CONTAINERS])
def test_a_remedy_works_where_it_is_given(tmp_path: Path, name: str, files: dict[str, str], words: str,
                                          others: str) -> None:
    nics = [Nic(chain=card(), verbs={"max_qp_wr": 64, "max_cqe": 128, "max_qp_rd_atom": 1, "odp_general": 0,
                                     "odp_rc": 0})]
    build(healthy(nics=nics, files=files, **LOCKED), tmp_path / "tree")
    check = next(check for check in look(tmp_path / "tree", *DEVDAX)["checks"] if check["id"] == "LIM-01")
    assert check["status"] == "FAIL" and words in check["fix"] and others not in check["fix"], check
    # Kubernetes' security context: added capabilities are effective for uid 0 alone
    assert (name == "host") != ("root alone" in check["fix"])


@pytest.mark.parametrize("files, words", [({}, "ip addr add"), (DOCKER, "network namespace"), (POD, "network namespace")])
def test_an_address_is_given_where_it_can_be(tmp_path: Path, files: dict[str, str], words: str) -> None:
    """Linux shows a network namespace the GIDs of its own interfaces: rdma-system(8), netns exclusive."""
    build(healthy(nics=[Nic(chain=card(), ports=[Port(gids=[LINK_LOCAL, LINK_LOCAL_V2])])], files=files),
          tmp_path / "tree")
    check = next(check for check in look(tmp_path / "tree", *DEVDAX)["checks"] if check["id"] == "DEV-03")
    assert check["status"] == "WARN" and words in check["fix"], check


# --- four engineers --------------------------------------------------------------------

ENGINEERS: dict[str, tuple[Any, list[str]]] = {
    "Ice Lake with Optane": (on("icx", ice_lake_port()), DEVDAX),
    "Sapphire Rapids with CXL": (healthy(cpu="spr", nics=SPR, regions=[cxl_counted()], cxl_pmem_bytes=256 << 30,
                                         cxl_gpf=(True, True)), DEVDAX),
    "Genoa with NVDIMM-N": (on("epyc", other_port(0x1022, 0x14AB), tph=1), DEVDAX),
    "a guest": (in_slot(*card(port=other_port(0x8086, 0x3420)), **GUEST), DEVDAX),
}


def shown_in_the_manual(name: str) -> str:
    page = (TOP / "doc/rpma-ddio-check.1").read_text(encoding="utf-8")
    example = page.partition(f".\\\" {name}\n.Bd -literal\n")[2].partition(".Ed")[0]
    return example.replace("\\(aq", "'").replace("\\-", "-")


@pytest.mark.parametrize("name", list(ENGINEERS))
def test_the_manual_shows_what_is_told(tmp_path: Path, name: str) -> None:
    host, options = ENGINEERS[name]
    build(host, tmp_path / "tree")
    done = run("--sysroot", str(tmp_path / "tree"), *options, "--short")
    assert done.returncode == 3
    assert shown_in_the_manual(name) == done.stdout
