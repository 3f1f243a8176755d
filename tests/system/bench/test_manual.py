# SPDX-License-Identifier: BSD-3-Clause
"""rpma-bench(1) has every option, word and warning that the program has, and no other."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

BENCH = os.environ["RPMA_BENCH"]
DOC = Path(__file__).resolve().parents[3] / "doc"
PAGE = (DOC / "rpma-bench.1").read_text(encoding="utf-8")
AXES = PAGE.partition(".Bl -column")[2].partition(".El")[0]
PLAN_SCHEMA = json.loads((DOC / "schema/rpma-bench-plan.schema.json").read_text(encoding="utf-8"))
RESULT_SCHEMA = json.loads((DOC / "schema/rpma-bench-1.schema.json").read_text(encoding="utf-8"))


def help_options() -> set[str]:
    text = "".join(subprocess.run([BENCH, mode, "--help"], capture_output=True, text=True, check=True).stdout
                   for mode in ("server", "client", "local"))
    return set(re.findall(r"(?:^|, )\s*--([a-z-]+)", text.partition("\n\n")[2] + text, re.MULTILINE))


def page_options() -> set[str]:
    return set(re.findall(r"^\.It (?:Fl \w , |Fl )?(?:Fl )?-([a-z-]+)", PAGE, re.MULTILINE))


def test_options_are_those_of_the_help() -> None:
    assert page_options() == help_options()


def test_a_plan_file_has_the_axes_of_the_help() -> None:
    series = PLAN_SCHEMA["$defs"]["series"]["properties"]
    assert set(series) | set(PLAN_SCHEMA["properties"]) - {"series"} <= help_options()
    assert set(re.findall(r"(?:Fl |, )-([a-z-]+) Ta", AXES)) == set(series)


def words(name: str) -> set[str]:
    """What the program expects where it is given nonsense."""
    wrong = subprocess.run([BENCH, "client", "h", f"--{name}", "?"], capture_output=True, text=True)
    assert wrong.returncode == 64
    expected = wrong.stderr.partition("expected ")[2].partition(", or several")[0]
    return set(re.split(r", | or ", expected.strip()))


def test_words_are_those_of_the_program_and_of_plan_files() -> None:
    axes = re.sub(r"( Ta \S+)\n\.It \\& Ta (.*) Ta \\&", r" \2\1", AXES)  # rows that continue
    for name in ("test", "op", "persist"):
        row = re.search(rf"-{name} Ta (.*) Ta", axes)
        assert row and set(row[1].split()) == words(name), name
        listed = PLAN_SCHEMA["$defs"][f"{name}s"]["anyOf"][1]["items"]["enum"]
        assert set(listed) == words(name), name


def test_warnings_are_those_of_the_schema() -> None:
    section = PAGE.partition(".Sh WARNINGS")[2].partition(".Sh ")[0]
    codes = set(RESULT_SCHEMA["$defs"]["warning"]["properties"]["code"]["enum"])
    assert set(re.findall(r"[A-Z_]{6,}", section)) == codes


GUIDE = (DOC / "measuring-remote-persistent-memory.md").read_text(encoding="utf-8")
GUIDE_PLAN = GUIDE.partition("```json\n")[2].partition("```")[0]
PAGE_PLAN = PAGE.partition(".Sh PLAN FILES")[2].partition(".Bd -literal -offset indent\n")[2].partition(".Ed")[0]
PAGE_EXAMPLES = PAGE.partition(".Sh EXAMPLES")[2].partition(".Sh ")[0].replace("\\e\n", " ")


@pytest.mark.parametrize("plan", [PAGE_PLAN, GUIDE_PLAN], ids=["page", "guide"])
def test_plans_that_are_shown_are_plans(plan: str) -> None:
    import jsonschema

    jsonschema.Draft202012Validator(PLAN_SCHEMA).validate(json.loads(plan))


def commands(text: str) -> list[str]:
    """Those of a client or local; servers have no dry run."""
    found = re.findall(r"^(?:\.Dl )?(?:client)?\$ (?:HWLOC_XMLFILE=\S+ )?rpma-bench ([cl].*?)(?:\s+#.*)?$", text, re.MULTILINE)
    assert len(found) >= 4
    return found


@pytest.mark.parametrize("command", commands(PAGE_EXAMPLES) + commands(GUIDE))
def test_commands_that_are_shown_are_taken(command: str, tmp_path: Path) -> None:
    (tmp_path / "rack.json").write_text(PAGE_PLAN, encoding="utf-8")
    (tmp_path / "lab.json").write_text(GUIDE_PLAN, encoding="utf-8")
    run = subprocess.run(f"{BENCH} {command} --dry-run --pin none", shell=True, cwd=tmp_path, capture_output=True,
                         text=True)
    assert run.returncode == 0, run.stderr
