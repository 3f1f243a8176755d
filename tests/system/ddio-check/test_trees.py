# SPDX-License-Identifier: BSD-3-Clause
"""What rpma-ddio-check reports of invented machines, compared with what it has to
report, status by status; and that it looks at nothing else."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from checker import NOBODY, TOOL, Document, look, said, statuses
from golden import HEALTHY, ROWS, Ddio, Golden, healthy
from golden_adapter import TREES as ADAPTER_TREES
from golden_ddio import TREES as DDIO_TREES
from golden_device import TREES as DEVICE_TREES
from golden_pmem import TREES as PMEM_TREES
from golden_table import DMI
from golden_table import TREES as TABLE_TREES
from processors import PROCESSORS
from trees import Host, Nic, Region, build, card

TOP = Path(__file__).resolve().parents[3]
TREES = [*ADAPTER_TREES, *DDIO_TREES, *PMEM_TREES, *DEVICE_TREES, *TABLE_TREES]
ALL = pytest.mark.parametrize("golden", TREES, ids=[tree.name for tree in TREES])


@pytest.fixture(scope="session")
def trees() -> Iterator[Path]:
    """All trees, where every user may read them."""
    with tempfile.TemporaryDirectory() as directory:
        top = Path(directory)
        top.chmod(0o755)
        for golden in TREES:
            build(golden.host, top / golden.name)
        yield top


@pytest.fixture(scope="session")
def documents(trees: Path) -> dict[str, Document]:
    """Looks at each tree, and dumps it in passing."""
    return {golden.name: look(trees / golden.name, *golden.options, "--dump-facts",
                              str(trees / f"{golden.name}.dump")) for golden in TREES}


def ddio_block(document: Document) -> Ddio:
    block = document["ddio"]
    values = block["registers"]
    pair = values and (int(values["perfctrlsts_0"], 16), int(values["perfctrlsts_1"], 16))
    return Ddio(block["state"], block["evidence"], block["root_port"], pair,
                block["low_confidence"])


def differences(golden: Golden, document: Document) -> list[str]:
    found = statuses(document)
    lines = [f"{number}: {found.get(number)}, expected {expected}; {said(document, number)}"
             for number, expected in golden.statuses.items() if found.get(number) != expected]
    lines += [f"{number}: not expected at all" for number in found if number not in HEALTHY]
    verdict, exit_code, direct_write = ROWS[golden.row]
    judgement = document["judgement"]
    for what, got, expected in (
            ("row", judgement["row"], golden.row), ("verdict", document["verdict"], verdict),
            ("exit code", judgement["exit_code"], exit_code),
            ("assumed", judgement["assumed"], golden.assumed),
            ("lenient", judgement["lenient"], "--lenient" in golden.options),
            ("direct write", document["direct_write_to_pmem"]["value"], direct_write)):
        if got != expected:
            lines.append(f"{what}: {got}, expected {expected}")
    if golden.ddio is not None and ddio_block(document) != golden.ddio:
        lines.append(f"ddio: {document['ddio']}, expected {golden.ddio}")
    return lines


@ALL
def test_a_tree_gives_what_its_machine_deserves(documents: dict[str, Document],
                                                golden: Golden) -> None:
    lines = differences(golden, documents[golden.name])
    assert not lines, "\n".join([golden.why, *lines])


@ALL
def test_a_dump_of_a_tree_gives_the_same(trees: Path, documents: dict[str, Document],
                                         golden: Golden) -> None:
    first, again = documents[golden.name], look(trees / f"{golden.name}.dump", *golden.options)
    for part in ("verdict", "judgement", "ddio", "direct_write_to_pmem", "device", "target"):
        assert again[part] == first[part]
    assert statuses(again) == statuses(first)


def test_every_row_of_the_verdict_is_seen() -> None:
    assert {golden.row for golden in TREES} == set(ROWS)


# --- the tables that decide what depends on a make or a model -----------------------------


def table(file: str, name: str) -> str:
    """The rows of a table of the source, without comments."""
    text = re.sub(r"/\*.*?\*/", "", (TOP / file).read_text(encoding="utf-8"), flags=re.DOTALL)
    return text.partition(f" {name}[] = {{")[2].partition("\n};")[0].partition("\n\t};")[0]


def names_of(host: Host) -> str:
    """As guest.c joins them."""
    fields = {f"{DMI}/sys_vendor": host.sys_vendor, f"{DMI}/product_name": host.product} | host.files
    order = ("sys_vendor", "product_name", "board_vendor", "bios_vendor", "chassis_asset_tag")
    return "; ".join(text for field in order if (text := fields.get(f"{DMI}/{field}"))).lower()


def functions_of(host: Host) -> set[tuple[int, int]]:
    chains = [function.config for nic in host.nics for function in nic.chain]
    return {*host.other_functions, *((config.vendor, config.device) for config in chains)}


@pytest.mark.parametrize("name", ["hypervisors", "clouds"])
def test_each_name_of_a_machine_has_a_tree(name: str) -> None:
    rows = re.findall(r'"([^"]+)"', table("readiness/guest.c", name))
    every = [names_of(golden.host) for golden in TREES]
    assert len(rows) > 20
    assert [row for row in rows if not any(row.lower() in names for names in every)] == []


def test_each_sign_of_a_hypervisor_has_a_tree() -> None:
    functions = re.findall(r"\{0x(\w+), (?:-1|0x(\w+)), ", table("readiness/guest.c", "functions"))
    seen = set().union(*(functions_of(golden.host) for golden in TREES))
    assert len(functions) > 8
    for vendor, device in functions:
        assert any(v == int(vendor, 16) and (not device or d == int(device, 16)) for v, d in seen), (vendor, device)
    places = re.findall(r'"([^"]+)"', table("readiness/guest.c", "interfaces"))
    files = [file for golden in TREES for file in golden.host.files]
    assert len(places) > 5
    assert [place for place in places if not any(file.startswith(place) for file in files)] == []


def test_each_port_of_a_maker_of_processors_has_a_tree() -> None:
    rows = {int(row, 16) for row in re.findall(r"0x(\w+),", table("readiness/guest.c", "arm_ports"))}
    iron = [golden.host for golden in TREES if golden.host.cpu == "neoverse" and golden.statuses["PM-07"] == "PASS"]
    assert len(rows) > 7
    assert rows == {nic.chain[0].config.vendor for host in iron for nic in host.nics}


def test_each_driver_of_an_adapter_has_a_tree() -> None:
    rows = re.findall(r'(?:DMA\(|DEVICE_HARDWARE, )"(\w+)"', table("common/rdma/adapter.c", "rows"))
    assert len(rows) > 15
    assert set(rows) <= {nic.driver for golden in TREES for nic in golden.host.nics}


def test_each_processor_has_a_tree() -> None:
    """By the first row that fits, as platforms.c has it."""
    text = table("readiness/platforms.c", "rows")
    found = re.findall(r'INTEL\((\w+), (\w+),|AMD\(([-\w]+), ([-\w]+), ([-\w]+),|\{("\w+"|NULL), -1,', text)
    rows = [("GenuineIntel", 6, int(low, 16), int(high, 16)) if low else
            ("AuthenticAMD", int(family, 0), int(first, 0), int(last, 0)) if family else
            (other.strip('"').upper() if other == '"Arm"' else other.strip('"'), -1, -1, -1)
            for low, high, family, first, last, other in found]  # fmt: skip

    def fits(row: tuple[str, int, int, int], cpu: str) -> bool:
        vendor, family, first, last = row
        of = PROCESSORS[cpu]
        return vendor in (of.vendor, "NULL") and family in (of.family, -1) and (first < 0 or first <= of.model <= last)

    assert len(rows) > 18
    seen = {next(i for i, row in enumerate(rows) if fits(row, golden.host.cpu)) for golden in TREES}
    assert [rows[i] for i in range(len(rows)) if i not in seen] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
@pytest.mark.parametrize("name", ["clx-ddio-off", "fsdax", "rxe", "no-device"])
def test_nobody_gets_the_same(trees: Path, name: str) -> None:
    golden = next(tree for tree in TREES if tree.name == name)
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        copy = shutil.copy(TOOL, directory)
        document = look(trees / name, *golden.options, before=NOBODY, tool=copy)
    assert not differences(golden, document)


def outside(trace: str, top: Path) -> list[str]:
    """Files that were opened elsewhere, the program's own parts left out."""
    own = re.compile(r"^(/usr)?/(lib|lib64|local/lib)/|^/etc/ld\.so|^/usr/share/(locale|zoneinfo)|"
                     r"^/etc/localtime|^/usr/lib/locale|^/dev/(null|urandom)$")
    opened = re.findall(r"(?:open|openat|openat2)\(.* = \d+<([^>]*)>", trace)
    tool = str(Path(TOOL).resolve().parents[2])
    return sorted({path for path in opened
                   if not path.startswith((f"{top}/", tool)) and path != str(top)
                   and not own.match(path)})


