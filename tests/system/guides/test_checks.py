# SPDX-License-Identifier: BSD-3-Clause
"""doc/finding-rdma-bugs.md: each block gives what stands below it, but for addresses, keys, processes and lines; its C
stands in a program of the zoo; and the workflow has twenty lines whose command of ours fails where a test does."""

import json
import os
import re
from pathlib import Path

import pytest
from conftest import LIMIT_S, Shell, blocks

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ["RPMA_BUILD_DIR"])
ZOO = ROOT / "tests/check/zoo"
TEXT = (ROOT / "doc/finding-rdma-bugs.md").read_text(encoding="utf-8")
BLOCKS = blocks(TEXT)
OTHERS = [block for block in re.findall(r"(?m)^```sh\n((?:[^`\n].*\n)+)```$", TEXT)
          if block not in [commands for commands, _ in BLOCKS]]  # fmt: skip
WORKFLOW = re.findall(r"(?ms)^```yaml\n(.*?)^```", TEXT)


def same(text: str) -> str:
    """With what differs from run to run made equal."""
    text = re.sub(r"\d+ (requests seen|of them held)", r"N \1", re.sub(r"0x[0-9a-f]+", "0xN", text))
    text = re.sub(r"(\w+\.c):\d+", r"\1:N", text)  # test_zoo.py looks at the lines
    return re.sub(r"(process|rkey) \S+", r"\1 N", text)


def sources() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for kind in ("faulty", "public") for path in (ZOO / kind).glob("*.c")}


@pytest.fixture(name="shell")
def shell_with_the_zoo(shell: Shell) -> Shell:
    for kind in ("faulty", "public"):
        for name in (path.stem for path in (ZOO / kind).glob("*.c")):
            (shell.folder / name).symlink_to(BUILD / "tests/check/zoo" / kind / name)
    return shell


def test_each_block_of_output_is_read() -> None:
    assert len(BLOCKS) == TEXT.count("```text\n")
    assert len(BLOCKS) + len(OTHERS) == TEXT.count("```sh\n")


@pytest.mark.parametrize(("commands", "expected"), BLOCKS)
def test_a_block_gives_what_stands_below_it(commands: str, expected: str, shell: Shell) -> None:
    shell.gives(commands, expected, same)


@pytest.mark.parametrize("block", OTHERS)
def test_another_block_runs(block: str, shell: Shell) -> None:
    for command in block.splitlines():
        assert shell.start(command).wait(LIMIT_S) == 0, command


def test_the_c_is_that_of_the_programs() -> None:
    """Each piece of a section stands in the program that the section runs."""
    found = re.findall(r"(?ms)^```c\n(.*?)^```.*?^```sh\nrpma-soft --check \./(\w+)$", TEXT)
    assert len(found) == TEXT.count("```c\n") == 5
    for code, name in found:
        assert code in sources()[name], name


def test_the_workflow_has_twenty_lines() -> None:
    assert len(WORKFLOW) == 1 and WORKFLOW[0].count("\n") <= 20
    assert (ROOT / "scripts/package").exists()


def test_the_job_of_the_workflow_fails_and_keeps_what_was_found(shell: Shell) -> None:
    """The other commands are apt's, git's and the reader's; system.install.packages-* runs scripts/package."""
    (command,) = re.findall(r"(?m)^ +- run: (rpma-soft .*)$", WORKFLOW[0])
    (shell.folder / "build").mkdir()
    tests = f'add_test(wrong {shell.folder}/write_beyond_the_end)\nadd_test(right "true")\n'
    (shell.folder / "build/CTestTestfile.cmake").write_text(tests)
    process = shell.start(command)
    out = process.communicate(timeout=LIMIT_S)[0]
    assert process.returncode != 0 and "1 tests failed out of 2" in out, out
    lines = [json.loads(line) for line in (shell.folder / "findings.json").read_text().splitlines()]
    assert [line["finding"] for line in lines if "finding" in line] == ["range-beyond"]
