# SPDX-License-Identifier: BSD-3-Clause
"""The words of a result of rpma-bench on its device, flushes and end, which agree with each other."""

from datetime import datetime
from typing import Any

from rpma_report.sources.document import Place, quoted
from rpma_report.sources.sums import contradiction

# The kind of a latency, by how a write is made persistent; apm and native by how the flush was done.
_BY_PERSIST = {
    "gpspm": "gpspm_rtt", "gpspm-rt": "gpspm_rtt", "append": "atomic_write_commit", "rpmem": "rpmem_persist",
    "rpmem-relaxed": "rpmem_persist",
}  # fmt: skip
_BY_FLUSH = {"read": "write_flush", "native": "write_flush_native", None: "write_flush"}
_BY_TEST = {"connect": "connect", "register": "mr_reg"}
_BY_OP = {"read": "read", "send": "send_rtt", "write": "post_to_cqe", "write-imm": "post_to_cqe",
          "atomic-write": "post_to_cqe"}  # fmt: skip
_FLUSHING = frozenset({"apm", "native", "append"})
_WHOLE = frozenset({"connect", "register"})
# options whose values are those of a parameter, as plain words or numbers
_OPTIONS = {"--test": "test", "--op": "op", "--persist": "persist", "--completion": "completion", "--depth": "depth",
            "--threads": "threads", "--connections": "connections", "--batch": "batch", "--signal-every": "signal_every"}  # fmt: skip
_CONNECTIONS_MAX = 256
_VERDICTS, _STOPPED = (0, 1, 3), (130, 143)
CLOCK_S = 0.5  # between the clocks of a result: wall time, and that of the repeats
_CLOCK_RATE = 1e-3  # by which wall time that is being set right may run slower


def check_device(at: Any) -> None:
    device, warnings = at.value["device"], at.value["run"]["warnings"]
    if not device or at.value.get("ranks"):
        return
    for code, due, key in (("DEVICE_NOT_HARDWARE", device["kind"] != "hardware", "kind"),
                           ("EMULATED_CPU", device["emulated_cpu"] is True, "emulated_cpu")):  # fmt: skip
        told = any(warning["code"] == code for warning in warnings)
        if told != due:
            raise contradiction(at, ("device", key), f"is {quoted(device[key])}, but the warnings {'have' if told else 'lack'} {code}")


def check_run(at: Any) -> None:
    run, points = at.value["run"], at.value["points"]
    status, code = run["status"], run["exit_code"]
    if (status == "failed") != (run["failure"] is not None):
        raise contradiction(at, ("run", "status"), f"is {status}, but failure is {'null' if run['failure'] is None else 'told'}")
    sound = {"complete": code in _VERDICTS, "interrupted": code in _STOPPED, "failed": code not in (0, *_STOPPED)}[status]
    if not sound:
        raise contradiction(at, ("run", "exit_code"), f"is {code}, but the run is {status}")
    resumed, repeats = run.get("resumed_repeats", 0), sum(len(point["repeats"]) for point in points)
    if resumed > repeats or resumed and not any(word.startswith("--res") for word in run["argv"]):
        raise contradiction(at, ("run", "resumed_repeats"), f"is {resumed}, but {repeats} repeats and no --resume are there")
    if status != "complete":
        return
    if not points and not run.get("unsupported"):
        raise contradiction(at, ("points",), "are none, but the run is complete")
    verdicts = [slo["missed"] for slo in run.get("slos") or ()]
    missed = True in verdicts or any(search["verdict"] == "missed" for search in run.get("searches") or ())
    if code == 0 and (missed or None in verdicts):
        raise contradiction(at, ("run", "exit_code"), f"is 0, but a limit {'was missed' if missed else 'is not known to be kept'}")
    wrong = any((point["summary"].get("verify") or {}).get("mismatches") for point in points)
    if code == 1 and not missed and not wrong and not run.get("unsupported"):
        raise contradiction(at, ("run", "exit_code"), "is 1, but no limit was missed and no byte is wrong")


def check_time(at: Any) -> None:
    """The elapsed time of an open loop is that of its plan, which the loop need not have taken."""
    run = at.value["run"]
    took = (time_of(run["ended"]) - time_of(run["started"])).total_seconds()
    if took < 0:
        raise contradiction(at, ("run", "ended"), f"is {run['ended']}, before run.started")
    if run.get("resumed_repeats") or at.value.get("ranks"):
        return
    closed = [point for point in at.value["points"] if point["params"]["mode"] == "closed"]
    measured = sum(repeat["elapsed_ns"] for point in closed for repeat in point["repeats"]) / 1e9
    if measured * (1 - _CLOCK_RATE) > took + CLOCK_S:
        raise contradiction(at, ("run", "ended"), f"is {took:.3f} s after run.started, but the repeats took {measured:.3f} s")


