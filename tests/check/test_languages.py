# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --check and what programs are made of: C++, Python, libfabric, AddressSanitizer, ThreadSanitizer.

The programs are compiled here, as their users compile them: none is of a sanitized build.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
CC = os.environ["CHECK_CC"]
CXX = os.environ["CHECK_CXX"]  # empty, as the next: there is none
FABRIC = os.environ["CHECK_FABRIC"]
PYTHON = "/usr/bin/python3"
HEADING = re.compile(r"(?m)^== rpma-soft: ([a-z-]+): ")


def compiled(folder: Path, compiler: str, source: str, *flags: str) -> str:
    program = folder / "program"
    subprocess.run([compiler, HERE / source, "-o", program, *flags, "-libverbs"], check=True, timeout=300)
    return str(program)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LAUNCHER, "--check", *command], capture_output=True, text=True, timeout=300)


def line_of(source: str, mark: str) -> str:
    """As in a report: the file and the number of the line that ends with this comment."""
    path = HERE / source
    comments = (f"/* {mark} */", f"# {mark}")
    lines = path.read_text(encoding="utf-8").splitlines()
    return f"{path.name}:{next(number for number, line in enumerate(lines, 1) if line.endswith(comments))}"


def place(err: str, name: str) -> str:
    found = re.search(rf"(?m)^     {name} +(.*)$", err)
    assert found is not None, err
    return found[1]


@pytest.fixture
def cxx() -> str:
    if not CXX:
        pytest.skip("needs a C++ compiler")
    return CXX


@pytest.mark.parametrize("flags", [["-O0"], ["-O2"]], ids=" ".join)
def test_a_line_of_cxx_is_named(tmp_path: Path, cxx: str, flags: list[str]) -> None:
    done = run(compiled(tmp_path, cxx, "programs/writer.cpp", "-g", *flags))
    assert (done.returncode, HEADING.findall(done.stderr)) == (99, ["post-in-state"]), done.stderr
    frames = place(done.stderr, "posted at").split(" < ")
    assert frames[0] == f"post {line_of('programs/writer.cpp', 'HERE')}", done.stderr
    assert frames[1].endswith(line_of("programs/writer.cpp", "CALLED")), done.stderr
    assert frames[-1].startswith("main writer.cpp:"), done.stderr


def test_a_method_without_debug_information_has_its_name_of_the_source(tmp_path: Path, cxx: str) -> None:
    done = run(compiled(tmp_path, cxx, "programs/writer.cpp", "-O2", "-rdynamic"))
    assert place(done.stderr, "posted at").startswith("Writer::post() program+0x"), done.stderr


def needs_frames_of_python() -> None:
    """_Py_DumpTraceback() is a hidden symbol since Python 3.13."""
    words = [PYTHON, "-c", "import ctypes; ctypes.pythonapi._Py_DumpTraceback"]
    if subprocess.run(words, stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("this Python does not let its frames be read")


def test_a_line_of_python_is_named() -> None:
    needs_frames_of_python()
    done = run(PYTHON, str(HERE / "programs/script.py"))
    assert (done.returncode, HEADING.findall(done.stderr)) == (99, ["post-in-state", "double-destroy"]), done.stderr
    started = f"<module> {line_of('programs/script.py', 'STARTED')}"
    for name, inner, outer in [
        ("posted at", "post|POSTED", "POSTED FROM"),
        ("now at", "release|RELEASED", "RELEASED AGAIN"),
        ("before at", "release|RELEASED", "RELEASED FIRST"),
    ]:
        function, mark = inner.split("|")
        frames = [f"{function} {line_of('programs/script.py', mark)}", f"main {line_of('programs/script.py', outer)}"]
        assert place(done.stderr, name) == " < ".join([*frames, started]), done.stderr
    assert re.search(r"(?m)^     suppress with +post-in-state:post$", done.stderr), done.stderr


def test_a_function_of_python_can_be_suppressed(tmp_path: Path) -> None:
    needs_frames_of_python()
    (tmp_path / "s").write_text("post-in-state:main\ndouble-*:rel*\n", encoding="utf-8")
    words = f"--check=suppressions={tmp_path}/s"
    done = subprocess.run([LAUNCHER, words, PYTHON, str(HERE / "programs/script.py")],
                          capture_output=True, text=True, timeout=300)  # fmt: skip
    assert (done.returncode, HEADING.findall(done.stderr)) == (0, []), done.stderr
    assert "0 warnings, 2 suppressed," in done.stderr


def test_a_line_behind_libfabric_is_named(tmp_path: Path) -> None:
    if not FABRIC:
        pytest.skip("needs rdma/fabric.h")
    done = run(compiled(tmp_path, CC, "programs/regions.c", "-g", "-O2", "-lfabric"))
    if "no provider verbs" in done.stderr:
        pytest.skip("libfabric's provider verbs has no device here")
    assert (done.returncode, HEADING.findall(done.stderr)) == (0, ["growth"]), done.stderr
    assert place(done.stderr, "made at").endswith(f" < main {line_of('programs/regions.c', 'HERE')}"), done.stderr


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
@pytest.mark.parametrize(("mistake", "status", "found"), [("once", 99, ["post-in-state"]), ("none", 0, [])])
def test_a_program_with_a_sanitizer_is_checked(
    tmp_path: Path, sanitizer: str, mistake: str, status: int, found: list[str]
) -> None:
    program = compiled(tmp_path, CC, "mistake.c", "-g", "-O1", f"-fsanitize={sanitizer}")
    done = run(program, mistake, "return")
    assert "Sanitizer" not in done.stderr, done.stderr
    assert (done.returncode, HEADING.findall(done.stderr)) == (status, found), done.stderr
    if found:
        assert place(done.stderr, "posted at").startswith(f"post {line_of('mistake.c', 'HERE')} < "), done.stderr
