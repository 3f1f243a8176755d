# SPDX-License-Identifier: BSD-3-Clause
"""The options of rpma-report, read from its argparse parser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from table import Command, Option, Program


def _option(action: argparse.Action) -> Option:
    takes_value = action.nargs != 0
    label = action.metavar or action.dest.upper()
    if not isinstance(label, str):  # several values, all plans of a study
        label = "FILE"
    return Option(list(action.option_strings), label if takes_value else "",
                  (action.help or "").replace("%%", "%"), [str(one) for one in action.choices or ()])


def _command(name: str, text: str, parser: argparse.ArgumentParser) -> Command:
    actions = parser._actions
    operands = [one for one in actions if not one.option_strings]
    options = [_option(one) for one in actions if one.option_strings and one.help != argparse.SUPPRESS]
    return Command(name, text, options, "files" if operands else "")


def read_report(name: str, folder: Path) -> Program:
    """Walks the parser of the package rpma_report in FOLDER."""
    sys.path.insert(0, str(folder))
    from rpma_report import cli  # type: ignore[import-not-found, unused-ignore]

    parser = cli._options()
    commands: list[Command] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            about = {one.dest: one.help or "" for one in action._choices_actions}
            commands += [_command(one, about.get(one, ""), sub) for one, sub in action.choices.items()]
    return Program(name, commands, [_option(one) for one in parser._actions if one.option_strings])
