# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages: complete, well formed, and no poorer than Debian's of librpma 1.2.0.

ctest passes what to look at in the environment: RPMA_SOURCE_DIR, RPMA_MAN_DIR, and
RPMA_MANUAL_LIBRARIES, the libraries that have pages in section 3.
"""

import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(os.environ["RPMA_SOURCE_DIR"])
MAN = Path(os.environ["RPMA_MAN_DIR"])
GENERATOR = SOURCE / "doc" / "header2man.py"
LIBRARIES = os.environ["RPMA_MANUAL_LIBRARIES"].split(",")
PAGES = sorted((SOURCE / "doc").glob("*.[1-8]"))  # those in mdoc(7), which are installed as they are

LINE, INDENT, GAP = 78, 5, 4  # as man(1) has them on 80 columns

# Errors that Debian's pages list and ours leave out on purpose.
DIFFERENCES = {
    ("rpma_log_set_function", "RPMA_E_AGAIN"): "the function is an atomic pointer: storing it cannot fail",
    ("rpma_log_set_threshold", "RPMA_E_AGAIN"): "a threshold is an atomic integer: storing it cannot fail",
    ("rpma_utils_get_ibv_context", "RPMA_E_NOMEM"): "nothing is allocated but by librdmacm: RPMA_E_PROVIDER",
}


def exported(*libraries: str) -> set[str]:
    maps = [SOURCE / library / f"{library}.map" for library in libraries or LIBRARIES]
    texts = [path.read_text(encoding="utf-8") for path in maps]
    return {name for text in texts for name in re.findall(r"^\s+(rpm(?:a|em)_\w+);", text, re.MULTILINE)}


def overview(library: str) -> str:
    in_mdoc = SOURCE / "doc" / f"{library}.7"
    path = in_mdoc if in_mdoc in PAGES else MAN / "man7" / f"{library}.7"
    return path.read_text(encoding="utf-8")


def sections(page: str) -> dict[str, str]:
    parts = re.split(r"^\.SH (.*)\n", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def our_page(name: str) -> str:
    return (MAN / "man3" / f"{name}.3").read_text(encoding="utf-8")


def error_codes(page: str) -> set[str]:
    return set(re.findall(r"RPMA_E_\w+", sections(page).get("ERRORS", "")))


@pytest.fixture(scope="module")
def debian_pages() -> dict[str, str]:
    fetch = subprocess.run([SOURCE / "tests" / "fetch-reference", "bookworm"], capture_output=True, text=True)
    if fetch.returncode != 0:
        pytest.skip(f"Debian's librpma 1.2.0 cannot be fetched: {fetch.stderr.strip()}")
    pages = Path(fetch.stdout.strip()).rglob("man3/rpma_*.3.gz")
    return {page.name.removesuffix(".3.gz"): gzip.open(page, "rt").read() for page in pages}


def test_every_exported_symbol_has_a_page_and_nothing_else_has() -> None:
    assert {page.stem for page in (MAN / "man3").iterdir()} == exported()


@pytest.mark.parametrize("name", sorted(exported()))
def test_page_says_what_returns_who_may_call_and_since_when(name: str) -> None:
    found = sections(our_page(name))
    for title in ("SYNOPSIS", "RETURN VALUE", "THREAD SAFETY", "SINCE", "SEE ALSO"):
        assert found[title].strip(), title
    assert ("PARAMETERS" in found) != ("(void)" in found["SYNOPSIS"])


@pytest.mark.parametrize("library", LIBRARIES)
def test_overview_names_every_call(library: str) -> None:
    text = overview(library)
    named = {name for name in exported(library) if re.search(rf"\\fB{name}\\fP\(3\)|\b{name} 3\b", text)}
    assert named == exported(library)


def test_nothing_is_left_to_be_written() -> None:
    unfinished = [page.name for page in MAN.rglob("*.[37]") if re.search(r"XXX|TODO|@\w+@", page.read_text())]
    assert unfinished == []


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
def test_mandoc_has_nothing_to_say() -> None:
    pages = sorted(map(str, [*MAN.rglob("*.[37]"), *PAGES]))
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages], capture_output=True, text=True)
    assert (lint.stdout, lint.returncode) == ("", 0)


def cells(row: str) -> list[str]:
    """The words of a row of .Bl -column, as they are printed."""
    printed = re.sub(r"^\.It ", "", row.replace("\\&", "").replace("\\(en", "-"))
    printed = re.sub(r"\b(?:Fl |Cm |Em |Sy |Li )+(\w )?(?:, )?", lambda m: f"-{m[1]}, " if m[1] else "", printed)
    return [cell.strip() for cell in re.split(r"\bTa\b", printed)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_columns_hold_their_words(page: Path) -> None:
    """groff breaks every row of a list that is wider than the line, and a row with a wider word."""
    for head, rows in re.findall(r"^\.Bl -column (.*)\n((?:\.It .*\n)+)", page.read_text(encoding="utf-8"), re.MULTILINE):
        widths = [len(word) for word in shlex.split(head)]
        assert INDENT + sum(widths) + GAP * (len(widths) - 1) <= LINE, head
        for row in rows.splitlines():
            assert all(len(cell) <= width for cell, width in zip(cells(row), widths)), row


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_terminal_of_80_columns_holds_text_and_tables(page: Path) -> None:
    text = re.sub(r"^\.Bd -literal.*?^\.Ed$", ".Pp", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    shown = subprocess.run(["mandoc", "-T", "utf8", "-O", f"width={LINE}"], input=text, capture_output=True, text=True, check=True)
    lines = re.sub(".\b", "", shown.stdout).splitlines()
    assert [line for line in lines if len(line) > LINE + 1] == []  # a rule of a table has one more


@pytest.mark.parametrize("page", ["man7/librpma.7", *(f"man3/{name}.3" for name in sorted(exported()))])
def test_references_lead_to_pages_that_are_there(page: str) -> None:
    named = re.findall(r"\\fB(rpm(?:a|em)_\w+)\\fP\(3\)", (MAN / page).read_text(encoding="utf-8"))
    assert set(named) <= exported()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_references_of_a_page_are_links_to_pages_that_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    ours = {f"{path.stem} {path.suffix[1:]}" for path in [*PAGES, *MAN.rglob("*.[37]")]}
    named = re.findall(r"\.?\bXr ((?:fio-)?(?:lib)?rpm(?:a|em)\S*|poolset) (\d)", text)
    if "librpmem" not in LIBRARIES:  # other tools' pages name those of a build with it
        named = [(name, section) for name, section in named if "rpmem" not in name and name != "poolset"]
    assert {f"{name} {section}" for name, section in named} <= ours
    assert re.findall(r"^\.Em \S+ Ns Pq \d", text, re.MULTILINE) == []
    assert "\n.Sh SEE ALSO\n" in text
    assert page.suffix == ".7" or "\n.Sh EXAMPLES\n" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sections_that_a_page_refers_to_are_in_it_or_in_the_page_named(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for title, where in re.findall(r"^\.Sx ([^.,;\n]+?) ?[.,;]?\n(?:in\n\.Xr (\S+ \d))?", text, re.MULTILINE):
        there = text if not where else (SOURCE / "doc" / where.replace(" ", ".")).read_text(encoding="utf-8")
        assert re.search(rf"^\.S[hs] {re.escape(title)}$", there, re.MULTILINE), title


def test_index_has_that_of_1_2_0(debian_pages: dict[str, str]) -> None:
    assert exported("librpma") > set(debian_pages)


def test_every_error_of_1_2_0_is_documented_or_left_out_for_a_reason(debian_pages: dict[str, str]) -> None:
    listed = {(name, code) for name, page in debian_pages.items() for code in error_codes(page)}
    ours = {(name, code) for name in exported("librpma") for code in error_codes(our_page(name))}
    assert len(listed) > 84
    assert listed - ours == set(DIFFERENCES)


@pytest.mark.parametrize(
    ("header", "complaint"),
    [
        ("/** rpma_f - x */\nint rpma_f(int a);\n", "documents [], declares ['a']"),
        ("/**\n * rpma_f - x\n * @a: y\n * Return: 0\n * Threads: safe.\n */\nint rpma_f(int a);\n", "no 'Since:'"),
        ("/**\n * rpma_f\n */\nint rpma_f(int a);\n", "not 'name - purpose'"),
    ],
)
def test_generator_refuses_an_incomplete_comment(tmp_path: Path, header: str, complaint: str) -> None:
    (tmp_path / "x.h").write_text(header)
    command = [sys.executable, str(GENERATOR), "x.h", "man3", "--version", "1", "--date", "2026-01-01"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 2 and complaint in run.stderr
    assert not (tmp_path / "man3").exists()


def test_the_manual_of_the_device_has_the_entry_of_each_fault() -> None:
    merge = subprocess.run([SOURCE / "doc" / "faults2man.py", "--check"], capture_output=True, text=True)
    assert merge.returncode == 0, merge.stderr
