# SPDX-License-Identifier: BSD-3-Clause
"""What all tests of the report use: the command, and results written as files.

The command is the launcher of the build tree when ctest names it in RPMA_REPORT,
else the package in the source tree.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from devtools import Browser

SOURCE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE))

_LAUNCHER = os.environ.get("RPMA_REPORT")
START = [_LAUNCHER] if _LAUNCHER else [sys.executable, "-m", "rpma_report"]

Command = Callable[..., subprocess.CompletedProcess[str]]
Page = Callable[..., str]
Write = Callable[..., Path]


@pytest.fixture
def command() -> Command:
    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), **options.pop("env", {})}
        line = [*START, *map(str, arguments)]
        return subprocess.run(
            line, capture_output=True, text=True, timeout=120, env=environment, **options
        )

    return run


@pytest.fixture
def quick(capfd: pytest.CaptureFixture[str]) -> Command:
    """The same in this process: for tests that need no process of its own."""
    from rpma_report import cli

    def run(*arguments: object, cwd: Path = Path()) -> subprocess.CompletedProcess[str]:
        capfd.readouterr()
        line = list(map(str, arguments))
        with contextlib.chdir(cwd):
            try:
                code = cli.main(line)
            except SystemExit as ended:  # by argparse
                code = int(ended.code or 0)
        said = capfd.readouterr()
        return subprocess.CompletedProcess(line, code, said.out, said.err)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a document, or bytes as they are, and gives the path."""

    def write_file(content: Any, name: str = "result.json") -> Path:
        path = tmp_path / name
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        path.write_bytes(data)
        return path

    return write_file


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One for all tests: a start takes seconds."""
    started = Browser(tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


_drawn: dict[str, str] = {}


@pytest.fixture
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart that an earlier test drew is not drawn again: test_forms and test_output show that it would be the same."""
    from rpma_report.draw import chart

    draw = chart.draw

    def draw_once(figure: Any, shape: Any) -> str:
        key = repr((figure, shape))
        if key not in _drawn:
            _drawn[key] = draw(figure, shape)
        return _drawn[key]

    monkeypatch.setattr(chart, "draw", draw_once)


@pytest.fixture
def page(quick: Command, write: Write, tmp_path: Path, drawn_once: None) -> Callable[..., str]:
    """The page made from documents."""

    def make(*documents: Any) -> str:
        paths = [write(d, f"result{i}.json") for i, d in enumerate(documents)]
        done = quick("create", *paths, "-o", tmp_path / "report.html")
        assert (done.returncode, done.stderr) == (0, "")
        return (tmp_path / "report.html").read_text(encoding="utf-8")

    return make


def refused(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Exit code 2 and exactly one line that has all the parts."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1 and len(done.stderr) < 600, done.stderr
    assert done.stderr.startswith("rpma-report: ")
    for part in parts:
        assert part in done.stderr
