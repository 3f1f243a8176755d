# SPDX-License-Identifier: BSD-3-Clause
"""The unit of rpma-security(7), as systemd reads it, for each server that the manual names."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MANUAL = (Path(os.environ["RPMA_SOURCE_DIR"]) / "doc/rpma-security.7").read_text(encoding="utf-8")
EXPOSED_AT_MOST = 60  # 100 is the worst; a unit which confines nothing has 96


def unit() -> str:
    found = re.search(r"^\[Service\]\n.*?(?=^\.Ed)", MANUAL, re.MULTILINE | re.DOTALL)
    assert found
    return found[0].replace("\\e", "\\")


def commands() -> list[str]:
    """The command of the unit, and those to be put in its place."""
    own = re.search(r"^ExecStart=((?:.*\\\n)*.*)$", unit(), re.MULTILINE)
    assert own
    others = re.findall(r"^\.Ql ((?:rpma-ping|fio) .*)$", MANUAL, re.MULTILINE)
    assert len(others) == 2
    return [own[1], *(f"/usr/bin/{other}" for other in others)]


@pytest.mark.parametrize("command", commands())
def test_systemd_takes_the_unit(command: str, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here")
    start = re.sub(r"/usr/bin/\S+", shutil.which("true") or "", command, count=1)
    text = re.sub(r"^ExecStart=(?:.*\\\n)*.*$", lambda _: f"ExecStart={start}", unit(), flags=re.MULTILINE)
    file = tmp_path / "server.service"
    file.write_text(f"[Unit]\nDescription=a server\n{text}")
    done = subprocess.run(["systemd-analyze", "verify", file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    words = ["systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSED_AT_MOST}", file]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
