# SPDX-License-Identifier: BSD-3-Clause
"""The connection of a point, as rpma-bench records it: what its path has, what the user set, what the device gave.

The path MTU and what a user sets tell points apart. A setting left alone is None, as in files of
older versions, which had none. Queues, GIDs and inline sizes follow the depth, the host and the
device: the page has them, and they tell no points apart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rpma_report import quantity
from rpma_report.model import Point
from rpma_report.text import shown

MTU = "path_mtu_bytes"
_LEFT = "the host's choice"
_ACK_UNIT_NS = 4096  # the acknowledgement timer: InfiniBand Architecture Specification, 9.7.6.1.3
_ENDLESS = 7  # RNR retries
_PAGES = {"normal": "normal pages", "hugepages": "huge pages"}


@dataclass(frozen=True)
class Setting:
    """One fact of a connection, by its key in the file."""

    key: str
    title: str
    text: Callable[[Any], str]
    unknown: str = quantity.UNKNOWN


def _timer(exponent: int) -> str:
    return f"{exponent} ({quantity.time_ns(_ACK_UNIT_NS << exponent) if exponent else 'without end'})"


SETTINGS = (
    Setting(MTU, "path MTU", lambda v: f"{v} B"),
    Setting("traffic_class", "traffic class", str, _LEFT),
    Setting("ack_timeout", "ack timeout", _timer, _LEFT),
    Setting("retries", "retries", str, _LEFT),
    Setting("rnr_retries", "RNR retries", lambda v: f"{v} (without end)" if v == _ENDLESS else str(v), _LEFT),
    Setting("inline_size_bytes", "inline size", quantity.size),
    Setting("comp_vector", "completion vector", str, _LEFT),
    Setting("buffers", "buffers", lambda v: _PAGES[v]),
    Setting("sq_size", "send queue", str),
    Setting("rq_size", "receive queue", str),
    Setting("cq_size", "completion queue", str),
    Setting("gid_index", "GID index", str),
    Setting("gid_type", "GID type", str),
    Setting("gid", "GID", lambda v: shown(v, 60)),
)

# what tells points apart, and the words of a label
TRAITS: tuple[tuple[str, Callable[[Any], str]], ...] = (
    (MTU, lambda v: f"MTU {v}"),
    ("traffic_class", lambda v: f"traffic class {v}"),
    ("ack_timeout", lambda v: f"ack timeout {v}"),
    ("retries", lambda v: f"{v} retries"),
    ("rnr_retries", lambda v: f"{v} RNR retries"),
    ("comp_vector", lambda v: f"completion vector {v}"),
    ("buffers", lambda v: _PAGES[v]),
)
TRAIT_KEYS = frozenset(key for key, _ in TRAITS)
# rpma-bench(1) has them; a setting that is not here is null in a file unless it was set
_DEFAULTS: dict[str, Any] = {"retries": 7, "rnr_retries": 7, "comp_vector": 0, "buffers": "normal"}


def of(point: Point) -> dict[str, Any]:
    """Empty where the file does not tell."""
    return point.params.get("connection") or {}


def trait(point: Point, key: str) -> Any:
    """None: not recorded, or as it is if a user sets nothing."""
    value = of(point).get(key)
    return None if value == _DEFAULTS.get(key) else value


def unset(key: str) -> str:
    """The words for a trait that is None."""
    if key == MTU:
        return "MTU not recorded"
    return dict(TRAITS)[key](_DEFAULTS[key]) if key in _DEFAULTS else f"no {key.replace('_', ' ')} set"


def posted_inline(point: Point) -> bool:
    """By --inline; an atomic write done as an inline write has no choice."""
    return bool(point.params.get("inline_bytes")) and point.params.get("atomic_write_method") != "write"
