# SPDX-License-Identifier: BSD-3-Clause
"""Writes the completion of a program for bash: completion.bash.in with its tables."""

from __future__ import annotations

from pathlib import Path

from table import Command, Option, Program

_TEMPLATE = Path(__file__).with_name("completion.bash.in")


def _names(options: list[Option]) -> str:
    return " ".join(name + ("=" if option.argument and not option.optional else "")
                    for option in options for name in option.names)


def _options_row(name: str, options: list[Option], operand: str) -> str:
    operands = f" operands={operand}" if operand else ""
    return f"\t{name or chr(39) * 2}) options='{_names(options)}'{operands} ;;"


def _value_row(command: str, option: Option) -> str:
    words, kind = option.values(), option.kind
    found = [f"words='{' '.join(words)}'"] if words else []
    found += [f"kind={kind}"] if kind else []
    found += ["list=yes"] if words and option.is_list else []
    patterns = " | ".join(f"'{command} {name}'" for name in option.names)
    return f"\t{patterns}) {' '.join(found)} ;;" if found else ""


def bash_completion(program: Program) -> str:
    commands = list(program.commands)
    if commands[0].name:
        commands.insert(0, Command("", "", program.options, ""))
    options = [_options_row(one.name, one.options, one.operand) for one in commands]
    values = [_value_row(one.name, option) for one in commands for option in one.options]
    text = _TEMPLATE.read_text(encoding="utf-8")
    for name, value in (
            ("PROGRAM", program.name), ("FUNCTION", "_" + program.name.replace("-", "_")),
            ("COMMANDS", " ".join(one.name for one in commands if one.name)),
            ("OPTIONS", "\n".join(options)), ("VALUES", "\n".join(row for row in values if row))):
        text = text.replace(f"@{name}@", value)
    return text
