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
from trees import Host, Nic, Region, build, card

TOP = Path(__file__).resolve().parents[3]
TREES = [*ADAPTER_TREES, *DDIO_TREES, *PMEM_TREES, *DEVICE_TREES]
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


@ALL
def test_unknown_is_never_ready(documents: dict[str, Document], golden: Golden) -> None:
    """Whatever is expected: direct write needs a domain and DDIO off, or eADR."""
    document = documents[golden.name]
    found = statuses(document)
    if not document["direct_write_to_pmem"]["value"]:
        return
    assert "FAIL" not in found.values()
    assert document["run"]["exit_code"] == 0 and found["PM-06"] == "PASS"
    state = document["ddio"]["state"]
    assert (document["verdict"] == "APM_READY_EADR" or state == "OFF" or
            (state == "OFF_WARN" and "--lenient" in golden.options))


def test_every_row_of_the_verdict_is_seen() -> None:
    assert {golden.row for golden in TREES} == set(ROWS)


# --- the tables that decide what depends on a make or a model -----------------------------


def table(file: str, name: str) -> str:
    """The rows of a table of the source, without comments."""
    text = re.sub(r"/\*.*?\*/", "", (TOP / file).read_text(encoding="utf-8"), flags=re.DOTALL)
    return text.partition(f" {name}[] = {{")[2].partition("\n};")[0].partition("\n\t};")[0]


READINESS = "tests/unit/readiness"
# A table by its file and name, what is its own in each row, how many there are at least, and where their cases are.
TABLES = [
    ("readiness/guest.c", "hypervisors", r'"([^"]+)"', 20, f"{READINESS}/test_guest.c"),
    ("readiness/guest.c", "clouds", r'"([^"]+)"', 20, f"{READINESS}/test_guest.c"),
    ("readiness/guest.c", "arm_ports", r"(0x\w+),", 8, f"{READINESS}/test_guest.c"),
    ("readiness/guest.c", "functions", r"\{(0x\w+),", 9, f"{READINESS}/test_gather_platform.c"),
    ("readiness/guest.c", "interfaces", r'"([^"]+)"', 6, f"{READINESS}/test_gather_platform.c"),
    ("readiness/platforms.c", "rows", r'(?:INTEL|AMD)\([^"]+"([^"]+)"', 15, f"{READINESS}/test_checks_ddio.c"),
    ("common/rdma/adapter.c", "rows", r'(?:DMA\(|DEVICE_HARDWARE, )"(\w+)"', 16, "tests/unit/common/test_adapter.c"),
]


@pytest.mark.parametrize(("file", "name", "own", "least", "cases"), TABLES, ids=[f"{t[0]}-{t[1]}" for t in TABLES])
def test_each_row_of_a_table_has_a_case(file: str, name: str, own: str, least: int, cases: str) -> None:
    rows = re.findall(own, table(file, name))
    text = (TOP / cases).read_text(encoding="utf-8").lower()
    assert len(rows) >= least and [row for row in rows if row.lower() not in text] == []


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
