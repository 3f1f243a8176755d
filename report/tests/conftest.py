# SPDX-License-Identifier: BSD-3-Clause
"""The shared parts of the report's tests: the command, and results written as files.

The command is the launcher of the build tree when ctest names it in RPMA_REPORT,
else the package in the source tree.
"""

import contextlib
import html
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


_SHOWN = 60  # characters on either side of the place that matters


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """A page in a comparison is cut to where it differs: whole it hides the failure."""
    if op not in ("==", "in", "not in") or max(len(v) if isinstance(v, str | bytes) else 0 for v in (left, right)) < 400:
        return None
    if op == "==" and isinstance(left, str | bytes) and type(left) is type(right):
        at = len(os.path.commonprefix([left, right]))  # type: ignore[type-var]
        begin = max(at - _SHOWN, 0)
        lines = [f"{len(v):,} long, there {v[begin : at + _SHOWN]!r}" for v in (left, right)]  # type: ignore[arg-type, index]
        return [f"equal up to place {at:,}:", *lines]
    return [_cut(left), op, _cut(right)]


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 400 else f"{text[:200]} ... {text[-100:]} ({len(text):,} long)"


@pytest.fixture
def command() -> Command:
    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), **options.pop("env", {})}
        line = [*START, *map(str, arguments)]
        return subprocess.run(
            line, capture_output=True, text=True, timeout=600, env=environment, **options
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


@pytest.fixture(autouse=True)
def _charts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing is most of the time that a page takes: in this process it is done for tests marked `drawn` alone.

    A shape in the mark is the only one drawn. One of those tests does not draw again what another has drawn:
    test_forms shows that it would be the same.
    """
    from rpma_report.draw import chart

    draw, mark = chart.draw, request.node.get_closest_marker("drawn")
    wanted = mark.args or ("wide", "narrow") if mark else ()

    def draw_once(figure: Any, shape: Any) -> str:
        key = repr((figure, shape))
        if key not in _drawn:
            _drawn[key] = draw(figure, shape)
        return _drawn[key]

    def outline(figure: Any, shape: Any) -> str:
        alt = html.escape(f"{figure.title}. {figure.alt}")
        return f'<svg class="{shape.name}" role="img" aria-label="{alt}" viewBox="0 0 1 1" data-axes="[]"></svg>'

    monkeypatch.setattr(chart, "draw", lambda figure, shape: (draw_once if shape.name in wanted else outline)(figure, shape))


@pytest.fixture
def page(quick: Command, write: Write, tmp_path: Path) -> Callable[..., str]:
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
