# SPDX-License-Identifier: BSD-3-Clause
"""Options, usage errors and the version."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sample
from conftest import SOURCE, START, Command, Write
from rpma_report import __version__


@pytest.mark.parametrize(
    "arguments, part",
    [(("shred",), "invalid choice: 'shred'"), (("create",), "RESULT"),
     (("create", "a.json"), "-o"), (("create", "a.json", "-o"), "expected one argument"),
     (("create", "a.json", "-o", "b", "--shine"), "--shine"), (("--shine",), "--shine"),
     ((), "expected a command: create, compare, history, validate, verify or study")],
)  # fmt: skip
def test_wrong_usage_is_one_line_and_64(arguments: tuple[str, ...], part: str, quick: Command) -> None:
    done = quick(*arguments)
    assert done.returncode == 64 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and part in done.stderr


def test_version_is_that_of_the_project(command: Command) -> None:
    expected = os.environ.get("RPMA_VERSION", __version__)
    assert command("--version").stdout == command("-V").stdout == f"rpma-report {expected}\n"


def test_a_start_without_files_loads_no_large_module() -> None:
    """The first line of --help takes four times as long with them."""
    said = "import sys; from rpma_report import cli; print({'jinja2', 'jsonschema', 'matplotlib', 'numpy', 'scipy'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SOURCE)})
    assert (done.stdout, done.stderr) == ("set()\n", "")


def test_needs_no_home_to_write_to(command: Command, write: Write, tmp_path: Path) -> None:
    env = {"HOME": "/proc", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "MPLCONFIGDIR": ""}
    done = command("create", write(sample.result([])), "-o", tmp_path / "out.html", env=env)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_ends_it_without_a_page(number: signal.Signals, code: int, tmp_path: Path) -> None:
    fifo = tmp_path / "result.json"
    os.mkfifo(fifo)
    line = [*START, "create", fifo, "-o", tmp_path / "out.html"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=environment) as process:
        writer = os.open(fifo, os.O_WRONLY)  # returns once the program is reading
        process.send_signal(number)
        _, stderr = process.communicate(timeout=300)
        os.close(writer)
    assert (process.returncode, stderr) == (code, "")
    assert not (tmp_path / "out.html").exists()
