# SPDX-License-Identifier: BSD-3-Clause
"""scripts/lib/check_layers.py: which includes it refuses."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TABLE = "top: low < high\norder: low/base < low/more\norder: low/more < high\n"
FILES = {"low/base/a.h": "", "low/more/b.c": '#include "low/base/a.h"\n',
         "high/c.c": '#include "low/more/d.h"\n#include "low/base/a.h"\n', "low/more/d.h": ""}  # fmt: skip


def check(folder: Path, files: dict[str, str], table: str = TABLE) -> tuple[int, str]:
    for name, text in {**files, "layers.txt": table}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    done = subprocess.run([ROOT / "scripts/lib/check_layers.py", "layers.txt"], cwd=folder, capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_includes_that_run_down_pass(tmp_path: Path) -> None:
    assert check(tmp_path, FILES) == (0, "")


@pytest.mark.parametrize(("file", "text", "message"), [
    ("low/base/up.c", '#include "low/more/d.h"\n', "low/base may not include low/more/d.h"),
    ("low/more/up.c", '#include "high/e.h"\n', "low/more may not include high/e.h"),
    ("low/new/f.c", '#include "low/base/a.h"\n', "low/new is in no order"),
    ("high/g.c", '#include "low/none.h"\n', "is no path from the root"),
])  # fmt: skip
def test_an_include_that_runs_up_is_named(tmp_path: Path, file: str, text: str, message: str) -> None:
    status, output = check(tmp_path, FILES | {"high/e.h": "", file: text})
    assert status == 1 and output.startswith(f"{file}: ") and message in output
    assert len(output.splitlines()) == 1


@pytest.mark.parametrize(("line", "message"), [
    ("order: high < low/base", "order: high < low/base contradicts top:"),
    ("order: other", "not in top: other"), ("except: a -> b", "expected top: or order:, not except:")])
def test_a_table_that_contradicts_itself_is_refused(tmp_path: Path, line: str, message: str) -> None:
    status, output = check(tmp_path, FILES, TABLE + line + "\n")
    assert status == 1 and message in output


def test_the_header_of_a_library_is_one_of_its_folder(tmp_path: Path) -> None:
    table = TABLE.replace("top: low", "top: librpma < low < librpmem") + "order: librpma librpmem\n"
    allowed = FILES | {"low/base/h.c": "#include <librpma.h>\n", "librpmem/i.c": "#include <librpma.h>\n"}
    assert check(tmp_path, allowed, table) == (0, "")
    status, output = check(tmp_path, {"low/more/j.c": "#include <librpmem.h>\n"}, table)
    assert (status, output) == (1, "low/more/j.c: low may not include librpmem.h\n")
