# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --check: what is durable by the platform, and a commit by an atomic write."""

from __future__ import annotations

import re
import subprocess

from programs import BUILT, HERE, LAUNCHER, Run


def committed(*options: str) -> Run:
    done = subprocess.run([LAUNCHER, *options, BUILT / "zoo_committed"], capture_output=True, text=True, timeout=600)
    return Run(done.returncode, done.stdout, done.stderr)


def test_a_read_is_a_flush_where_ddio_is_off() -> None:
    done = committed("--check", "-f", "powerfail:at=1000000000,ddio=off")
    assert (done.status, done.findings()) == (0, []), done


def test_a_read_is_no_flush_where_ddio_is_on() -> None:
    done = committed("--check")
    assert done.status == 99 and [finding.identity for finding in done.findings()] == ["not-durable"], done
    line = next(n for n, text in enumerate((HERE / "committed.c").read_text().splitlines(), 1) if "/* HERE */" in text)
    assert done.findings()[0].names(f"post committed.c:{line}") and done.findings()[0].names("visible only"), done.err
    assert re.search(r"(?m)^== rpma-soft: not-durable at .*: seen 16 times$", done.err), done.err
