# SPDX-License-Identifier: BSD-3-Clause
"""doc/instead-of-mocks.md: each block gives what stands below it, each word is one that the device
takes, and the workflow has twenty lines whose commands of ours run."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import LIMIT_S, Shell, blocks

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "doc/instead-of-mocks.md").read_text(encoding="utf-8")
BLOCKS = blocks(TEXT)
WORKFLOW = re.findall(r"(?ms)^```yaml\n(.*?)^```", TEXT)


def test_each_block_of_output_is_read() -> None:
    assert len(BLOCKS) == TEXT.count("```text\n")


@pytest.mark.parametrize(("commands", "expected"), BLOCKS)
def test_a_block_gives_what_stands_below_it(commands: str, expected: str, shell: Shell) -> None:
    assert commands.count("\n") <= 2, "three lines with the fence"
    shell.gives(commands, expected)


def test_the_loop_names_calls_after_which_the_program_crashes(shell: Shell) -> None:
    (loop,) = re.findall(r"(?ms)^```sh\n(for .*?)^```", TEXT)
    (shell.folder / "program").write_text("#!/bin/sh\nibv_devices > found || exit 1\ngrep -q soft0 found || kill -9 $$\n")
    (shell.folder / "program").chmod(0o755)
    done = subprocess.run(["bash", "-c", loop.replace("seq 200", "seq 2")], cwd=shell.folder, env=shell.environment,
                          capture_output=True, text=True, timeout=LIMIT_S)  # fmt: skip
    assert done.returncode == 0 and done.stdout == "", done


WORDS = re.findall(r"(?m)^\| .* \| `(\S+)` \|$", TEXT)


def test_the_table_is_read_whole() -> None:
    assert len(WORDS) == len(re.findall(r"(?m)^\| .* \|$", TEXT)) - 1  # its head


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_the_table_is_one(word: str, shell: Shell) -> None:
    assert shell.start(f"rpma-soft -f {word} true").wait(LIMIT_S) == 0


def test_the_workflow_has_twenty_lines() -> None:
    assert len(WORKFLOW) == 1 and WORKFLOW[0].count("\n") <= 20
    assert (ROOT / "scripts/package").exists()


def test_the_commands_of_ours_in_the_workflow_run(shell: Shell) -> None:
    """The others are apt's, git's and the reader's; system.install.packages-* runs scripts/package."""
    ours = re.findall(r"(?m)^ +- run: (rpma-soft .*)$", WORKFLOW[0])
    assert len(ours) == 2
    (shell.folder / "build").mkdir()
    (shell.folder / "build/program").symlink_to(str(shutil.which("ibv_devinfo")))
    (shell.folder / "build/CTestTestfile.cmake").write_text("add_test(devices ibv_devinfo)\n")
    for command in ours:
        process = shell.start(command)
        out = process.communicate(timeout=LIMIT_S)[0]
        assert process.returncode == 0, out
