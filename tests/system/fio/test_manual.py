# SPDX-License-Identifier: BSD-3-Clause
"""fio-librpma(1) has every option of the engine with its default and its choices, and no other;
what it names of fio's own is there, and what it shows can be run."""

import os
import re
import subprocess
from pathlib import Path

import pytest

FIO = os.environ.get("FIO", "/usr/bin/fio")
ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": os.environ["FIO_ENGINE_DIR"]}
TOP = Path(__file__).resolve().parents[3]
PAGE = (TOP / "doc/fio-librpma.1").read_text(encoding="utf-8")
JOB_FILES = sorted((TOP / "examples/fio").glob("*.fio"))


def fio(*words: str | Path) -> str:
    done = subprocess.run([FIO, *words], capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def section(name: str) -> str:
    return PAGE.partition(f".Sh {name}\n")[2].partition("\n.Sh ")[0]


def options_of_the_engine() -> list[str]:
    return re.findall(r"^(\w+) +: ", fio("--enghelp=librpma"), re.MULTILINE)


def options_of_the_page() -> dict[str, tuple[str, str]]:
    """Name: its argument, and its text."""
    parts = re.split(r"^\.It Cm (\w+) Ns = Ns Ar (.*)\n", section("OPTIONS"), flags=re.MULTILINE)
    return {name: (argument, text) for name, argument, text in zip(parts[1::3], parts[2::3], parts[3::3])}


def test_options_are_those_of_the_engine_in_their_order() -> None:
    assert list(options_of_the_page()) == options_of_the_engine()


@pytest.mark.parametrize("name", options_of_the_page())
def test_default_choices_and_limits_are_those_of_the_engine(name: str) -> None:
    argument, text = options_of_the_page()[name]
    told = fio(f"--enghelp=librpma,{name}")
    default = re.search(r"The default is\n\.Cm (\S+) \.", text)
    assert re.findall(r"default: (.*)", told) == [default[1] if default else "no default"]
    choices = re.findall(r"^ *(?:valid values)?: (\S+)", told.partition("valid values")[2], re.MULTILINE)
    assert choices == (argument.split("|") if "|" in argument else [])
    assert (argument == "BOOL") == ("boolean" in told)
    limits = re.search(r"range: min=(\d+), max=(\d+)", told)
    if limits:
        assert re.search(rf"{limits[1]} to {limits[2]}" if limits[1] != "0" else rf"up to {limits[2]}", text)


def test_options_of_fio_that_it_names_are_there() -> None:
    known = set(re.findall(r"^ *(\w+) *: ", fio("--cmdhelp=all"), re.MULTILINE))
    items = re.findall(r"^\.It Cm ([\w ,]+?)(?: Ns.*)?$", section("OPTIONS OF FIO"), re.MULTILINE)
    assert len(items) >= 10
    assert {name for item in items for name in item.split(" , ")} <= known


@pytest.mark.parametrize("path", JOB_FILES, ids=lambda path: path.name)
def test_job_files_have_no_wrong_option(path: Path) -> None:
    fio("--parse-only", path)


def shown() -> list[str]:
    return re.findall(r"^\.Bd -literal -offset indent\n(.*?)\.Ed$", section("EXAMPLES"), re.MULTILINE | re.DOTALL)


def test_job_files_that_are_shown_are_the_examples() -> None:
    files = {first.removeprefix("; "): rest for first, _, rest in (one.partition("\n") for one in shown())
             if first.startswith("; ")}  # fmt: skip
    assert len(files) >= 5
    for name, text in files.items():
        lines = (TOP / "examples/fio" / name).read_text(encoding="utf-8").splitlines(keepends=True)
        assert text == "".join(line for line in lines if not line.startswith("#")), name


def commands() -> list[str]:
    lines = "".join(shown()).replace("\\e\n", " ")
    found = re.findall(r"^\w*\$ (?:rpma-soft )?fio (.*?)(?: &)?$", lines, re.MULTILINE)
    assert len(found) >= 4
    return found


@pytest.mark.parametrize("command", commands())
def test_commands_that_are_shown_have_no_wrong_option(command: str) -> None:
    fio("--parse-only", *command.split())
