# SPDX-License-Identifier: BSD-3-Clause
"""rpma-ddio-check(1) has what the program has, and no other."""

import json
import re
import shlex
from pathlib import Path

import pytest
from checker import SCHEMA, look, run, statuses
from golden import HEALTHY, ROWS, healthy
from trees import build

TOP = Path(__file__).resolve().parents[3]
PAGE = (TOP / "doc/rpma-ddio-check.1").read_text(encoding="utf-8")
VERDICTS = (TOP / "readiness/verdict.c").read_text(encoding="utf-8")
EXITS = {"GOOD": "0", "NEGATIVE": "1", "NO_DEVICE": "3"}


def section(name: str) -> str:
    return PAGE.partition(f".Sh {name}\n")[2].partition("\n.Sh ")[0]


def test_options_are_those_of_the_help() -> None:
    text = run("--help").stdout
    known = set(re.findall(r"^  (?:-\w, |    )--([a-z-]+)", text, re.MULTILINE))
    assert set(re.findall(r"^\.It (?:Fl \w , |Fl )-([a-z-]+)", PAGE, re.MULTILINE)) == known


def test_checks_are_those_that_are_explained() -> None:
    """With what each does to READY, which --explain prints from the column of its row."""
    listed = re.findall(r"^\.It Cm ([A-Z]+-\d\d) Ta (.+) Ta (.+) Ta (.+)$", section("CHECKS").replace("\\&", ""),
                        re.MULTILINE)
    told = []
    for part in run("--explain", "all").stdout.split("\n\n"):
        number, title = part.splitlines()[0].split(maxsplit=1)
        effects = re.search(r"For READY: UNKNOWN (?:is )?(.+), WARN (?:is )?(.+)\.", " ".join(part.split()))
        assert effects, part
        told.append((number, title, *effects.groups()))
    assert listed == told
    assert [number for number, *_ in listed] == list(HEALTHY)


def test_statuses_and_states_are_those_of_the_schema() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    found = set(re.findall(r"^\.It Dv ([A-Z_]+)$", section("CHECKS"), re.MULTILINE))
    assert found == set(schema["check"]["properties"]["status"]["enum"])
    found = set(re.findall(r"^\.It Dv ([A-Z_]+)$", section("DDIO"), re.MULTILINE))
    assert found == set(schema["ddio"]["properties"]["state"]["enum"])


def code_rows() -> list[tuple[str, ...]]:
    """Name, verdict, exit status, reason, and value of each row of verdict.c."""
    table = VERDICTS.partition("readiness_rows[")[2].partition("\n};")[0]
    string = r'"(?:[^"\\]|\\.)*"'
    rows = re.findall(rf'\{{"([a-z-]+)",\s*VERDICT_(\w+),\s*EXIT_(\w+),\s*((?:{string}\s*)+),'
                      r"\s*(true|false)", table)
    assert len(rows) == len(re.findall(r"VERDICT_", table))
    return [(name, verdict, EXITS[code], "".join(re.findall(r'"(.*?)"', reason)), value)
            for name, verdict, code, reason, value in rows]


def page_rows() -> list[tuple[str, ...]]:
    rows = re.findall(r"^\.It Cm ([a-z-]+)\n\.Dv (\w+) ,\nexit status (\d), value\n\.Cm (\w+) \.\n\.br\n"
                      r"((?:[^.\n].*\n)+)", section("VERDICT"), re.MULTILINE)
    return [(name, verdict, code, " ".join(reason.split()), value)
            for name, verdict, code, value, reason in rows]


def test_the_verdict_table_is_that_of_the_code() -> None:
    assert page_rows() == code_rows()
    assert {name: (verdict, int(code), value == "true")
            for name, verdict, code, _, value in page_rows()} == ROWS


def test_rows_and_verdicts_are_those_of_the_schema() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    assert [row[0] for row in page_rows()] == schema["judgement"]["properties"]["row"]["enum"]
    assert {row[1] for row in page_rows()} == set(schema["verdict"]["enum"])


