# SPDX-License-Identifier: BSD-3-Clause
"""A fio job in the words of rpma-bench: what its options say of an operation.

fio writes only the options that were given, so the defaults of fio(1) and of its
engine librpma stand here. The engine adds an option `librpma` with what became of a
client: words KEY=VALUE, see fio-librpma(1). What is not known stays None.
"""

import os
import re
from typing import Any

from rpma_report.text import shown

_SUFFIXES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_FACTS = "librpma"
# Options that name, place or stop a job: with other values it is the same measurement.
_ASIDE = frozenset({
    "name", "description", "filename", "directory", "output", "output-format", "group_reporting",
    "serverip", "port", "port_mode", "connect_timeout", "runtime", "time_based", "ramp_time", "loops",
    "bs", "blocksize", "bsrange", "iodepth", "numjobs", "rw", "readwrite", "ioengine", "mode", "flush",
    "busy_wait_polling", "rwmixread", "lat_percentiles", "clat_percentiles", "percentile_list", "role",
    "durable_log", "result", "stonewall", "thread", "unlink", "log_avg_msec", "write_lat_log", "write_bw_log", "write_iops_log",
    "status-interval", "eta", "size", "filesize", "create_serialize", _FACTS,
})  # fmt: skip
_PERSISTING = frozenset({"auto", "each", "batch"})  # flush=: a write ends persistent


def size_bytes(text: str, direction: str) -> int | None:
    """The size in bs=, 4k, 4096 or 4k,8k,16k by direction; None for a range or anything else."""
    parts = text.split(",")
    number = {"read": 0, "write": 1, "trim": 2}.get(direction, 1)
    part = parts[min(number, len(parts) - 1)].strip().lower() or parts[0].strip().lower()
    match = re.fullmatch(r"([0-9]{1,15})([kmgtp]?)b?", part)
    if not match:
        return None
    size = int(match[1]) * _SUFFIXES[match[2]]
    return size if 0 < size < 1 << 62 else None


def is_server(options: dict[str, str]) -> bool:
    """A job of the engine that does no I/O."""
    engine = options.get("ioengine", "")
    return engine.startswith("librpma") and (options.get("role") == "server" or engine.endswith("_server"))


def facts(options: dict[str, str]) -> dict[str, str]:
    """mode, flush, flush_type, target, device of a client; none where the engine did not tell."""
    words = (word.partition("=") for word in options.get(_FACTS, "").split())
    return {key: shown(value, 40) for key, _, value in words if value}


def flushed(target: str, reached: str, writes: int | None, covered: int | None, stated: str = "") -> str:
    """The fate of a client's writes, by the engine's counts of its flushes; unknown without counts."""
    where = {"persistence": "flushed to persistence", "visibility": "flushed to visibility only"}.get(reached)
    if writes is None or covered is None:
        return f"writes to {target} may not be flushed"
    if writes == 0:
        return f"nothing is written to {target}"
    if where is None or covered == 0:
        return f"none of {writes} writes to {target} is flushed"
    if covered == writes:
        return f"{writes} writes to {target} are {where}{stated}"
    return f"{covered} of {writes} writes to {target} are {where}{stated}, the other {writes - covered} are not"


def params(options: dict[str, str], direction: str, latency_kind: str) -> dict[str, Any]:
    """Keys of rpma-bench's params, and those that only fio has."""
    engine, rw = options.get("ioengine", "psync"), options.get("rw") or options.get("readwrite") or "read"
    ours = engine.startswith("librpma")
    found = facts(options)
    options = {**options, **{key: found[key] for key in ("mode", "flush", "flush_type") if key in found}}
    mixed = rw.startswith(("rw", "randrw", "readwrite"))
    return {
        "test": "fio",
        "op": direction,
        "persist": _persist(options, engine, direction),
        "flush": found["flush_type"] if found.get("flush_type") in ("persistent", "visibility") else None,
        "latency_kind": latency_kind,
        "size_bytes": None if direction == "sync" else _block(options, direction),
        "depth": _number(options.get("iodepth")),
        "threads": _number(options.get("numjobs")),
        "connections": 1,
        "completion": (None if not ours else "event" if options.get("busy_wait_polling") == "0" else "poll"),
        "pattern": "rand" if "rand" in rw else "seq",
        "mode": "closed",
        "read_fraction": _fraction(options.get("rwmixread", "50")) if mixed else None,
        "target_memory": {"kind": found["target"]} if "target" in found else None,
        "ioengine": shown(engine, 40),
        "file_bytes": _file_bytes(options),
        "file_place": None if ours or engine == "null" else _file_place(options),
        "rest": tuple(sorted((k, v) for k, v in options.items() if k not in _ASIDE)),
    }


def _file_bytes(options: dict[str, str]) -> int | str | None:
    """The bytes that a job goes over: a file in the cache is measured otherwise than one that has no room there."""
    text = options.get("size") or options.get("filesize")
    return None if text is None else size_bytes(text, "read") or shown(text, 40)


def _file_place(options: dict[str, str]) -> str | None:
    """The directory of a local file, or the device; files of one directory are alike."""
    name = options.get("filename")
    if name is None or "directory" in options:
        return shown(options["directory"], 80) if "directory" in options else None
    device = name.startswith("/dev/") and not name.startswith("/dev/shm/")
    return shown(name if device else os.path.dirname(name) or ".", 80)


def _persist(options: dict[str, str], engine: str, direction: str) -> str:
    if not engine.startswith("librpma") or direction not in ("write", "trim"):
        return "none"
    if options.get("flush", "auto") not in _PERSISTING or options.get("flush_type") in ("none", "unproven"):
        return "none"
    alias = re.fullmatch(r"librpma_(apm|gpspm)_client", engine)
    mode = alias[1] if alias else options.get("mode", "apm")
    return mode if mode in ("apm", "native", "gpspm") else "none"


def _block(options: dict[str, str], direction: str) -> int | None:
    if "bsrange" in options:
        return None
    return size_bytes(options.get("bs") or options.get("blocksize") or "4k", direction)


def _number(text: str | None) -> int:
    """1 is the default of what has a number."""
    return int(text) if text and text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) else 1


def _fraction(text: str) -> float | None:
    return int(text) / 100 if text.isascii() and text.isdigit() and len(text) < 4 else None


def job_file(sections: list[tuple[str, dict[str, str]]]) -> str:
    """The job file as fio takes it back."""
    lines = []
    for name, options in sections:
        lines.append(f"[{name}]")
        lines += [f"{k}={v}" if v else k for k, v in options.items() if k not in ("name", _FACTS)]
    return "\n".join(lines)
