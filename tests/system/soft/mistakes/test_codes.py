# SPDX-License-Identifier: BSD-3-Clause
"""vendor_err of completions, and the reason that rpma-soft -v prints for a lost message."""

import os
import re
import subprocess

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
CODES = os.environ["SOFT_CODES"]
TRANSPORTS = {"local": "forced-remote", "tcp": "transport:tcp"}


def run(transport: str, *options: str, case: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RPMA_SOFT": TRANSPORTS[transport], "TRANSPORT": transport}
    if case is not None:
        environment |= {"RPMA_TEST_CASE": case, "FAULT": "yes"}
    done = subprocess.run([LAUNCHER, *options, CODES], env=environment, capture_output=True,
                          text=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_codes_and_losses(transport: str) -> None:
    done = run(transport, "-v")
    expected = re.findall(r"(?m)^expect: (.*)$", done.stdout)
    # datagrams, a write of an unreliable connection, and one between two path MTUs
    assert len(expected) == 5 + 1 + 1
    told = done.stderr.splitlines()
    assert [line for line in expected if line not in told] == [], done.stderr


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_fault_has_its_code(transport: str) -> None:
    run(transport, "-f", "complete:op=atomic,status=REM_ACCESS_ERR", case="fault_that_was_asked_for")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_drop_loses_datagrams_and_nobody_is_told(transport: str) -> None:
    run(transport, "-f", "drop:after=2", case="datagrams_after_a_drop")
