# SPDX-License-Identifier: BSD-3-Clause
"""The outputs of compare for programs: JSON by its schema, JUnit, and commands of a workflow."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

import sample
from conftest import SOURCE, Command, Write
from paired import write_pairs
from rpma_report.comparison import workflow
from test_compare_command import measured

SCHEMA = json.loads((SOURCE.parent / "doc/schema/rpma-report-compare-1.schema.json").read_text())


def test_json_keeps_to_its_schema_and_stands_alone(quick: Command, tmp_path: Path) -> None:
    done = quick("compare", *write_pairs(tmp_path, measured, 1.1), "--json", "-", "--fail-if", "worse")
    assert (done.returncode, done.stderr) == (1, "")
    document = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    (comparison,) = document["comparisons"]
    assert comparison["words"] == {"worse": 4, "better": 0, "unclear": 0, "not seen": 0, "same": 0}
    first = comparison["changes"][0]
    assert first["new"] / first["base"] - 1 == pytest.approx(first["change_fraction"])
    assert first["ci95_low_fraction"] < first["change_fraction"] < first["ci95_high_fraction"]
    assert len(document["failed"]) == 4 and document["exit_code"] == 1


def test_json_of_what_is_undetermined(quick: Command, write: Write, tmp_path: Path) -> None:
    paths = write(measured(), "base.json"), write(measured(1.5, sizes=(64,)), "new.json")
    done = quick("compare", *paths, "--fail-if", "worse", "--fail-if", "bytes_per_s < -5%, response.p50 > 1%", "--json", tmp_path / "c")
    document = json.loads((tmp_path / "c").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert done.returncode == document["exit_code"] == 3 and "undetermined: " in done.stdout
    assert {u["figure"] for u in document["undetermined"]} >= {"p50", "p99", None}
    assert document["comparisons"][0]["only_base"] == [{"series": "write + apm flush", "where": "4 KiB"}]
    assert all(change["word"] in ("unclear", None) for change in document["comparisons"][0]["changes"])


def cases(path: Path) -> dict[str, str]:
    """Outcome by name."""
    root = ElementTree.parse(path).getroot()
    for suite in root:
        kinds = [child.tag for case in suite for child in case]
        assert suite.get("tests") == str(len(suite)) and suite.get("failures") == str(kinds.count("failure"))
        assert suite.get("errors") == str(kinds.count("error")) and suite.get("skipped") == str(kinds.count("skipped"))
    return {str(case.get("name")): case[0].tag if len(case) else "passed" for case in root.iter("testcase")}


def test_junit_of_words(quick: Command, write: Write, tmp_path: Path) -> None:
    quick("compare", *write_pairs(tmp_path, measured, 1.1), "--junit", tmp_path / "j.xml")
    assert set(cases(tmp_path / "j.xml").values()) == {"failure"}
    quick("compare", write(measured(), "a.json"), write(measured(1.1), "b.json"), "--junit", tmp_path / "j.xml")
    assert cases(tmp_path / "j.xml") == {f"{size} {p}": "skipped" for size in ("64 B", "4 KiB") for p in ("p50", "p99")}


def test_junit_of_conditions(quick: Command, write: Write, tmp_path: Path) -> None:
    paths = write(measured(), "a.json"), write(measured(1.1, sizes=(64,)), "b.json")
    quick("compare", *paths, "--noise", "1%", "--fail-if", "p50 > 3%, p99 > 30%, response.p50 > 1%", "--junit", tmp_path / "j.xml")
    assert cases(tmp_path / "j.xml") == {
        "p50 > 3%: 64 B p50": "failure", "p50 > 3%: 4 KiB p50": "error", "p99 > 30%: 64 B p99": "passed",
        "p99 > 30%: 4 KiB p99": "error", "response.p50 > 1%: any point": "error",
    }  # fmt: skip


def test_workflow_commands_are_all_that_is_printed(quick: Command, tmp_path: Path) -> None:
    done = quick("compare", *write_pairs(tmp_path, measured, 1.1), "--github")
    assert done.returncode == 0
    kinds = [line.partition(" ")[0] for line in done.stdout.splitlines()]
    assert kinds.count("::warning") == 4 and set(kinds) == {"::warning", "::notice"}
    done = quick("compare", *write_pairs(tmp_path, measured, 1.1), "--github", "--fail-if", "worse")
    assert done.returncode == 1 and done.stdout.count("::error title=rpma-report compare::worse: new, ") == 4


@pytest.mark.parametrize("text", ["::set-output name=x::y", "a\n::error::b", "100%\r\n", "%0A"])
def test_messages_of_workflow_commands_are_escaped(text: str) -> None:
    line = workflow.command("error", text)
    prefix = "::error title=rpma-report compare::"
    assert line.startswith(prefix) and "\n" not in line and "\r" not in line
    back = line.removeprefix(prefix).replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")
    assert back == text


def test_hostile_labels_are_no_commands(quick: Command, write: Write) -> None:
    documents = [dict(measured(), run={**measured()["run"], "label": f"::error::{n}\n::warning::x"}) for n in (1, 2)]
    done = quick("compare", *(write(d, f"{n}.json") for n, d in enumerate(documents)), "--github")
    assert all(line.startswith(("::notice title=", "::warning title=")) for line in done.stdout.splitlines())


def test_standard_output_has_one_form(quick: Command, write: Write) -> None:
    done = quick("compare", write(measured()), write(measured(), "b.json"), "--json", "-", "--github")
    assert done.returncode == 64 and "both write to standard output" in done.stderr


@pytest.mark.parametrize("option", ["--json", "--junit"])
def test_no_output_takes_the_place_of_a_result(option: str, quick: Command, write: Write) -> None:
    path = write(measured())
    done = quick("compare", path, write(measured(), "b.json"), option, path)
    assert done.returncode == 64 and "is a result" in done.stderr and json.loads(path.read_text())


def uneven() -> list[dict[str, Any]]:
    """The second size is 30 % slower, the third faster."""
    points = []
    for factors in ((1.0, 1.0, 1.0), (1.0, 1.3, 0.8)):
        of = [measured(f, sizes=(s,))["points"][0] for f, s in zip(factors, (64, 256, 1024), strict=True)]
        points.append(sample.result([{**p, "id": f"p{i:04}"} for i, p in enumerate(of)]))
    return points


def test_the_worst_comes_first(quick: Command, write: Write, tmp_path: Path) -> None:
    base, new = (write(d, f"{n}.json") for n, d in enumerate(uneven()))
    done = quick("compare", base, new, "--noise", "2%", "-o", tmp_path / "c.html", "--csv", tmp_path / "c.csv")
    assert done.returncode == 0
    lines = [line.split()[:3] for line in quick("compare", base, new, "--noise", "2%").stdout.splitlines() if line.startswith("    ")]
    assert [line[0] for line in lines[:2]] == ["256", "256"] and lines[-1][0] != "256"
    page = (tmp_path / "c.html").read_text()
    forest = page[page.index('<figure id="forest"') :]
    assert "256 B, p50: +30." in forest or "256 B, p99: +30." in forest
    assert forest.index("256 B, p") < forest.index("1 KiB")
