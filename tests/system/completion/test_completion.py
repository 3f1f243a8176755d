# SPDX-License-Identifier: BSD-3-Clause
"""Tab in bash and zsh, for each program, on a terminal."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from shell import BASH, BASH_SETUP, PROMPT, ZSH, ZSH_SETUP, Shell

PROGRAMS = {Path(one).name: one for one in os.environ["RPMA_PROGRAMS"].split(":")}

# The text typed, the words that Tab must offer or insert, and those it must not.
CASES = [
    ("rpma-ping --wait=", "poll event", "auto --"),
    ("rpma-ping --wait ", "poll event", "auto"),
    ("rpma-ping --wait e", "event", "poll"),
    ("rpma-ping --device ", "auto soft", "--"),
    ("rpma-ping --direct", "--direct-write-to-pmem", "--deadline"),
    ("rpma-bench ", "server client local", "--op"),
    ("rpma-bench cl", "client", "local"),
    ("rpma-bench server --o", "--once", "--op"),
    ("rpma-bench client --persis", "--persist", "--plan"),
    ("rpma-bench client --persist=apm,gpspm-", "gpspm-rt", "native"),
    ("rpma-bench client --size 64 --completion=", "poll event", "--"),
    ("rpma-bench local --test ", "lat bw rate mix connect register", "--"),
    ("rpma-bench client --plan=fir", "first.json", "a-directory"),
    ("rpma-soft --transport=t", "tcp", "local"),
    ("rpma-soft rpma-pi", "rpma-ping", "--"),
    ("rpma-ddio-check --assume-ddio=", "on off", "auto"),
    ("rpma-ddio-check --sysroot=", "a-directory", "first.json"),
    ("rpma-ddio-check --explain=", "all", "--"),
    ("rpmemd --log-level=", "err warn notice info debug", "--"),
    ("rpma-report ", "create compare validate study", "--output"),
    ("rpma-report create --p", "--png --pdf", "--md"),
    ("rpma-report create fir", "first.json", "a-directory"),
]


@pytest.fixture(scope="module", params=["bash", "zsh"])
def shell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "first.json").touch()
    (folder / "a-directory").mkdir()
    path = ":".join([str(Path(one).parent) for one in PROGRAMS.values()] + ["/usr/bin", "/bin"])
    environment = {"PATH": path, "HOME": str(folder), "TERM": "xterm", "PS1": PROMPT, "LC_ALL": "C.UTF-8",
                   "COMPLETIONS": os.environ["COMPLETIONS"]}
    command, setup = (BASH, BASH_SETUP) if request.param == "bash" else (ZSH, ZSH_SETUP)
    started = Shell(command, setup, environment, folder)
    yield started
    started.close()


def words(text: str) -> set[str]:
    return set(re.findall(r"[\w.-]+", text))


@pytest.mark.parametrize(("line", "offered", "others"), CASES)
def test_tab(shell: Shell, line: str, offered: str, others: str) -> None:
    if line.split()[0] not in PROGRAMS:
        pytest.skip(f"{line.split()[0]} is not built")
    shown = shell.shows(line)
    new = shown.replace(line.strip(), " ")
    found = words(new) | words(shown.replace("=", " ").replace(",", " "))
    assert set(offered.split()) <= found, shown
    for other in others.split():
        assert other not in new, shown


@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_every_long_option_of_the_help_is_offered(shell: Shell, program: str) -> None:
    helped = subprocess.run([PROGRAMS[program], "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(rf"^(?:Usage: | {{7}})(?:\S+ )*?{program} ([a-z-]+)", helped, re.MULTILINE)
    commands += re.findall(r"^    ([a-z]+) ", helped, re.MULTILINE)  # as argparse prints them
    for command in commands or [""]:
        full = [PROGRAMS[program], *command.split(), "--help"]
        helped = subprocess.run(full, capture_output=True, text=True, check=True).stdout
        options = set(re.findall(r"^ {2,6}(?:-\S(?: [A-Z]+)?, )?(--[\w-]+)", helped, re.MULTILINE))
        shown = words(shell.shows(f"{program} {command}{' ' if command else ''}--").replace("=", " "))
        assert options and options <= shown, options - shown
