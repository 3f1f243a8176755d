# SPDX-License-Identifier: BSD-3-Clause
"""What librpmem and rpmemd have to do, in one setting: the cases of accept.c."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator

import pytest
from accepting import ACCEPT, Setting, setting


def cases() -> list[str]:
    wanted = bool(os.environ.get("RPMEM_LONG"))
    lines = subprocess.run([ACCEPT, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return [line.split()[0] for line in lines if line.endswith(" long") == wanted]


@pytest.fixture(scope="module")
def here() -> Iterator[Setting]:
    with setting(os.environ["RPMEM_SETTING"]) as one:
        yield one


@pytest.mark.parametrize("case", cases())
def test_case(here: Setting, case: str) -> None:
    done = here.run(case)
    if skipped := re.search(rf"^skip {case}: (.*)$", done.stdout, re.MULTILINE):
        pytest.skip(skipped[1])
    assert done.returncode == 0, done.stdout + here.logged()
    assert f"ok {case}\n" in done.stdout
