# SPDX-License-Identifier: BSD-3-Clause
"""rpma-ping(1) has every option and step that the program has, and no other; wrong usage."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

PING = os.environ["RPMA_PING"]
DOC = Path(__file__).resolve().parents[3] / "doc"
PAGE = (DOC / "rpma-ping.1").read_text(encoding="utf-8")
SCHEMA = json.loads((DOC / "schema/rpma-ping-1.schema.json").read_text(encoding="utf-8"))


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PING, *words], capture_output=True, text=True, timeout=60)


def test_options_are_those_of_the_help() -> None:
    text = run("--help").stdout.partition("\n\n")[2]
    in_help = set(re.findall(r"^ +(?:-\w, )?--([a-z0-9-]+)", text, re.MULTILINE))
    in_page = set(re.findall(r"^\.It Fl (?:\w , )?-([a-z0-9-]+)", PAGE, re.MULTILINE))
    assert in_help == in_page


def test_steps_are_those_of_the_schema() -> None:
    section = PAGE.partition(".Sh STEPS")[2].partition(".Sh ")[0]
    assert re.findall(r"^\.It Cm (\w+)", section, re.MULTILINE) == SCHEMA["$defs"]["step"]["enum"]


@pytest.mark.parametrize("schema", ["rpma-ping-1.schema.json", "rpma-bench-1.schema.json"])
def test_causes_are_those_of_the_schemas_and_of_the_code(schema: str) -> None:
    section = PAGE.partition(".Sh CAUSES")[2].partition(".Sh ")[0]
    causes = re.findall(r"^\.It Li (\w+)$", section, re.MULTILINE)
    text = (DOC / "schema" / schema).read_text(encoding="utf-8")
    enum = re.search(r'"cause": \{\s*"enum": (\[[^\]]*\])', text)
    assert enum and json.loads(enum[1]) == [*causes, None]
    code = (DOC.parent / "common/base/failure.c").read_text(encoding="utf-8")
    assert re.findall(r'\[CAUSE_\w+\] = "(\w+)"', code) == causes


HERE = Path(__file__).parent
# The software device has no device files, ports that are down, or MTU on the way.
NOT_ON_SOFT = {"no_permission", "link_down", "mtu"}
# A server prints no result: its line names it.
LINES = {"address_in_use": "another server listens there"}


def test_each_cause_is_met_on_the_software_device_and_in_a_guest() -> None:
    section = PAGE.partition(".Sh CAUSES")[2].partition(".Sh ")[0]
    causes = re.findall(r"^\.It Li (\w+)$", section, re.MULTILINE)
    on_soft = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py") if path != Path(__file__))
    in_guests = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("in-guest-ping*.sh"))
    assert {c for c in causes if not re.search(LINES.get(c, f'"{c}"'), on_soft)} == NOT_ON_SOFT
    asked = r"failed \w+ {0}\)|it_ends \d (\"\$pings\"|'[a-z ]+'|\w+) {0}\b|\"cause\": \"{0}\"|\('{0}', "
    assert [c for c in causes if not re.search(LINES.get(c, asked.format(c)), in_guests)] == []


def test_examples_have_no_wrong_option() -> None:
    examples = PAGE.partition(".Sh EXAMPLES")[2].partition(".Sh ")[0].replace("\\e\n", " ")
    lines = re.findall(r"\$ rpma-ping ([^&>\n]*)", examples)
    assert len(lines) >= 6
    for line in lines:
        assert run(*line.split(), "--help").returncode == 0, line


def test_version() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"rpma-ping {done.stdout.split()[1]}\n")


@pytest.mark.parametrize("words", [[], ["-c", "0", "h"], ["--server", "h"], ["--nonsense"], ["h", "-p"],
                                   ["--json", "-s", "0", "h"], ["-46", "h"], ["-i", ".x", "h"]])  # fmt: skip
def test_wrong_usage_is_one_line_and_64(words: list[str]) -> None:
    done = run(*words)
    assert done.returncode == 64
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("rpma-ping: ")
