# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --check finds nothing in programs that are right: those of Debian that programs/cases.py
lists, and all that the entries of ctest below run. What it finds in them and is theirs, accepted.py has.
"""

import functools
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from accepted import ACCEPTED, rows_for
from cases import CASES
from device import BUILD, LAUNCHER, soft
from pair import Case, run

BENCH, PING = (f"{BUILD}/tools/{name}/{name}" for name in ("rpma-bench", "rpma-ping"))
# Two processes each; what the suites of these tools start finds the device by itself, without its words.
TOOLS = [
    Case("rpma-bench", f"{BENCH} server --listen {{address}} --port {{port}}",
         f"{BENCH} client {{address}} --port {{port}} --size 64,4K --ops 200 --repeats 1 --warmup 0",
         server_ends=False),
    Case("rpma-ping", f"{PING} --server --listen {{address}} -p {{port}}", f"{PING} -c 20 -i 10ms -p {{port}} {{address}}",
         server_ends=False),
]  # fmt: skip
PROGRAMS = [*CASES, *TOOLS]
LIMIT_S = 1800
# Entries of ctest, run with their command and environment. None of them is about what the device prints.
ENTRIES = [
    "librpma-soft.calls", "librpma-soft.ideas", "librpma-soft.interop.few", "librpma-soft.crowd.40",
    "librpma-soft.append-power.20", "soft-librpma.auto",
    "bench-soft.run", "bench-soft.pmem", "bench-soft.figures", "bench-soft.rpmem", "bench-mpi.ranks", "rpmem-soft.lanes", "rpmem-accept.soft", "rpmem-stock.commands",
    "fio-soft.persistence", "fio-soft.verify", "fio-soft.bytes", "fio-soft.flushes", "fio-soft.examples",
    "soft-libfabric", "soft-ucx", "soft-mpi", "soft-dapl-long", "soft-pyverbs",
]  # fmt: skip

# Suites that look at all of standard error, where a checked process has its last line.
JUDGED_BY_FINDINGS = ["bench-soft.run", "soft-pyverbs"]
IDLE = ["cmtime", "example-01-connection"]  # they connect, and post nothing
# Servers of these state that a flush by read is durable: a platform on which it is, and a failure that never comes.
PLATFORM = "powerfail:at=1000000000,domain=adr,ddio=off"


@dataclass(frozen=True)
class Checks:
    """A folder with the findings of a case, and the words that have them written there."""

    case: str
    folder: Path

    @property
    def words(self) -> str:
        suppressions = self.folder / "s"
        suppressions.write_text("".join(f"{row.kind}:{row.function}\n" for row in rows_for(self.case)))
        return f"check:json={self.folder}/j check:suppressions={suppressions}"

    def launcher(self) -> Path:
        """For programs that are started with words of their own."""
        script = self.folder / "rpma-soft"
        options = self.words.replace(" check:", ",").replace("check:", "")
        platform = f"-f {PLATFORM}" if self.case.startswith("fio-soft") else ""
        script.write_text(f'#!/bin/sh\nexec {LAUNCHER} --check={options} {platform} "$@"\n')
        script.chmod(0o755)
        return script

    def require_nothing_found(self, context: str = "") -> None:
        lines = [json.loads(line) for line in (self.folder / "j").read_text(errors="replace").splitlines()]
        found = [shown(line) for line in standing(lines)]
        ends = [line for line in lines if "requests" in line]
        assert found == [], "\n".join(["", *found, context])
        assert ends and (self.case in IDLE or sum(end["requests"] for end in ends) > 0), f"no request was seen\n{context}"
        assert not rows_for(self.case) or sum(end["suppressed"] for end in ends) > 0, "nothing was suppressed"


def standing(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings that were not withdrawn."""
    found: list[dict[str, Any]] = []
    for line in lines:
        if "finding" in line:
            found.append(line)
        elif "withdrawn" in line:
            same = [one for one in found if (one["finding"], one["pid"], one["stack"])
                    == (line["withdrawn"], line["pid"], line["stack"])]  # fmt: skip
            found.remove(same[-1])
    return found


def shown(finding: dict[str, Any]) -> str:
    places = [f"{frame['function']} {frame['file']}:{frame.get('line', '?')}" for frame in finding["stack"][:5]]
    details = {name: value for name, value in finding["details"].items() if isinstance(value, str)}
    return f"{finding['finding']} ({finding['level']}): {finding['sentence']}\n   at {' < '.join(places)}\n   {details}"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """With a short path, as a word of the device is short."""
    with tempfile.TemporaryDirectory(prefix="c.") as made:
        monkeypatch.setenv("TMPDIR", made)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(made)


@pytest.mark.parametrize("case", PROGRAMS, ids=[case.name for case in PROGRAMS])
def test_program(case: Case, folder: Path) -> None:
    checks = Checks(case.name, folder)
    (folder / "j").touch()
    # the last line of a checked program has the word "errors", and stands behind its own last one
    case = replace(case, long=True, never_prints=(), may_end=case.may_end.removesuffix(r"\Z"))
    try:
        run(case, soft(checks.words))
    except AssertionError as error:
        checks.require_nothing_found(str(error))
        raise
    checks.require_nothing_found()


@functools.cache
def entries() -> dict[str, dict[str, Any]]:
    """The tests of the build, as ctest describes them."""
    done = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"], capture_output=True, text=True,
                          check=True, timeout=LIMIT_S)  # fmt: skip
    return {test["name"]: test for test in json.loads(done.stdout)["tests"]}


@pytest.mark.parametrize("name", ENTRIES)
def test_entry(name: str, folder: Path) -> None:
    entry = entries().get(name)
    if entry is None:
        pytest.skip(f"{name} is not in this build")
    checks = Checks(name, folder)
    (folder / "j").touch()
    properties = {one["name"]: one["value"] for one in entry["properties"]}
    given = dict(word.split("=", 1) for word in properties.get("ENVIRONMENT", []))
    environment = {**os.environ, **given, "RPMA_SOFT": f"{checks.words} {given.get('RPMA_SOFT', '')}"}
    environment["RPMA_SOFT_LAUNCHER"] = str(checks.launcher())
    done = subprocess.run(entry["command"], capture_output=True, text=True, errors="replace", timeout=LIMIT_S,
                          env=environment, cwd=properties.get("WORKING_DIRECTORY"))  # fmt: skip
    if done.returncode == properties.get("SKIP_RETURN_CODE", -1):
        pytest.skip(done.stdout.splitlines()[-1])
    output = f"status {done.returncode}\n{done.stdout[-6000:]}{done.stderr[-3000:]}"
    checks.require_nothing_found(output)
    assert done.returncode == 0 or name in JUDGED_BY_FINDINGS, output


def test_what_is_accepted_has_a_reason_and_a_section() -> None:
    names = {case.name for case in PROGRAMS} | set(ENTRIES)
    for row in ACCEPTED:
        assert len(row.reason) > 20 and row.section, row
        assert any(row in rows_for(name) for name in names), f"no program has such a name: {row.case}"
