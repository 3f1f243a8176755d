# SPDX-License-Identifier: BSD-3-Clause
"""How a page of compare or history was made, which it records for verify: command, options, inputs.

A page may come from anybody: of a recipe only these options are taken, and each is parsed as the
command line is.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rpma_report.failure import Failure
from rpma_report.text import shown

_COMMANDS = frozenset({"compare", "history"})
_MAX_INPUTS = 10_000


@dataclass(frozen=True)
class Recipe:
    command: str
    inputs: tuple[str, ...]  # names of the files and directories, without their folders
    options: dict[str, Any] = field(default_factory=dict)  # as typed, by the name argparse gives them


def text(recipe: Recipe) -> str:
    options = {name: value for name, value in recipe.options.items() if value}
    return json.dumps({"command": recipe.command, "inputs": recipe.inputs, "options": options})


def read(made: str) -> Recipe | None:
    """None where it is none that this version writes."""
    try:
        told = json.loads(made)
        command, inputs, options = told["command"], told["inputs"], told["options"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    sound = command in _COMMANDS and _texts(inputs) and isinstance(options, dict) and len(inputs) <= _MAX_INPUTS
    return Recipe(command, tuple(shown(name) for name in inputs), options) if sound else None


def parsed(recipe: Recipe, figures: Callable[[str], Any], noise: Callable[[str], float]) -> argparse.Namespace:
    """The options as the command has them."""
    told = recipe.options
    lists = {name: told.get(name, []) for name in ("fail_if", "fail_if_estimate")}
    plain = {name: told.get(name) for name in ("figures", "noise")}
    if not all(map(_texts, lists.values())) or not all(v is None or isinstance(v, str) for v in plain.values()):
        raise Failure("the options of the page are not those of rpma-report")
    try:
        return argparse.Namespace(
            **lists,
            figures=figures(plain["figures"]) if plain["figures"] else (),
            noise=noise(plain["noise"]) if plain["noise"] else None,
        )
    except argparse.ArgumentTypeError as error:
        raise Failure(f"the options of the page: {error}") from error


def shared(options: argparse.Namespace) -> dict[str, Any]:
    """Options that compare and history both have, as text."""
    noise = "" if options.noise is None else f"{options.noise * 100:.10g}%"
    return {"figures": ",".join(measure.name for measure in options.figures), "noise": noise}


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def names(paths: Sequence[Any]) -> tuple[str, ...]:
    """Without their folders: a page that is passed on does not tell where they lie."""
    return tuple(path.name or str(path.resolve().name) for path in paths)
