# SPDX-License-Identifier: BSD-3-Clause
"""Had each polling thread of a run a core of its own? By the CPU time that others took.

rpma-bench records it in each repeat, for both ends. A run whose ends lacked a core is
disturbed; its latency has no say in that.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Host:
    """One end of a run, or both where they share a host. CPUs, not ns."""

    name: str
    cpus: int
    needed: int
    others: float | None  # None: not recorded
    gaps: bool = False  # recorded, but not in all repeats: a hypervisor held the CPUs, and their counters

    @property
    def is_too_small(self) -> bool:
        return self.cpus < self.needed

    @property
    def is_disturbed(self) -> bool:
        """One busy program too many leaves our threads `needed` / (cpus + 1) short: half of that counts."""
        slack = self.needed / (self.cpus + 1) / 2
        return self.gaps or (self.others is not None and self.cpus - self.others + slack < self.needed)

    def text(self) -> str:
        threads = "1 thread polls" if self.needed == 1 else f"{self.needed} threads poll"
        if self.is_too_small:
            return f"{self.name}: {threads}, and rpma-bench may use {self.cpus} CPU{'s' * (self.cpus != 1)}"
        if self.gaps or self.others is None:
            return f"{self.name}: {threads}, and in some repeats it is unknown what other programs took"
        return f"{self.name}: {threads}, and other programs took {self.others:.1f} of {self.cpus} CPUs"


def hosts(document: dict[str, Any]) -> list[Host]:
    """Those of which the result tells something."""
    points = document.get("points") or []
    if "tool" not in document or not points:
        return []
    ends = [_end(points, end) for end in ("client", "server")]
    if _share_a_host(document):
        client, server = ends
        if client:
            needed = client.needed + (server.needed if server else 0)
            return [Host("the host of both ends", client.cpus, needed, client.others, client.gaps)]
    return [end for end in ends if end]


def _share_a_host(document: dict[str, Any]) -> bool:
    if "local" in document["run"]["argv"][1:2]:
        return True
    told = [document["environment"].get(end) for end in ("client", "server")]
    names = [((host or {}).get("host") or {}).get("hostname") for host in told]
    return names[0] is not None and names[0] == names[1]


def _end(points: Sequence[dict[str, Any]], end: str) -> Host | None:
    repeats = [r for point in points for r in point["repeats"]]
    cpus = [seen["cpus"] for r in repeats if (seen := _seen(r, end))]
    if not cpus:
        return None
    known = [(lost, r["elapsed_ns"]) for r in repeats if (lost := _lost(_seen(r, end))) is not None]
    elapsed = sum(ns for _, ns in known)
    others = sum(lost for lost, _ in known) / elapsed if elapsed else None
    needed = max(_needed(point, end) for point in points)
    return Host(f"the {end}'s host", min(cpus), needed, others, 0 < len(known) < len(repeats))


def _seen(repeat: dict[str, Any], end: str) -> dict[str, Any] | None:
    return (repeat.get("interference") or {}).get(end)


def _lost(seen: dict[str, Any] | None) -> int | None:
    if not seen or seen["other_cpu_ns"] is None or seen["steal_ns"] is None:
        return None
    return int(seen["other_cpu_ns"] + seen["steal_ns"])


def _needed(point: dict[str, Any], end: str) -> int:
    """Threads that poll, or what was truly used: the software device has threads of its own."""
    params = point["params"]
    polls = params["completion"] == "poll" and (end == "client" or _server_polls(params))
    busy = [((r.get("cpu") or {}).get(end) or {}).get("busy_fraction") for r in point["repeats"]]
    return max(int(params["threads"]) if polls else 0, round(max(_known(busy), default=0.0)))


def _known(values: Iterable[float | None]) -> Iterable[float]:
    return (value for value in values if value is not None)


def _server_polls(params: dict[str, Any]) -> bool:
    """Does its processor take part in each operation?"""
    return (
        params["op"] in ("send", "write-imm")
        or params["persist"] in ("gpspm", "gpspm-rt")
        or params["test"] == "register"
        or bool(params["bidirectional"])
    )