def test_the_facts_that_are_shown_are_taken(tmp_path: Path) -> None:
    example = section("TREES").partition(".Bd -literal -offset indent\n")[2].partition(".Ed")[0]
    facts = json.loads(example)
    tree = tmp_path / "tree"
    build(healthy(facts=False), tree)
    (tree / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    document = look(tree, "--target", next(iter(facts["targets"])))
    # its probe saw the cache take the writes, which the registers of this machine contradict
    assert statuses(document)["DDIO-06"] == "FAIL"


def c_table(path: str) -> str:
    """The table "rows" of a source, without comments."""
    text = re.sub(r"/\*.*?\*/", "", (TOP / path).read_text(encoding="utf-8"), flags=re.DOTALL)
    return text.partition(" rows[] = {")[2].partition("\n};")[0]


def test_adapters_are_those_of_the_code() -> None:
    words = {"ADAPTER_BY_CPU": "CPU", "ADAPTER_NO_RC": "no RC", "ADAPTER_NOT_KNOWN": "unknown"}
    rows = c_table("common/rdma/adapter.c")
    code = {driver: "DMA" for driver in re.findall(r'DMA\("(\w+)"', rows)}
    code |= {driver: words[placed] for placed, driver in re.findall(r'\{(\w+), DEVICE_HARDWARE, "(\w+)"', rows)}
    page = {driver: placed for drivers, placed in re.findall(r"^\.It Cm (.+) Ta .+ Ta (.+)$", section("ADAPTERS"), re.MULTILINE)
            for driver in drivers.split(", ")}  # fmt: skip
    assert page == code | {"rdma_rxe": "CPU", "siw": "CPU"}


def test_processors_are_those_of_the_code() -> None:
    """With what they have for a control, and whether a probe can count there."""
    words = {"BY_PORT": "root port, menu", "BY_PORT_L": "root port, menu", "BY_MENU": "menu", "BY_NOTHING": "none known",
             "BY_TPH": "TPH"}  # fmt: skip
    code = []
    for kind, row in re.findall(r"(INTEL|AMD|\{)(.*?)[)}],", c_table("readiness/platforms.c")):
        names = re.findall(r'"([^"]+)"', row) or ["NULL"]
        control = re.search(r"BY_\w+", row)
        # all of Intel's have counters; the advice of others begins with the probe, where there is one
        code.append((names[-1], words[control[0] if control else "BY_TPH"],
                     kind == "INTEL" or re.search(r"\bPROBE", row) is not None))  # fmt: skip
    others = {"Intel": "other Intel", "AMD": "other AMD", "NULL": "others"}
    page = re.findall(r"^\.It Cm (.+) Ta (.+) Ta (.+)$", section("PROCESSORS"), re.MULTILINE)
    assert len(page) == 20
    assert [(name, control, probe == "yes") for name, control, probe in page] == \
        [(others.get(name, name), control, probe) for name, control, probe in code]


EXAMPLES = [line.strip() for line in re.sub(r"\\e\n\s*", "", section("EXAMPLES")).splitlines()]
COMMANDS = [shlex.split(re.sub(r"^(?:\.Dl )?[#$] rpma-ddio-check ", "", line).rstrip("|"))
            for line in EXAMPLES if re.match(r"(?:\.Dl )?[#$] rpma-ddio-check ", line)]


@pytest.mark.parametrize("command", COMMANDS, ids=[" ".join(words) for words in COMMANDS])
def test_commands_that_are_shown_are_taken(command: list[str], tmp_path: Path) -> None:
    build(healthy(), tmp_path / "tree")
    words = [str(tmp_path / word) if word == "facts" else word for word in command]
    if "--sysroot" in words:
        (tmp_path / "tree").rename(tmp_path / "facts")
    else:
        words = ["--sysroot", str(tmp_path / "tree"), *words]
    if "--set" in words:
        done = run(*words, "--state", str(tmp_path / "state"))
        assert done.returncode in (0, 3) and "nothing was written" in done.stderr or "warning" in done.stderr or \
            "--dry-run" in words
        return
    done = run(*words)
    assert done.returncode in (0, 1, 3) and not done.stderr, done.stderr


def test_there_are_examples() -> None:
    assert len(COMMANDS) >= 6
