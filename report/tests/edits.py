# SPDX-License-Identifier: BSD-3-Clause
"""Makes single edits of results, by chance and without a look at what validate checks.

A leaf of a document is chosen by its path, indices left out, so that a histogram is no more likely
than a count. A number is multiplied, moved by one or made 0; a word becomes another word that its
schema knows or that stands elsewhere in the document; true becomes false.
"""

import copy
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Place = tuple[str | int, ...]
# Facts that stand once and no figure depends on: the host and its load, the tool's arguments, texts.
FACTS = re.compile(r"(environment|clock|tool|placement|readiness|study|server|settings|schema|global options)\b|run\.(id|label|argv)\b|"
                   r"device\.(name|transport|asked)\b|.*\.(placement|counters|connection|interference|cpu)\b|.*_(switches|faults)|"
                   r".*target_memory\.(index|odp|page_bytes|hugepage_bytes|numa_node|direct_write_to_pmem)\b|.*warnings\[\]\.(host|severity)|"
                   r".*(job options|text|cpus|method|hints)\b|fio version|time$|timestamp|disk_util")  # fmt: skip


@dataclass(frozen=True)
class Edit:
    place: Place
    before: Any
    after: Any
    document: Any

    @property
    def path(self) -> str:
        return path_of(self.place)

    def __str__(self) -> str:
        return f"{self.path}: {self.before!r} became {self.after!r}"


def path_of(place: Place) -> str:
    return "".join("[]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")


def at(document: Any, place: Sequence[str | int]) -> Any:
    for part in place:
        document = document[part]
    return document


def leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from leaves(item, (*place, key))
    if not isinstance(value, (dict, list)) and value is not None:
        yield place, value


def edits(documents: Sequence[Any], number: int, seed: int) -> list[Edit]:
    """Makes as many of each document, each of another path as long as there are any."""
    draw = random.Random(seed)
    made: list[Edit] = []
    left = [_by_path(document) for document in documents]
    order = [draw.sample(sorted(paths), len(paths)) for paths in left]
    for turn in range(number):
        which = turn % len(documents)
        path = order[which][(turn // len(documents)) % len(order[which])]
        place, value = draw.choice(left[which][path])
        document = copy.deepcopy(documents[which])
        after = _other(value, path, document, draw)
        at(document, place[:-1])[place[-1]] = after
        made.append(Edit(place, value, after, document))
    return made


def _by_path(document: Any) -> dict[str, list[tuple[Place, Any]]]:
    found: dict[str, list[tuple[Place, Any]]] = {}
    for place, value in leaves(document):
        if not FACTS.match(path_of(place)):
            found.setdefault(path_of(place), []).append((place, value))
    return found


def _other(value: Any, path: str, document: Any, draw: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        ways = [value * 10, value * 2, value + 1, *([value // 2, value // 10] if isinstance(value, int) else [value / 2, value / 10]), 0]
        return draw.choice([way for way in ways if way != value])
    same = sorted({v for p, v in leaves(document) if isinstance(v, str) and path_of(p) == path and v != value})
    return draw.choice([*same, *(word for word in _WORDS.get(path.rpartition(".")[2], ()) if word != value)] or [f"{value}x"])


# words that a reader would take for a valid value of a key
_WORDS: dict[str, tuple[str, ...]] = {
    "test": ("lat", "bw", "rate", "mix"), "op": ("write", "read", "send"), "persist": ("none", "apm", "gpspm"),
    "flush": ("persistent", "visibility"), "flush_method": ("read", "native"), "latency_kind": ("post_to_cqe", "write_flush", "read"),
    "completion": ("poll", "event"), "pattern": ("seq", "rand"), "mode": ("closed", "open"), "kind": ("hardware", "soft", "duration", "ops"),
    "status": ("complete", "failed", "interrupted"), "severity": ("info", "warn"), "host": ("client", "server"),
    "code": ("NOT_STEADY", "EMULATED_CPU", "CLOCK_DRIFT"), "started": ("2026-08-22T10:00:00.000Z",), "ended": ("2026-08-20T10:00:00.000Z",),
}  # fmt: skip
