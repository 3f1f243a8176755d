# SPDX-License-Identifier: BSD-3-Clause
"""Results of a study that measured two sides by turns, for the tests of compare."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

STUDY = "5f0c4be0-3f0a-4a53-8d0e-0c2f7a6f8d11"
DRIFT = (1.0, 1.08, 0.95, 1.02, 1.11, 0.97, 1.05, 0.99)  # the host's, between pairs
CHANCE = (1.002, 0.996, 1.001, 0.999, 1.003, 0.998, 1.0, 1.001)  # one side's, within a pair


def mark(pair: int, side: str, disturbed: bool = False, study: str = STUDY) -> dict[str, Any]:
    order = 2 * pair + (side == "AB"[pair % 2])
    return {"id": study, "pair": pair, "side": side, "order": order, "disturbed": disturbed}


def write_pairs(folder: Path, made: Callable[[float], dict[str, Any]], factor: float, pairs: int = 8) -> tuple[Path, Path]:
    """Two directories, base and new; `made` gives a result whose latencies are so many times the usual."""
    sides = folder / "base", folder / "new"
    for side in sides:
        side.mkdir(exist_ok=True)
    for pair in range(pairs):
        base, new = made(DRIFT[pair]), made(DRIFT[pair] * CHANCE[pair] * factor)
        for document, side, letter in zip((base, new), sides, "AB", strict=True):
            document["study"] = mark(pair, letter)
            (side / f"{pair:02}.json").write_text(json.dumps(document))
    return sides
