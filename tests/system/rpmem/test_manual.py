# SPDX-License-Identifier: BSD-3-Clause
"""rpmemd(1), librpmem(7) and poolset(5) have what the programs have, and their examples work."""

import os
import re
import subprocess
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DAEMON = os.environ["RPMEMD"]
LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
LIBRARY = Path(os.environ["RPMEM_LIBRARY"])
COUNTER = os.environ["RPMEM_COUNTER"]
RPMEMD_1 = (ROOT / "doc/rpmemd.1").read_text(encoding="utf-8")
LIBRPMEM_7 = (ROOT / "doc/librpmem.7").read_text(encoding="utf-8")
POOLSET_5 = (ROOT / "doc/poolset.5").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples/rpmem/create.c"
LIMIT_S = 300


def section(page: str, title: str) -> str:
    return page.partition(f"\n.Sh {title}\n")[2].partition("\n.Sh ")[0]


def displays(text: str) -> list[str]:
    """The literal blocks, as a reader sees them."""
    found = re.findall(r"^\.Bd -literal.*\n((?:.*\n)*?)\.Ed$", text, re.MULTILINE)
    return [re.sub(r"^\\&", "", block, flags=re.MULTILINE).replace("\\e", "\\") for block in found]


def daemon(*words: str, home: Path | None = None, **changed: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOME": str(home or "/nonexistent"), **changed}
    return subprocess.run([DAEMON, *words], capture_output=True, text=True, timeout=LIMIT_S, env=environment,
                          stdin=subprocess.DEVNULL)  # fmt: skip


# --- rpmemd(1) ---


def test_options_are_those_of_the_help() -> None:
    text = daemon("--help").stdout.partition("\n\n")[2]
    in_help = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", text, re.MULTILINE))
    in_page = set(re.findall(r"^\.It Fl (?:\w , )?-([a-z-]+)", RPMEMD_1, re.MULTILINE))
    assert in_help == in_page


def test_keys_are_those_of_the_daemon() -> None:
    table = (ROOT / "tools/rpmemd/config.c").read_text(encoding="utf-8").partition("keys[] = {")[2]
    in_code = re.findall(r'\{"([a-z-]+)", take_', table)
    in_page = re.findall(r"^\.It Cm (\S+)", section(RPMEMD_1, "CONFIGURATION"), re.MULTILINE)
    assert sorted(in_code) == sorted(in_page)


def test_methods_name_every_verdict() -> None:
    header = (ROOT / "readiness/readiness.h").read_text(encoding="utf-8")
    in_code = re.findall(r"^\tVERDICT_(\w+),", header, re.MULTILINE)
    table = section(RPMEMD_1, "METHODS").partition(".TS\n")[2].partition(".TE\n")[0]
    in_page = [line.split("\t")[3] for line in table.splitlines() if line.startswith("RDMA\tyes\tPMem")]
    assert sorted(in_page) == sorted(in_code)


def test_example_configuration_is_accepted(tmp_path: Path) -> None:
    text = next(block for block in displays(RPMEMD_1) if "persist-apm = yes" in block)
    (tmp_path / "conf").write_text(text)
    done = daemon("--check", "-c", str(tmp_path / "conf"), "--poolset-dir", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "persist-apm: yes" in done.stdout


def test_check_prints_what_the_example_shows(tmp_path: Path) -> None:
    shown = next(block for block in displays(RPMEMD_1) if "--check --poolset-dir" in block)
    (tmp_path / "c.set").write_text(f"PMEMPOOLSET\n8M {tmp_path}/c\n")
    done = daemon("--check", "--poolset-dir", str(tmp_path))
    assert done.returncode == 1
    heads = [re.split(r"(?<=:) | below ", line)[0] for line in done.stdout.splitlines()]
    assert [head for head in heads if head not in shown] == []
    assert f"  c.set: not created yet, or a part is missing: cannot open the part {tmp_path}/c: No such file or directory" in done.stdout


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--frobnicate"], 64),
        (["--check", "--config", "/nonexistent"], 2),
        (["--check", "--poolset-dir", "/"], 0),
        (["--remove", "missing.set", "--poolset-dir", "/tmp", "--log-file", "/dev/null"], 2),
        (["--remove", "../x", "--poolset-dir", "/tmp", "--log-file", "/dev/null"], 22),
        (["--config", "/nonexistent"], 1),
    ],
)
def test_exit_status(words: list[str], status: int, tmp_path: Path) -> None:
    if words[-1] == "/":
        words = [*words[:-1], str(tmp_path)]
    done = daemon(*words)
    assert done.returncode == status, done.stderr
    assert f"\n.It {status}\n" in section(RPMEMD_1, "EXIT STATUS")
    if "--remove" in words:
        assert done.stdout == "" and len(done.stderr.splitlines()) == 1


