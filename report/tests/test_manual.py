# SPDX-License-Identifier: BSD-3-Clause
"""The manual page knows every option and exit code, and mandoc finds no fault."""

import re
import shutil
import subprocess

import pytest

from conftest import SOURCE, Command

PAGE = SOURCE.parent / "doc/rpma-report.1"


def test_every_option_is_in_the_manual(quick: Command) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for arguments in ((), ("create",), ("compare",), ("validate",), ("verify",), ("history",), ("study",)):
        done = quick(*arguments, "--help")
        assert (done.returncode, done.stderr) == (0, "") and "usage: rpma-report" in done.stdout
        for option in re.findall(r"--([a-z-]+)", done.stdout):
            assert f"Fl -{option}" in text


def test_mandoc_is_quiet() -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("no mandoc")
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", PAGE], capture_output=True, text=True, timeout=60)
    assert done.stdout + done.stderr == ""
