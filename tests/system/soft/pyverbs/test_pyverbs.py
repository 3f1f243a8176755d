# SPDX-License-Identifier: BSD-3-Clause
"""pyverbs on the software device: its example, and the tests that Debian's package has of rdma-core."""

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
EXAMPLE = Path("/usr/share/doc/python3-pyverbs/examples/ib_devices.py")
TESTS = Path("/usr/share/doc/rdma-core/tests")
PYTHON = "/usr/bin/python3"  # Debian's, for which the package is
LIMIT_S = 600
PASS_AT_LEAST = 90  # rdma-core 44 has 273; the most need a device of Mellanox or Amazon
# a test that fails where it would have to skip, and what the device lacks
FAILING = {
    "test_imported_rc_ex_rdma_write": "objects that another process imports",
}
# "name (tests.x) ... ok"; or the name, a line of what it tests, and the outcome behind that
OUTCOME = re.compile(r"(?m)^(test_\w+) \(.*?\)(?:\n.*?)? \.\.\. (ok|ERROR|FAIL|skipped .*)$")

if not EXAMPLE.exists():
    pytest.skip("no pyverbs here", allow_module_level=True)


def run(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LAUNCHER, PYTHON, "-B", *words], capture_output=True, text=True, timeout=LIMIT_S, cwd=cwd)


def test_the_example_lists_the_devices() -> None:
    done = run(EXAMPLE)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"(?m)^ +soft0 +CA +IB ", done.stdout), done.stdout


def test_tests_of_rdma_core(tmp_path: Path) -> None:
    if not TESTS.exists():
        pytest.skip("the package has no tests of rdma-core here")
    folder = Path(shutil.copytree(TESTS, tmp_path / "tests"))
    for packed in folder.glob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    done = run(folder / "run_tests.py", "-v", "--dev", "soft0", "--port", "1", cwd=tmp_path)
    outcomes = OUTCOME.findall(done.stderr)
    ran = re.search(r"(?m)^Ran (\d+) tests", done.stderr)
    assert ran is not None and len(outcomes) == int(ran[1]), done.stderr
    skips: dict[str, int] = {}
    for _, outcome in outcomes:
        skips[outcome] = skips.get(outcome, 0) + 1
    for outcome, count in sorted(skips.items(), key=lambda item: -item[1]):
        print(f"{count:4} {outcome}")
    assert {name for name, outcome in outcomes if outcome in ("ERROR", "FAIL")} <= set(FAILING), done.stderr
    assert skips["ok"] >= PASS_AT_LEAST