# --- librpmem(7) ---


def test_variables_are_those_of_the_library() -> None:
    sources = (ROOT / "librpmem/src").glob("*.c")
    in_code = {name for path in sources for name in re.findall(r'"(RPMEM_[A-Z_]+)"', path.read_text())}
    in_page = set(re.findall(r"^\.It Ev (RPMEM_\w+)$", section(LIBRPMEM_7, "ENVIRONMENT"), re.MULTILINE))
    assert in_page == in_code


def test_example_is_the_file() -> None:
    assert EXAMPLE.read_text() in displays(LIBRPMEM_7)


def rendered_example() -> str:
    """What a reader copies from a terminal."""
    words = ["mandoc", "-T", "utf8", "-O", "width=130", str(ROOT / "doc/librpmem.7")]
    page = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    plain = re.sub(".\b", "", page)
    begin, end = plain.index("/* SPDX"), plain.index("\n\n     To try it on one host")
    return textwrap.dedent(" " * 11 + plain[begin:end])


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """No ssh server is needed; the target is this host."""
    return {
        **os.environ,
        "RPMEM_SSH": str(ROOT / "examples/rpmem/ssh-here"),
        "RPMEM_CMD": f"{DAEMON} --poolset-dir={tmp_path} --log-file={tmp_path}/log",
        "LD_LIBRARY_PATH": str(LIBRARY.parent),
    }


@pytest.mark.parametrize("transport", ["soft", "tcp"])
def test_example_compiles_from_the_page_and_runs(transport: str, tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "copied.c").write_text(rendered_example())
    compiler = ["cc", "-Wall", "-Werror", "-o", tmp_path / "copied", tmp_path / "copied.c"]
    subprocess.run([*compiler, f"-I{ROOT}/librpmem/include", str(LIBRARY)], check=True)
    (tmp_path / "pool.set").write_text(f"PMEMPOOLSET\nOPTION NOHDRS\n32M {tmp_path}/part\n")
    launched = [LAUNCHER] if transport == "soft" else []
    variables = {} if transport == "soft" else {"RPMEM_ENABLE_VERBS": "0", "RPMEM_ENABLE_SOCKETS": "1"}
    done = subprocess.run([*launched, tmp_path / "copied"], env={**environment, **variables}, capture_output=True,
                          text=True, timeout=LIMIT_S)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "part").read_bytes() == b"x" * (32 << 20)


def test_counter_goes_on_where_it_was_killed(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "pool.set").write_text(f"PMEMPOOLSET\n8M {tmp_path}/part\n")
    process = subprocess.Popen([LAUNCHER, COUNTER, "create", "localhost", "pool.set"], env=environment,
                               stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdout
    printed = [process.stdout.readline() for _ in range(50)]
    process.kill()
    printed += process.stdout.read().splitlines()  # communicate() forgets what readline() read ahead
    process.wait(LIMIT_S)
    last = int(printed[-1])
    done = subprocess.run([LAUNCHER, COUNTER, "open", "localhost", "pool.set", "2"], env=environment,
                          capture_output=True, text=True, timeout=LIMIT_S)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    found = int(done.stdout.split()[1])
    assert done.stdout == f"found {found}\n{found + 1}\n{found + 2}\n"
    assert last <= found <= last + 1


# --- poolset(5) ---


def example_sets() -> list[str]:
    return [block for block in displays(POOLSET_5) if "REPLICA" not in block and "/dev/dax" not in block]


@pytest.mark.parametrize("text", example_sets(), ids=["two-files", "no-headers"])
def test_example_sets_parse(text: str, tmp_path: Path) -> None:
    """All that is wrong with them is that nothing was created."""
    (tmp_path / "pool.set").write_text(re.sub(r" /\S+/", f" {tmp_path}/", text))
    done = daemon("--check", "--poolset-dir", str(tmp_path))
    assert "pool.set: not created yet, or a part is missing: cannot open the part" in done.stdout
