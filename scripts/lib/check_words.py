#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail on a phrase that readers should not have to decipher: check_words.py LIST, in the root.

    path: PATTERN                    files to read, by Path.glob
    help: COMMAND                    a command whose output to read
    word: REGEX -> INSTEAD           a phrase, and what to write; a blank is any white space,
                                     over the lines of a comment or of a string too
    in: FOLDER...: REGEX -> INSTEAD  the same, for the files below these folders
    except: SOURCE: TEXT  # REASON   a phrase that stays: TEXT around it in that file or output

An exception that no text needs is an error too.
"""

import re
import subprocess
import sys
from pathlib import Path


BLANK = r"""(?:\s+(?:[*#]\s+)?|\s*["']\s+[fr]?["']\s*)"""


def read_list(path: str) -> dict[str, list[str]]:
    entries: dict[str, list[str]] = {"path": [], "help": [], "word": [], "in": [], "except": []}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, _, value = line.partition(": ")
            entries[kind].append(value)
    return entries


def output(command: str) -> str:
    try:
        return subprocess.check_output(command.split(), text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"check_words.py: {command}: {error}; build the release preset first")


def texts(entries: dict[str, list[str]]) -> dict[str, str]:
    files = [file for pattern in entries["path"] for file in sorted(Path().glob(pattern))
             if file.is_file()]
    found = {str(file): file.read_text(encoding="utf-8") for file in files}
    return found | {command: output(command) for command in entries["help"]}


def compiled(word: str, *folders: str) -> tuple[re.Pattern[str], str, tuple[str, ...]]:
    regex, _, instead = word.partition(" -> ")
    return re.compile(regex.replace(" ", BLANK), re.IGNORECASE), instead, folders


def main() -> int:
    entries = read_list(sys.argv[1])
    words = [compiled(word, "") for word in entries["word"]]
    for names, _, listed in (entry.partition(": ") for entry in entries["in"]):
        words.append(compiled(listed, *(f"{name}/" for name in names.split())))
    unused = {tuple(entry.partition("  # ")[0].split(": ", 1)) for entry in entries["except"]}
    wrong = 0
    for source, text in texts(entries).items():
        for word, instead, folders in words:
            for match in word.finditer(text) if source.startswith(folders) else ():
                around = " ".join(text[max(0, match.start() - 60):match.end() + 60].split())
                excused = {entry for entry in unused if entry[0] == source and entry[1] in around}
                unused -= excused
                if not excused:
                    line = text.count("\n", 0, match.start()) + 1
                    print(f"{source}:{line}: '{' '.join(match[0].split())}': write {instead}")
                    wrong += 1
    for entry in unused:
        print(f"no text needs the exception: {': '.join(entry)}")
    return 1 if wrong or unused else 0


if __name__ == "__main__":
    sys.exit(main())