def time_of(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")


def check_argv(at: Any) -> None:
    """Lists of plain words and numbers; what else an option takes, such as 64:1M:*4, 4k or auto, is not looked at."""
    run = at.value["run"]
    given = _given(run["argv"])
    for option, key in {} if "--plan" in given or "--resume" in given else _OPTIONS.items():
        values = given.get(option, "").split(",")
        if not all(_plain(value) for value in values) or "auto" in values:
            continue
        for index, point in enumerate(at.value["points"]):
            told, test = point["params"].get(key), point["params"]["test"]
            bracket = run.get("searches") and test == "bw"  # from which a search takes its highest rate
            if told is not None and str(told) not in values and test not in _WHOLE and not bracket:
                place: Place = ("points", index, "params", key)
                raise contradiction(at, place, f"is {quoted(told)}, but run.argv has {option} {','.join(values)}")
    seed = given.get("--seed", "")
    if _plain(seed) and seed.isdigit() and int(seed) != run["seed"]:
        raise contradiction(at, ("run", "seed"), f"is {run['seed']}, but run.argv has --seed {seed}")


def _plain(value: str) -> bool:
    """A number as it is printed, or a word; not 4k, 0x10 or 010."""
    if value.isascii() and value.isdigit():
        return value == str(int(value))
    return value[:1].isalpha() and value.isascii() and value.replace("-", "").isalnum()


def _given(argv: list[str]) -> dict[str, str]:
    """Options that are there once, written --name=value or --name value; nothing of those that are there again or shortened."""
    found: dict[str, str] = {}
    words = zip(argv, [*argv[1:], ""], strict=True)
    for word, behind in words:
        name, there, value = word.partition("=")
        if not name.startswith("--") or len(name) < 3:
            continue
        for option in (*_OPTIONS, "--seed", "--plan", "--resume"):
            if option.startswith(name):
                again = option in found or option != name
                found[option] = "" if again else value if there else behind
    return found


def check_kind(at: Any) -> None:
    params = at.value["params"]
    kind, persist, flush, method = (params.get(key) for key in ("latency_kind", "persist", "flush", "flush_method"))
    due = _BY_TEST.get(params["test"]) or _BY_PERSIST.get(persist)
    if due is None and persist in ("apm", "native"):
        due = _BY_FLUSH[method]
    if due is None and persist == "none":
        due = _BY_OP.get(params["op"])
    if due is not None and kind != due:
        raise contradiction(at, ("params", "latency_kind"), f"is {kind}, but test, op, persist and flush_method make it {due}")
    flushes = persist in _FLUSHING and params["test"] not in _WHOLE
    if flushes != (flush is not None):
        raise contradiction(at, ("params", "flush"), f"is {quoted(flush)}, but persist is {persist}")
    if method is not None and not flushes:
        raise contradiction(at, ("params", "flush_method"), f"is {method}, but persist is {persist}")
    if persist != "none" and params["test"] in _WHOLE:
        raise contradiction(at, ("params", "persist"), f"is {persist}, but test is {params['test']}")
    if persist != "none" and params["op"] not in ("write", None):
        raise contradiction(at, ("params", "op"), f"is {params['op']}, but only writes are made persistent, and persist is {persist}")


def check_together(at: Any) -> None:
    """rpma-bench refuses these parameters together, as they cannot be measured."""
    params = at.point["params"]
    test, depth, batch, every = params["test"], params["depth"], params.get("batch") or 1, params.get("signal_every") or 1
    together = params["threads"] * params["connections"]
    answered = params["op"] == "send" or params["persist"] in ("gpspm", "gpspm-rt")
    if every > depth or every > 1 and (answered or test in ("mix", "rate")):
        raise contradiction(at, ("params", "signal_every"), f"is {every}, but depth is {depth} and test {test}")
    if batch > depth or batch > 1 and (test not in ("bw", "mix") or batch % every and every % batch):
        raise contradiction(at, ("params", "batch"), f"is {batch}, but depth is {depth}, signal_every {every} and test {test}")
    if together > _CONNECTIONS_MAX and not at.source.document.get("ranks"):
        raise contradiction(at, ("params", "connections"), f"of all threads are {together}, expected at most {_CONNECTIONS_MAX}")
    if params.get("srq") and not (answered or params["op"] == "write-imm"):
        raise contradiction(at, ("params", "srq"), f"is true, but the server receives nothing: op is {params['op']} and persist {params['persist']}")
    granted = (params.get("connection") or {}).get("sq_size")
    if granted and depth > granted:
        raise contradiction(at, ("params", "depth"), f"is {depth}, but connection.sq_size is {granted}")
    if (depth, together) != (1, 1) and test in _WHOLE:
        raise contradiction(at, ("params", "depth"), f"is {depth}, with {together} connections, but test is {test}")
    if params.get("zipf_theta") is not None and params["pattern"] != "rand":
        raise contradiction(at, ("params", "pattern"), f"is {params['pattern']}, but zipf_theta is {params['zipf_theta']}")


def check_mode(at: Any) -> None:
    params = at.value["params"]
    test, rate = params["test"], params.get("target_rate_per_s")
    is_open = test == "rate"
    if (params["mode"] == "open") != is_open:
        raise contradiction(at, ("params", "mode"), f"is {params['mode']}, but test is {test}")
    for key, due in (("target_rate_per_s", is_open), ("read_fraction", test == "mix"), ("op", test not in _WHOLE)):
        if key in params and (params[key] is not None) != due:
            raise contradiction(at, ("params", key), f"is {quoted(params[key])}, but test is {test}")
    if not is_open and params.get("arrivals") is not None:
        raise contradiction(at, ("params", "arrivals"), f"is {params['arrivals']}, but test is {test}")
    if rate is not None and rate <= 0:
        raise contradiction(at, ("params", "target_rate_per_s"), f"is {rate}, expected more than 0")
    target, size = params.get("target_memory"), params["size_bytes"]
    if target and size is not None and not params.get("size_mix") and test != "register" and size > target["bytes"]:
        raise contradiction(at, ("params", "size_bytes"), f"is {size}, but target_memory has {target['bytes']} bytes")
    align = params.get("align_bytes")
    if align is not None and align & (align - 1):
        raise contradiction(at, ("params", "align_bytes"), f"is {align}, expected a power of two")
    inline = params.get("inline_bytes")
    if test in _WHOLE and inline:
        raise contradiction(at, ("params", "inline_bytes"), f"is {inline}, but test is {test}")
    if inline and size is not None and not params.get("size_mix") and inline not in (size, size + 8, 8):
        raise contradiction(at, ("params", "inline_bytes"), f"is {inline}, but an operation has {size} bytes")
