# SPDX-License-Identifier: BSD-3-Clause
"""The table for people agrees with the document, and fits where it is read."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path
from typing import Any

import pytest
from checker import TOOL, Document, look, run
from golden import healthy
from trees import Nic, build, card

DEVDAX = ["--target", "/dev/dax0.0"]
HEAD = re.compile(r"^(PASS|WARN|FAIL|UNKNOWN|SKIP|INFO|ASSUMED) +([A-Z]+-\d\d)  ", re.MULTILINE)
HOSTS: dict[str, dict[str, Any]] = {
    "healthy": {},
    "not-root": {"root": False},
    "no-nic": {"nics": []},
    "no-pmem": {"regions": [], "targets": {}},
}


@pytest.fixture(scope="module", params=list(HOSTS))
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp(request.param) / "tree"
    build(healthy(**HOSTS[request.param]), top)
    return top


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("good") / "tree"
    build(healthy(), top)
    return top


def words(text: str | None) -> list[str]:
    return (text or "").split()


def parts(text: str) -> dict[str, str]:
    """The paragraph of each check, by id."""
    found = list(HEAD.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    return {match[2]: text[match.start():end] for match, end in zip(found, ends)}


def has_in_order(text: str, expected: list[str]) -> bool:
    """Wrapping puts words on other lines, and breaks long ones."""
    return "".join(expected) in "".join(text.split())


def test_the_table_has_every_check_with_its_words(tree: Path) -> None:
    document = look(tree, *DEVDAX)
    text = run("--sysroot", str(tree), *DEVDAX, "--verbose").stdout
    table = parts(text)
    assert list(table) == [check["id"] for check in document["checks"]]
    for check in document["checks"]:
        paragraph = table[check["id"]]
        assert paragraph.startswith(f"{check['status']:8} {check['id']}")
        for key in ("title", "value"):
            assert has_in_order(paragraph, words(check[key])), (check["id"], key)
        for key in ("meaning", "fix", "source"):
            # what several that are skipped have in common is said once
            assert has_in_order(text, words(check[key])), (check["id"], key)


def test_the_table_ends_with_the_verdict(tree: Path) -> None:
    document = look(tree, *DEVDAX)
    done = run("--sysroot", str(tree), *DEVDAX)
    end = done.stdout.rpartition("\n\n")[2]
    judgement, direct = document["judgement"], document["direct_write_to_pmem"]
    assert end.startswith(f"{document['verdict']} ({judgement['row']}, exit status {done.returncode})\n")
    value = str(direct["value"]).lower()
    assert f"\nrpma_peer_cfg_set_direct_write_to_pmem(pcfg, {value})\n" in end
    assert has_in_order(end, [*words(judgement["reason"]), *words(judgement["because"])])
    assert has_in_order(end, words(direct["why"]))


def test_a_file_gets_80_columns_of_plain_text(tree: Path) -> None:
    text = run("--sysroot", str(tree), *DEVDAX, "-v").stdout
    assert max(len(line) for line in text.splitlines()) <= 80
    assert not re.search(r"[^\n -~]", text)


def test_the_source_of_what_is_good_is_for_those_who_ask(good: Path) -> None:
    assert "seen in" not in run("--sysroot", str(good), *DEVDAX).stdout
    assert "seen in" in run("--sysroot", str(good), *DEVDAX, "-v").stdout


def on_terminal(columns: int, *arguments: str, **variables: str) -> str:
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = subprocess.Popen([TOOL, *arguments], stdout=follower, env={**env, **variables})
    os.close(follower)
    text = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # EIO: the other side is closed
            piece = b""
        if not piece:
            break
        text += piece
    os.close(leader)
    process.wait(60)
    return text.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns, most", [(60, 60), (80, 80), (200, 100), (10, 50)])
def test_a_terminal_gets_lines_of_its_width(good: Path, columns: int, most: int) -> None:
    text = on_terminal(columns, "--sysroot", str(good), "-v", TERM="xterm")
    plain = re.sub(r"\033\[[0-9;]*m", "", text)
    longest = max(len(line) for line in plain.splitlines() if "rpma_peer_cfg" not in line)
    assert most - 12 < longest <= most
    assert "\033[32mPASS" in text and "\033" not in plain


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}])
def test_colours_can_be_refused(good: Path, variables: dict[str, str]) -> None:
    assert "\033" not in on_terminal(80, "--sysroot", str(good), **variables)


def test_json_is_all_there_is_on_standard_output(tree: Path) -> None:
    done = run("--sysroot", str(tree), *DEVDAX, "--json", "--verbose")
    assert done.stdout.startswith("{") and done.stdout.endswith("}\n") and not done.stderr


def run_of(document: Document) -> dict[str, Any]:
    part: dict[str, Any] = document["run"]
    return part


def test_the_document_says_how_it_was_made(good: Path) -> None:
    part = run_of(look(good, *DEVDAX))
    assert part["argv"] == ["rpma-ddio-check", "--sysroot", str(good), *DEVDAX, "--json"]
    assert (part["sysroot"], part["refused"], part["exit_code"]) == (str(good), None, 0)


def test_what_was_not_taken_is_told(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    build(healthy(), tree)
    outside = tree / "proc/sys/kernel/numa_balancing"
    outside.unlink()
    outside.symlink_to("../../../../../../../../../etc/hostname")
    document = look(tree, *DEVDAX)
    refused = run_of(document)["refused"]
    assert refused["count"] >= 1 and "numa_balancing" in refused["first"]
    lines = run("--sysroot", str(tree), *DEVDAX).stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith(f"rpma-ddio-check: not taken below {tree}: ")


EVIL = b"fw\x1b[2J\x9b31m\xc2\x9b1m\r\x00\xff\xfe\xe2\x80\xae16.35\n"


def test_no_byte_of_a_tree_commands_the_terminal(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    build(healthy(nics=[Nic(chain=card())]), tree)
    for name in ("fw_ver", "board_id", "hca_type", "state", "persistence_domain", "provider"):
        for path in tree.rglob(name):
            path.write_bytes(EVIL)
    for options in ((), ("--json",)):
        done = subprocess.run([TOOL, "--sysroot", tree, *options], capture_output=True)
        assert done.returncode in (1, 3)
        assert not re.search(rb"[^\n -~]", done.stdout)
