# SPDX-License-Identifier: BSD-3-Clause
"""Runs a transcript: what a user types, and what they must see.

A file holds blocks, separated by empty lines. They run in order in one new folder:

	# why this matters
	$ a command for bash; a line that begins with two spaces continues it
	= exit status
	> words in standard output          >~ a regular expression there          >- words not there
	! words in standard error           !~ a regular expression there          !- words not there

The built tools are on PATH. SERVER_PORT has an rpma-bench server and PING_PORT an rpma-ping
server, both on 127.0.0.1 and the software device. first.json is the result of a short run.
SOURCE is the source tree. TRANSCRIPT_LINE=N in the environment stops behind the block of that
line and judges it alone; those before it run, as it may need what they leave.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ["RPMA_BUILD_DIR"])
LIMIT_S = 300
BLOCK_LIMIT = 64


@dataclass
class Invocation:
    line: int
    command: str = ""
    status: int | None = None
    expected: list[tuple[str, str]] = field(default_factory=list)


def read(path: Path) -> Iterator[Invocation]:
    current: Invocation | None = None
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        sign, _, rest = line.partition(" ")
        if not line.strip():
            if current is not None:
                yield complete(current, path)
            current = None
        elif sign == "$":
            current = Invocation(number, rest)
        elif sign.startswith("#"):
            continue
        elif current is None:
            raise SystemExit(f"{path}:{number}: expected a line that begins with $, not {line!r}")
        elif line.startswith("  "):
            current.command += " " + line.strip()
        elif sign == "=":
            current.status = int(rest)
        elif sign in (">", ">~", ">-", "!", "!~", "!-"):
            current.expected.append((sign, rest))
        else:
            raise SystemExit(f"{path}:{number}: expected $, =, >, ! or #, not {line!r}")


def complete(invocation: Invocation, path: Path) -> Invocation:
    if invocation.status is None:
        raise SystemExit(f"{path}:{invocation.line}: expected a line with =")
    return invocation


shown: list[str] = []  # what the last invocation printed


def differences(invocation: Invocation, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    try:
        done = subprocess.run(["bash", "-c", invocation.command], cwd=folder, env=environment, timeout=LIMIT_S,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)  # fmt: skip
    except subprocess.TimeoutExpired:
        yield f"still running after {LIMIT_S} s"
        return
    if done.returncode != invocation.status:
        yield f"exit status {done.returncode}, expected {invocation.status}"
    for sign, words in invocation.expected:
        name, text = ("stdout", done.stdout) if sign[0] == ">" else ("stderr", done.stderr)
        found = re.search(words, text, re.MULTILINE) if sign.endswith("~") else words in text
        if bool(found) == sign.endswith("-"):
            yield f"{name} {'has' if found else 'lacks'} {words!r}"
    shown.append(f"--- stdout\n{done.stdout[-2000:]}--- stderr\n{done.stderr[-2000:]}")


@contextmanager
def server(environment: dict[str, str], folder: Path, *command: str) -> Iterator[str]:
    """Its port."""
    process = subprocess.Popen([*command, "--port", "0", "--device", "soft"], cwd=folder, env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
    try:
        assert process.stdout is not None
        seen = ""
        for line in process.stdout:
            seen += line
            if port := re.search(r"\bport (\d+)", line):
                yield port[1]
                return
        raise SystemExit(f"{command[0]} ended before it printed its port:\n{seen}")
    finally:
        process.terminate()
        process.wait(LIMIT_S)


def environment_of(folder: Path) -> dict[str, str]:
    programs = folder / "bin"
    programs.mkdir()
    for tool in ("rpma-bench", "rpma-ping", "rpma-ddio-check", "rpmemd"):
        (programs / tool).symlink_to(BUILD / f"tools/{tool}/{tool}")
    (programs / "rpma-fio-check").symlink_to(BUILD / "fio_engine/rpma-fio-check")
    (programs / "rpma-soft").symlink_to(BUILD / "soft_device/rpma-soft")
    (programs / "rpma-report").symlink_to(BUILD / "bin/rpma-report")
    return {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": f"{BUILD / 'fio_engine'}:{BUILD / 'librpmem'}",
        "RPMA_SOFT_LAUNCHER": str(BUILD / "soft_device/rpma-soft"),
        "SOURCE": str(ROOT),
        "BUILD": str(BUILD),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "80",
    }


def main(path: Path) -> int:
    only = int(os.environ.get("TRANSCRIPT_LINE", "0"))
    invocations = [one for one in read(path) if not only or one.line <= only]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = environment_of(folder)
        with (
            server(environment, folder, "rpma-bench", "server", "--target", "dram:1M") as bench,
            server(environment, folder, "rpma-ping", "--server") as ping,
        ):
            environment |= {"SERVER_PORT": bench, "PING_PORT": ping}
            subprocess.run(["rpma-bench", "client", "127.0.0.1", "--port", bench, "--device", "soft", "--size", "64,4K",
                            "--ops", "2000", "--repeats", "2", "--warmup", "0", "--quiet", "-o", "first.json"],
                           cwd=folder, env=environment, check=True, timeout=LIMIT_S)  # fmt: skip
            for invocation in invocations:
                shown.clear()
                wrong = list(differences(invocation, folder, environment))
                if wrong and only in (0, invocation.line):
                    failed += 1
                    print(f"{path}:{invocation.line}: $ {invocation.command}", *wrong, *shown, "", sep="\n")
    print(f"{len(invocations)} invocations, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