@pytest.mark.skipif("RPMA_SANITIZED" in os.environ, reason="a sanitizer opens files of its own")
@pytest.mark.parametrize("name", ["clx-ddio-off", "fsdax", "bond", "non-root"])
def test_nothing_else_is_opened(trees: Path, tmp_path: Path, name: str) -> None:
    golden = next(tree for tree in TREES if tree.name == name)
    trace = tmp_path / "trace"
    strace = ["strace", "-f", "-y", "-e", "trace=open,openat,openat2", "-o", str(trace)]
    look(trees / name, *golden.options, before=strace)
    assert outside(trace.read_text(encoding="utf-8"), trees / name) == []


def many() -> Host:
    """Eight NICs, and 32 root ports."""
    nics = [Nic(f"mlx5_{n}", card(f"0000:{n * 16 + 1:02x}:00.0", root=f"0000:{n * 16:02x}:00.0"),
                netdev=f"ens{n}f0np0") for n in range(32)]
    return healthy(nics=nics, regions=[Region(n) for n in range(16)])


def test_a_large_machine_takes_no_time(tmp_path: Path) -> None:
    build(many(), tmp_path / "many")
    before = os.times()
    document = look(tmp_path / "many", "--target", "/dev/dax0.0")
    after = os.times()
    assert document["verdict"] == "APM_READY"
    used = after.children_user - before.children_user + after.children_system \
        - before.children_system
    assert used < 10, used  # it takes a tenth of a second
