# SPDX-License-Identifier: BSD-3-Clause
"""A failed test in a few lines: the case in it, the expected and the seen, how to run it alone.

Each kind of test prints its failures in a form of its own; KINDS has one reader for each. What
none recognises is shown by its last lines. The whole output is kept in a file.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import NamedTuple

LINES = 5  # about the expected and the seen
WIDTH = 160


class Failure(NamedTuple):
    case: str
    lines: list[str]
    again: str = ""  # replaces {ctest}: the whole test of ctest by itself


def _cut(lines: list[str]) -> list[str]:
    lines = [" ".join(line.split()) for line in lines if line.strip()]
    return [line if len(line) <= WIDTH else f"{line[:WIDTH - 3]}..." for line in lines[:LINES]]


SANITIZER = re.compile(r"(ERROR: (?:Address|Leak)Sanitizer: .*|WARNING: ThreadSanitizer: .*"
                       r"|^\S+:\d+:\d+: runtime error: .*|^==\d+== (?:Invalid|Conditional|Use of|Syscall|.*lost).*)",
                       re.MULTILINE)
FRAME = re.compile(r"(?:#\d+ 0x\w+ in|#\d+|==\d+==    (?:at|by) 0x\w+:) (\S+) .*?(\S+\.[ch]:\d+)")


def sanitizer(test: str, output: str) -> Failure | None:
    found = SANITIZER.search(output)
    if not found:
        return None
    frames = [f"in {name} {place}" for name, place in FRAME.findall(output, found.start())]
    return Failure("", _cut([found[1], *frames[:3]]))


CMOCKA = re.compile(r"^\[ RUN      \] (?P<case>\S+)$(?P<seen>(?:(?!^\[ RUN ).)*?)^\[  (?:FAILED|ERROR )  \] (?P=case)$",
                    re.MULTILINE | re.DOTALL)


def cmocka(test: str, output: str) -> Failure | None:
    found = CMOCKA.search(output)
    if not found:
        return None
    seen = [re.sub(r"^\[ *(?:ERROR|LINE) *\] (?:--- )?", "", line) for line in found["seen"].splitlines()]
    case = found["case"]
    return Failure(case, _cut(seen), f"RPMA_TEST_CASE={case} {{ctest}}")


PYTEST = re.compile(r"^_+ (?P<case>[^\n]+?) _+$(?P<body>.*?)(?=^_+ [^\n]+ _+$|^={3,} |\Z)", re.MULTILINE | re.DOTALL)


def pytest(test: str, output: str) -> Failure | None:
    found = PYTEST.search(output)
    if not found:
        return None
    places = re.findall(r"^(\S+\.py:\d+): ", found["body"], re.MULTILINE)
    seen = [line[2:] for line in found["body"].splitlines() if line.startswith("E ")]
    seen = [line for line in seen if not re.match(r" *\+  (?:where|and) ", line)]
    case = found["case"].removeprefix("ERROR at setup of ")
    name = case.partition("[")[0].split(".")[-1].split(" ")[-1]
    return Failure(f"{case} at {places[-1] if places else '?'}", _cut(seen),
                   f"PYTEST_ADDOPTS='-k {name}' {{ctest}}")


TRANSCRIPT = re.compile(r"^(?P<at>\S+\.transcript:(?P<line>\d+)): (?P<command>\$ .*)$", re.MULTILINE)


def transcript(test: str, output: str) -> Failure | None:
    found = TRANSCRIPT.search(output)
    if not found:
        return None
    seen = output[found.end():].partition("\n\n")[0].partition("--- stdout")[0].splitlines()
    return Failure(f"{found['at'].rpartition('/')[2]} {found['command']}", _cut(seen),
                   f"TRANSCRIPT_LINE={found['line']} {{ctest}}")


NOT_OK = re.compile(r"^(?P<indent>\s*)not ok (?P<case>\S.*)$", re.MULTILINE)


def listed(test: str, output: str) -> Failure | None:
    """A line `not ok NAME` of a guest or of a shell script, with the innermost one below it."""
    first = NOT_OK.search(output)
    if not first:
        return None
    inner = [match for match in NOT_OK.finditer(output) if len(match["indent"]) > len(first["indent"])]
    seen = [f"not ok {match['case']}" for match in inner[:1]]
    body = output[first.end():]
    end = re.search(r"^(?:ok|not ok|skip) ", body, re.MULTILINE)
    seen += [line for line in body[:end.start() if end else None].splitlines() if line.strip()][-3:]
    guest = test.removeprefix("guest.")
    name = first["case"].partition(" (")[0]
    again = f"RPMA_BUILD_DIR=$PWD/build/release tests/vm/boot_and_test {guest} {shlex.quote(name)}"
    return Failure(first["case"], _cut(seen), again if guest != test else "")


MUTATION = re.compile(r"^(?:.*/)?mutate_(?P<subject>\w+): (?P<seen>.*); again: (?P<again>.*)$", re.MULTILINE)
LIBFUZZER = re.compile(r"^.*(SUMMARY: .*|Test unit written to .*)$", re.MULTILINE)


def fuzz(test: str, output: str) -> Failure | None:
    found = MUTATION.search(output)
    if found:
        problem = sanitizer(test, output)
        return Failure(found["subject"], _cut([found["seen"], *(problem.lines if problem else [])]), found["again"])
    written = LIBFUZZER.findall(output)
    return Failure("", _cut(written)) if written else None


def last_lines(test: str, output: str) -> Failure:
    return Failure("", _cut([line for line in output.splitlines() if line.strip()][-LINES:]))


KINDS: tuple[Callable[[str, str], Failure | None], ...] = (fuzz, sanitizer, transcript, pytest, cmocka, listed)


def of_output(test: str, output: str) -> Failure:
    for kind in KINDS:
        if found := kind(test, output):
            return found
    return last_lines(test, output)


def lines(tree: str, test: str, output: str) -> list[str]:
    """The lines that are printed of a failed test below its name."""
    failure = of_output(test, output)
    ctest = f"ctest --test-dir build/{tree} -V -R '^{re.escape(test)}$'"
    again = failure.again.replace("{ctest}", ctest) or ctest
    return [*([failure.case] if failure.case else []), *failure.lines, f"again: {again}"]
