# SPDX-License-Identifier: BSD-3-Clause
"""The ABI of librpma.so.0, looked at by libabigail and dpkg-gensymbols.

Against Debian's librpma.so.0, whose debug information is not at hand, abidiff compares the symbols.
Against tests/data/librpma-1.4.abi it compares what programs of 1.4 were built with: symbols,
parameters, and the layouts and values of librpma.h. Types of other headers are cut from the dump, as
they are rdma-core's to keep. UPDATE=1 writes it again, for a change that users are told about.

Run by ctest with RPMA_LIBRARY, RPMA_INCLUDE and RPMA_SYMBOLS in the environment.
"""

import os
import shutil
import subprocess
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LIBRARY = Path(os.environ["RPMA_LIBRARY"])
INCLUDE = Path(os.environ["RPMA_INCLUDE"])
SYMBOLS = Path(os.environ["RPMA_SYMBOLS"])
STORED = HERE.parents[1] / "data/librpma-1.4.abi"
# abidiff(1), RETURN VALUES: bits of its exit status
ERROR, USAGE, CHANGE, INCOMPATIBLE = 1, 2, 4, 8

if shutil.which("abidiff") is None:
    pytest.skip("no abidiff here", allow_module_level=True)


def abidiff(old: Path, new: Path) -> tuple[int, str]:
    done = subprocess.run(["abidiff", old, new], stdout=subprocess.PIPE, text=True)
    assert not done.returncode & (ERROR | USAGE)
    return done.returncode, done.stdout


# --- the dump -------------------------------------------------------------------------------------

KINDS = {"class-decl", "union-decl", "enum-decl"}


def is_ours(element: xml.Element) -> bool:
    return element.get("name", "").startswith("rpma_")


def without_types_of_others(corpus: xml.Element) -> None:
    """Their names stay, as of types that are declared and not defined."""
    for element in corpus.iter():
        if element.tag in KINDS and not is_ours(element):
            for child in list(element):
                element.remove(child)
            kept = {"name": element.get("name", ""), "id": element.get("id", "")}
            if element.tag == "class-decl":
                kept["is-struct"] = "yes"
            element.tag = "class-decl"
            element.attrib.clear()
            element.attrib.update(kept | {"visibility": "default", "is-declaration-only": "yes"})


def referred_to(element: xml.Element) -> set[str]:
    inner = {part.get("type-id") for part in element.iter()}
    return {type_id for type_id in inner if type_id}


def without_what_no_function_needs(corpus: xml.Element) -> None:
    """Keeps the functions that are exported, and the types that they lead to."""
    parts = [part for instr in corpus.iter("abi-instr") for part in instr]
    wanted: set[str] = set()
    for part in parts:
        if part.get("elf-symbol-id"):
            wanted |= referred_to(part)
    size = -1
    while size != len(wanted):
        size = len(wanted)
        for part in parts:
            if part.get("id") in wanted:
                wanted |= referred_to(part)
    for instr in list(corpus.iter("abi-instr")):
        for part in list(instr):
            if not part.get("elf-symbol-id") and part.get("id") not in wanted:
                instr.remove(part)
        if len(instr) == 0:
            corpus.remove(instr)


def dump(library: Path, folder: Path) -> Path:
    whole, cut = folder / "whole.abi", folder / "librpma.abi"
    subprocess.run(["abidw", "--headers-dir", INCLUDE, "--drop-private-types", "--no-corpus-path",
                    "--no-comp-dir-path", "--no-show-locs", "--type-id-style", "hash",
                    "--out-file", whole, library], check=True)  # fmt: skip
    tree = xml.parse(whole)
    without_types_of_others(tree.getroot())
    without_what_no_function_needs(tree.getroot())
    tree.write(cut, encoding="unicode")
    return cut


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = dump(LIBRARY, tmp_path_factory.mktemp("abi"))
    if os.environ.get("UPDATE"):
        STORED.write_text(made.read_text() + "\n")
    return made


def test_is_that_of_1_4_or_adds_to_it(ours: Path) -> None:
    status, report = abidiff(STORED, ours)
    assert not status & INCOMPATIBLE, report
    assert not status & CHANGE or " 0 Changed" in report.splitlines()[0], report


def test_the_dump_has_all_calls() -> None:
    corpus = xml.parse(STORED).getroot()
    symbols = [f"{s.get('name')}@{s.get('version')}" for s in corpus.iter("elf-symbol")]
    assert len(symbols) == 84 + 32
    described = {call.get("elf-symbol-id", "").replace("@@", "@") for call in corpus.iter("function-decl")}
    assert {symbol for symbol in symbols if symbol.endswith("@LIBRPMA_1.4")} <= described


# Changes of 1.4: each as an edit of the dump, and abidiff's answer.
CHANGES = {
    "a field moves": ('layout-offset-in-bits="320"', 'layout-offset-in-bits="384"'),
    "a value changes": ('name="RPMA_CONN_OPT_FLUSH_METHOD" value="16"',
                        'name="RPMA_CONN_OPT_FLUSH_METHOD" value="17"'),
    "a call is renamed": ("rpma_submit", "rpma_submitted"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_notices_that(change: str, ours: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.abi"
    before, after = CHANGES[change]
    text = ours.read_text()
    assert before in text
    changed.write_text(text.replace(before, after))
    status, report = abidiff(ours, changed)
    assert status & INCOMPATIBLE or " 0 Changed" not in report.splitlines()[0], report


# --- Debian's --------------------------------------------------------------------------------------


@pytest.fixture(scope="session", params=["bookworm", "trixie"])
def reference(request: pytest.FixtureRequest) -> Path:
    fetched = subprocess.run([HERE.parents[1] / "fetch-reference", request.param], stdout=subprocess.PIPE, text=True)
    if fetched.returncode != 0:
        pytest.skip("no reference: Debian's librpma could not be fetched")
    return next(Path(fetched.stdout.strip()).glob("usr/lib/*/librpma.so.0"))


def test_adds_to_the_reference_and_takes_nothing(reference: Path) -> None:
    status, report = abidiff(reference, LIBRARY)
    assert status == CHANGE, report
    assert report.startswith("Functions changes summary: 0 Removed, 0 Changed, 30 Added functions"), report


# --- what packages of programs depend on -------------------------------------------------------------


def test_the_symbols_file_is_complete(tmp_path: Path) -> None:
    """-c4: any difference is an error."""
    if shutil.which("dpkg-gensymbols") is None:
        pytest.skip("no dpkg-gensymbols here")
    command = ["dpkg-gensymbols", "-plibrpma0", "-v1.4.0", f"-e{LIBRARY}", f"-I{SYMBOLS}", f"-O{tmp_path}/new", "-c4"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
