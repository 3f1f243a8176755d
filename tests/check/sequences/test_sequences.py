# SPDX-License-Identifier: BSD-3-Clause
"""
Sequences of calls from seeds end alike over every transport and in every legal order of the software
device. rpma-soft --check is silent about them, and names the one rule that an illegal one breaks.
tests/vm/sequences_on_rxe compares them with the kernel's device.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
PROGRAM = os.environ["SEQUENCES_PROGRAM"]
COUNT = int(os.environ.get("SEQUENCES_COUNT") or os.environ["SEQUENCES_USUALLY"])
LIMIT_S = 3600
WAYS = ["forced-remote", "transport:tcp forced-remote", "delay:time=20us", "adversary:1", "adversary:2 forced-remote"]


def run(which: str, count: int, out: Path, *options: str, soft: str = "",
        stderr: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:  # fmt: skip
    with out.open("w") as stdout:
        return subprocess.run([LAUNCHER, *options, PROGRAM, which, "1", str(count)], stdin=subprocess.DEVNULL,
                              stdout=stdout, stderr=stderr, text=True, timeout=LIMIT_S,
                              env={**os.environ, "RPMA_SOFT": soft})  # fmt: skip


def same(which: str, one: Path, other: Path) -> str:
    """Empty, or how they differ."""
    return subprocess.run([HERE / "compare", which, one, other], stdout=subprocess.PIPE, text=True).stdout


@pytest.fixture(scope="module", params=["legal", "illegal"])
def expected(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    out = tmp_path_factory.mktemp("sequences") / "expected"
    done = run(request.param, COUNT, out)
    assert done.returncode == 0, done.stderr + out.read_text()[-2000:]
    assert len(set(re.findall(r"^(\d+)\.", out.read_text(), re.M))) == COUNT
    return request.param, out


@pytest.mark.parametrize("soft", WAYS)
def test_sequences_end_alike(soft: str, expected: tuple[str, Path], tmp_path: Path) -> None:
    which, transcript = expected
    done = run(which, COUNT, tmp_path / "other", soft=soft)
    assert same(which, transcript, tmp_path / "other") == ""
    assert done.returncode == 0, done.stderr


def test_nothing_is_found_in_a_legal_one(tmp_path: Path) -> None:
    done = run("legal", COUNT, tmp_path / "out", "--check")
    assert done.returncode == 0 and not re.search(r"^== rpma-soft: [a-z-]+: ", done.stderr, re.M), done.stderr
    summaries = re.findall(r"(\d+) errors, (\d+) warnings, 0 suppressed, (\d+) requests seen", done.stderr)
    assert len(summaries) >= COUNT and all(one[:2] == ("0", "0") for one in summaries), done.stderr


def test_the_broken_rule_is_named(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("illegal", COUNT, out, "--check", stderr=subprocess.STDOUT)
    assert done.returncode == 0, out.read_text()[-2000:]
    parts = re.split(r"^(\d+)\.0 (\S+): ", out.read_text(), flags=re.M)[1:]
    assert len(parts) == 3 * COUNT
    for seed, kind, text in zip(parts[0::3], parts[1::3], parts[2::3]):
        found = set(re.findall(r"^== rpma-soft: ([a-z-]+): ", text, re.M))
        assert found == {kind}, f"sequences illegal {seed}: {kind} expected, found {found}\n{text}"


def test_a_difference_shows_how_both_sequences_ended(tmp_path: Path) -> None:
    begin, steps = "1.1 connected\n1.2 closed\n2.1 connected\n", "".join(f"2.{step} traffic\n" for step in range(2, 90))
    (tmp_path / "whole").write_text(f"{begin}{steps}3.1 connected\n3.2 closed\n")
    (tmp_path / "ended").write_text(f"{begin}no completion\n2 ended with status 3\n3.1 connected\n3.2 traffic\n")
    told = same("legal", tmp_path / "whole", tmp_path / "ended")
    assert told.startswith("2 sequences differ; the first alone: sequences legal 2\n")
    assert "\n2.89 traffic\n" in told and told.endswith("\n2.1 connected\nno completion\n2 ended with status 3\n")
    assert "3.1" not in told
