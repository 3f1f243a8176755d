# SPDX-License-Identifier: BSD-3-Clause
"""The options of a program, read from its --help as glibc's argp prints it, and
what can be said of their values: the words that a row lists, or files, hosts."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field

_ROW = re.compile(r"^ {2,6}(-\S(?:, --?\S+)*|--\S+(?:, --?\S+)*)(?:\s+(\S.*))?$")
_TEXT = re.compile(r"^ {20,}(\S.*)$")
_WORD = r"[a-z][a-z0-9-]*"
_CHOICE = re.compile(rf"({_WORD}(?:, {_WORD})* or {_WORD})")


@dataclass
class Option:
    names: list[str]
    argument: str  # as in the help, "" if there is none
    help: str
    choices: list[str] = field(default_factory=list)  # where the table has them as such

    @property
    def optional(self) -> bool:
        return self.argument.startswith("[=")

    @property
    def is_list(self) -> bool:
        return "," in self.argument or bool(re.fullmatch(r"[A-Z]{2,}S", self.argument))

    @property
    def repeats(self) -> bool:
        return "may be repeated" in self.help

    def values(self) -> list[str]:
        """The words that its value may be; one that ends with : is followed by more."""
        if self.choices or not self.argument:
            return self.choices
        if self.optional:
            return re.findall(_WORD, self.argument)
        if "|" in self.argument:
            more = ":" if re.search(r":[A-Z]+$", self.argument) else ""
            words = re.sub(r":[A-Z]+$", "", self.argument).split("|")
            return [word + more for word in words if re.fullmatch(_WORD, word)]
        return self._values_in_help()

    def _values_in_help(self) -> list[str]:
        """"a, b or c (a)", "a: text; b: text; c (a)", and "a:SIZE, b:SIZE"."""
        default = re.search(rf"\(({_WORD})\)$", self.help)
        if default:
            lists = [re.split(r", | or ", found) for found in _CHOICE.findall(self.help)]
            rows = [re.match(_WORD, part) for part in self.help.split("; ")]
            lists.append([row[0] for row in rows if row])
            for words in lists:
                if default[1] in words and len(words) > 1:
                    return words
        return list(dict.fromkeys(re.findall(rf"\b({_WORD}:)[A-Z]{{2,}}", self.help)))

    @property
    def kind(self) -> str:
        """The kind of its other values: files, directories, hosts, devices, or "" if unknown."""
        words = re.findall(r"[A-Z]+", self.argument)
        if "--device" in self.names and "NAME" in words:
            return "devices"
        if "TARGET" in words:
            words += re.findall(r"\bPATH\b", self.help)
        for word, kind in (("DIR", "directories"), ("HOST", "hosts"), ("FILE", "files"), ("PATH", "files")):
            if word in words:
                return kind
        return ""


@dataclass
class Command:
    name: str  # "" if the program has no commands
    help: str
    options: list[Option]
    operand: str  # files, hosts, command, or ""


@dataclass
class Program:
    name: str
    commands: list[Command]
    options: list[Option]  # those before the command


def _options(text: str) -> list[Option]:
    found: list[Option] = []
    for line in text.partition("\n\n")[2].splitlines():
        row = _ROW.match(line)
        if row:
            names, argument = [], ""
            for name in row[1].split(", "):
                long_name, _, rest = re.sub(r"\[=", "=[=", name, count=1).partition("=")
                names.append(long_name)
                argument = rest or argument
            found.append(Option(names, argument, row[2] or ""))
        elif found and (more := _TEXT.match(line)):
            found[-1].help = f"{found[-1].help} {more[1]}".strip()
    return found


def _usages(text: str) -> list[list[str]]:
    """The words of each form of use, after the program's name, without what is optional."""
    first, *others = text.splitlines()
    lines = [first.removeprefix("Usage:")]
    for line in others:
        if not line.startswith(" "):
            break
        if re.match(r" +(or:|[a-z])", line):
            lines.append(line.replace(" or:", "    ", 1))
        else:
            lines[-1] += line
    forms = []
    for line in lines:
        while re.search(r"\[[^][]*\]", line):
            line = re.sub(r"\[[^][]*\]", "", line)
        forms.append(line.split())
    return forms


_OPERANDS = {"HOST": "hosts", "COMMAND": "command", "FILE": "files", "RESULT": "files", "LOG": "files"}


def _operand(text: str) -> str:
    words = [word.rstrip(".") for form in _usages(text) for word in form]
    return next((_OPERANDS[word] for word in words if word in _OPERANDS), "")


def _run(command: Sequence[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def read_program(name: str, command: Sequence[str]) -> Program:
    """Asks the program for its --help, and for that of each of its commands."""
    text = _run([*command, "--help"])
    commands: list[Command] = []
    for form in _usages(text):
        tail = form[form.index(name) + 1:] if name in form else []
        if tail and re.fullmatch(_WORD, tail[0]) and tail[0] not in [one.name for one in commands]:
            about = re.search(rf"^  {tail[0]} +(\S.*)$", text, re.MULTILINE)
            own = _run([*command, tail[0], "--help"])
            commands.append(Command(tail[0], about[1] if about else "", _options(own), _operand(own)))
    if not commands:
        return Program(name, [Command("", "", _options(text), _operand(text))], [])
    return Program(name, commands, [Option(["--help"], "", "Print this help"),
                                    Option(["--version"], "", "Print the version")])
