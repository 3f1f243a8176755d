# SPDX-License-Identifier: BSD-3-Clause
"""rdma-core's own tests, which Debian has in its package of pyverbs: run on a device, and what becomes of each."""

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

TESTS = Path("/usr/share/doc/rdma-core/tests")
PYTHON = "/usr/bin/python3"  # Debian's, for which the package is
LIMIT_S = 900
TESTS_OF_44 = 273  # in the rdma-core of Debian 12, of which passes-on-rxe.txt is
# "test_x (tests.test_y.Z.test_x) ... ok"; or that, a line of what it tests, and the outcome behind it
OUTCOME = re.compile(r"(?m)^test_\w+ \(tests\.(\S+)\)(?:\n.*?)? \.\.\. (ok|ERROR|FAIL|skipped .*)$")

STARTED = re.compile(r"(?m)^test_\w+ \(tests\.(\S+)\)")


def without_rdma(folder: Path) -> dict[str, str]:
    """Where rdma(8) lists no link: it asks the kernel, which does not know the software device. Then /sys is read."""
    folder.mkdir()
    program = folder / "rdma"
    program.write_text("#!/bin/sh\necho '[]'\n")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def outcomes_of(device: str, scratch: Path, *launcher: str) -> tuple[dict[str, str], str]:
    """The outcome of each test, "test_y.Z.test_x", on this device; and all that was printed."""
    folder = Path(shutil.copytree(TESTS, scratch / "tests"))
    for packed in folder.glob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    done = subprocess.run(
        [*launcher, PYTHON, "-B", "-W", "ignore", folder / "run_tests.py", "-v", "--dev", device, "--port", "1"],
        capture_output=True, text=True, timeout=LIMIT_S, cwd=scratch,
        env=without_rdma(scratch / "bin") if launcher else None,
    )  # fmt: skip
    outcomes = dict(OUTCOME.findall(done.stderr))
    ran = re.search(r"(?m)^Ran (\d+) tests", done.stderr)
    assert ran is not None, f"status {done.returncode}: {done.stderr[-4000:]}"
    without = set(STARTED.findall(done.stderr)) - outcomes.keys()
    assert len(outcomes) == int(ran[1]), f"{ran[0]}, {len(outcomes)} outcomes, none of {sorted(without)}"
    return outcomes, done.stderr
