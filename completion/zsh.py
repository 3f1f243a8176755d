# SPDX-License-Identifier: BSD-3-Clause
"""Writes the completion of a program for zsh: specifications for its _arguments."""

from __future__ import annotations

import re

from table import Command, Option, Program

_KINDS = {"files": "_files", "directories": "_files -/", "hosts": "_hosts"}
_DEVICES = "/sys/class/infiniband/*(N\\:t)"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _escaped(text: str) -> str:
    for special in "\\[]:":
        text = text.replace(special, "\\" + special)
    return text


def _action(option: Option) -> str:
    words = [word.replace(":", "\\:") for word in option.values()]
    if option.kind == "devices":
        return f"{{compadd {' '.join(words)} {_DEVICES}}}"
    if words and words[0].endswith(":"):
        files = "; _files" if option.kind == "files" else ""
        return f'{{compadd -S "" -- {" ".join(words)}{files}}}'
    if words and option.is_list:
        label = re.search("[A-Z]+", option.argument)
        return f"_values -s , {label[0] if label else 'list'} {' '.join(words)}"
    if words:
        return f"({' '.join(words)})"
    return _KINDS.get(option.kind, " ")


def _specification(option: Option) -> str:
    value = ""
    if option.argument:
        label = _escaped(option.argument.removeprefix("[=").removesuffix("]")
                         if option.optional else option.argument)
        value = f"{'::' if option.optional else ':'}{label}:{_action(option)}"
    others = " ".join(option.names)
    if others in ("-h --help", "-V --version", "--help", "--version"):
        before = "(- *)"
    else:
        before = "*" if option.repeats else f"({others})"
    suffixed = []
    for name in option.names:
        end = ("=-" if option.optional else "=") if name.startswith("--") else "+"
        suffixed.append(name + (end if option.argument else ""))
    names = "{" + ",".join(suffixed) + "}" if len(suffixed) > 1 else suffixed[0]
    return f"{_quoted(before)}{names}{_quoted('[' + _escaped(option.help) + ']' + value)}"


def _arguments(command: Command, indent: str) -> str:
    specifications = [_specification(one) for one in command.options]
    if command.operand == "command":
        specifications += ["'(-)1:command: _command_names -e'", "'*::argument: _normal'"]
    elif command.operand == "hosts":
        specifications.append("'1:host:_hosts'")
    elif command.operand == "files":
        specifications.append("'*:file:_files'")
    lines = f" \\\n{indent}\t".join(["_arguments -s -S :", *specifications])
    return f"{indent}{lines}\n"


def zsh_completion(program: Program) -> str:
    head = f"#compdef {program.name}\n# zsh completion of {program.name}, made from its option tables\n\n"
    if not program.commands[0].name:
        return head + _arguments(program.commands[0], "")
    text = head + "local curcontext=$curcontext state line\ntypeset -A opt_args\n"
    text += "_arguments -C -S : \\\n"
    for option in program.options:
        text += f"\t{_specification(option)} \\\n"
    described = " ".join(f"{one.name}\\:{_inner(one.help)}" for one in program.commands)
    text += f"\t{_quoted(f'1:command:(({described}))')} \\\n\t'*::argument:->argument' && return\n"
    text += "case $line[1] in\n"
    for one in program.commands:
        text += f"{one.name})\n{_arguments(one, chr(9))}\t;;\n"
    return text + "esac\n"


def _inner(text: str) -> str:
    """A description within ((...)): one word for the shell that evaluates the list."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace(":", "\\:") + '"'
