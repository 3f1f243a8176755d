#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks a result of rpma-bench against what was asked for.

It reads nothing but the file and the schema, and works out every figure that
follows from others: percentiles from the buckets, summaries from the repeats,
rates from counts and times.
"""
from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).resolve().parents[3] / "doc/schema/rpma-bench-1.schema.json"
REPORT = Path(__file__).resolve().parents[3] / "report"
CHECK_SCHEMA = SCHEMA.with_name("rpma-ddio-check-1.schema.json")
READINESS = ["NOT_READY", "UNDETERMINED", "GPSPM_ONLY", "NATIVE_FLUSH_READY", "APM_READY", "APM_READY_EADR"]
# Student's t, 97.5 %, by degrees of freedom
T975 = [12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814,
        2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596,
        2.07961, 2.07387, 2.06866, 2.06390, 2.05954, 2.05553, 2.05183, 2.04841, 2.04523]  # fmt: skip
LATENCIES = ("latency", "read_latency", "response_latency")
PERCENTILES = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999]
OPTIONAL_IN_SUMMARY = (*LATENCIES[1:], "late_ops", "unbegun_ops", "max_lag_ns", "steps", "reverse", "verify")
OPTIONAL_IN_REPEAT = (*OPTIONAL_IN_SUMMARY, "read_ops", "intervals", "requests", "persist_method")
USED = ("persist", "flush", "flush_method", "atomic_write_method", "rpmem", "connection", "latency_kind")
KINDS = {
    ("write", "none"): "post_to_cqe",
    ("write", "apm"): "write_flush",
    ("write", "native"): "write_flush_native",
    ("write", "gpspm"): "gpspm_rtt",
    ("write", "gpspm-rt"): "gpspm_rtt",
    ("write", "append"): "atomic_write_commit",
    ("write", "rpmem"): "rpmem_persist",
    ("write", "rpmem-relaxed"): "rpmem_persist",
    ("write-imm", "none"): "post_to_cqe",
    ("atomic-write", "none"): "post_to_cqe",
    ("read", "none"): "read",
    ("send", "none"): "send_rtt",
}
STEPS = {
    "connect": ["prepare", "establish", "disconnect", "delete"],
    "register": ["register", "deregister"],
}


def check_schema(value: Any, schema: Any) -> None:
    try:
        import jsonschema
    except ImportError:
        print("check_result: no jsonschema here: the schema was not checked", file=sys.stderr)
        return
    jsonschema.Draft202012Validator(schema).validate(value)


def near(a: float, b: float, relative: float = 1e-6, absolute: float = 1e-3) -> bool:
    return abs(a - b) <= relative * abs(b) + absolute


def width(low: int, sub_bits: int) -> int:
    return 1 if low < 1 << sub_bits else 1 << (low.bit_length() - 1 - sub_bits)


def expected_percentile(latency: dict[str, Any], p: float) -> dict[str, Any]:
    """By the rule in the schema: interpolated inside the bucket; what was never begun is later than all."""
    buckets, bits = latency["histogram"]["buckets"], latency["histogram"]["sub_bits"]
    done, below = sum(count for _, count in buckets), 0
    n = done + latency.get("unbegun_ops", 0)
    low, high = latency["min_ns"], latency["max_ns"]
    if high is None:
        high = buckets[-1][0] + width(buckets[-1][0], bits) - 1
    nothing = {"p": p, "ns": None, "lo_ns": None, "hi_ns": None}
    if n * (1 - p) < 10 - 1e-6 or done < n * p - 1e-6:
        return nothing
    for start, count in buckets:
        if below + count >= n * p - 1e-6:
            break
        below += count
    last = start == buckets[-1][0]
    begin = max(start, low) - 0.5
    end = (high + 1 if last else start + width(start, bits)) - 0.5
    ns = begin + (end - begin) * min((n * p - below) / count, 1)
    return {**nothing, "ns": min(max(ns, low), high)}


def check_percentile(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        known = found[key] is not None and value is not None and near(found[key], value, 1e-9, 1e-3)
        unknown = found[key] is None and value is None
        assert known or unknown, f"{found}, expected {expected}"


def check_latency(latency: dict[str, Any], samples: int | None) -> None:
    histogram = latency["histogram"]
    buckets = histogram["buckets"]
    count = latency["count"]
    lows = [low for low, _ in buckets]
    assert lows == sorted(set(lows)), "buckets are not ascending"
    assert sum(c for _, c in buckets) == count, "buckets do not add up"
    assert samples is None or count == samples, f"{count} samples of {samples} operations"
    assert lows[0] <= latency["min_ns"] < lows[0] + width(lows[0], histogram["sub_bits"])
    if "unbegun_ops" in latency:
        assert latency["unbegun_ops"] > 0
        assert latency["max_ns"] is latency["mean_ns"] is latency["stddev_ns"] is None
    else:
        assert lows[-1] <= latency["max_ns"] < lows[-1] + width(lows[-1], histogram["sub_bits"])
        assert latency["min_ns"] <= latency["mean_ns"] <= latency["max_ns"]
        # the mean of bucket starts is below the true mean by less than a bucket's width
        start = sum(low * c for low, c in buckets) / count
        assert start <= latency["mean_ns"] + 1e-3
        assert latency["mean_ns"] <= start * (1 + 2 ** -histogram["sub_bits"]) + 1
        assert (latency["stddev_ns"] is None) == (count < 2)
    for item in latency["percentiles"]:
        check_percentile(item, expected_percentile(latency, item["p"]))


def expected_interval(values: list[float], complete: bool) -> dict[str, Any]:
    """Student's t over logarithms, of three complete repeats or more."""
    n = len(values)
    logs = [math.log(v) for v in values]
    mean = sum(logs) / n
    if n < 3 or not complete:
        return {"mean": math.exp(mean), "ci95_low": None, "ci95_high": None}
    deviation = math.sqrt(sum((v - mean) ** 2 for v in logs) / (n - 1))
    half = T975[n - 2] * deviation / math.sqrt(n)
    return {"mean": math.exp(mean), "ci95_low": math.exp(mean - half), "ci95_high": math.exp(mean + half)}


def check_interval(found: dict[str, Any] | None, values: list[float | None], complete: bool) -> None:
    known = [v for v in values if v is not None]
    if not known:
        assert found is None, found
        return
    assert found is not None
    complete = complete and len(known) == len(values)
    for key, value in expected_interval(known, complete).items():
        if value is None:
            assert found[key] is None
        else:
            assert near(found[key], value, 1e-5, 2e-3), f"{key}: {found}, expected {value}"


def check_percentile_summary(found: dict[str, Any], latencies: list[Any], complete: bool) -> None:
    of_repeats = [own["ns"] for latency in latencies for own in (latency or {}).get("percentiles", [])
                  if own["p"] == found["p"]]
    expected = {"mean": None, "ci95_low": None, "ci95_high": None}
    if len(of_repeats) == len(latencies) and None not in of_repeats:
        expected = expected_interval(of_repeats, complete)
    check_percentile(found, dict(zip(("p", "ns", "lo_ns", "hi_ns"), (found["p"], *expected.values()))))


def check_latency_summary(found: dict[str, Any] | None, latencies: list[Any], complete: bool) -> None:
    known = [latency for latency in latencies if latency]
    if not known:
        assert found is None, found
        return
    assert found is not None
    merged: Counter[int] = Counter()
    for latency in known:
        merged.update(dict(latency["histogram"]["buckets"]))
    histogram = found["merged_histogram"]
    assert histogram["buckets"] == [list(pair) for pair in sorted(merged.items())]
    assert found["count"] == sum(latency["count"] for latency in known)
    assert found["min_ns"] == min(latency["min_ns"] for latency in known)
    unbegun = sum(latency.get("unbegun_ops", 0) for latency in known)
    assert found.get("unbegun_ops", 0) == unbegun
    if unbegun:
        assert found["max_ns"] is found["mean_ns"] is None
    else:
        assert found["max_ns"] == max(latency["max_ns"] for latency in known)
        check_interval(found["mean_ns"], [latency and latency["mean_ns"] for latency in latencies], complete)
    for item in found["percentiles"]:
        check_percentile_summary(item, latencies, complete)


def check_rates(side: dict[str, Any], size: int | None, mix: list[dict[str, int]] | None = None) -> None:
    ops, elapsed = side["ops"], side["elapsed_ns"]
    assert ops > 0 and elapsed > 0
    if mix:
        sizes = [one["size_bytes"] for one in mix]
        assert ops * min(sizes) <= side["bytes"] <= ops * max(sizes)
    else:
        assert side["bytes"] == (None if size is None else ops * size), "bytes are not ops x size"
    assert near(side["ops_per_s"], ops / elapsed * 1e9)
    if size is None:
        assert side["bytes_per_s"] is None
    else:
        assert near(side["bytes_per_s"], side["bytes"] / elapsed * 1e9)


def signalled(ops: int, params: dict[str, Any]) -> range:
    """How many completions there may be: each lane begins a count of its own and ends with one."""
    lanes = params["threads"] * params["connections"]
    every = params["signal_every"]
    return range(ops // every, ops // every + lanes + 1) if every > 1 else range(ops, ops + 1)


def check_counts(repeat: dict[str, Any], params: dict[str, Any]) -> None:
    ops = repeat["ops"]
    if params["test"] == "mix":
        writes, reads = repeat["latency"], repeat["read_latency"]
        assert reads["count"] == repeat["read_ops"]
        assert writes["count"] + reads["count"] == ops
        deviation = math.sqrt(params["read_fraction"] * (1 - params["read_fraction"]) / ops)
        assert abs(repeat["read_ops"] / ops - params["read_fraction"]) <= 5 * deviation + 1 / ops
    else:
        assert repeat["latency"]["count"] in signalled(ops, params)
        assert repeat["read_ops"] is None and repeat["read_latency"] is None
    if params["test"] == "rate":
        assert repeat["response_latency"]["count"] == ops
        assert repeat["response_latency"].get("unbegun_ops", 0) == repeat["unbegun_ops"] >= 0
        if repeat["unbegun_ops"] == 0:
            assert repeat["response_latency"]["mean_ns"] >= repeat["latency"]["mean_ns"]
        assert 0 <= repeat["late_ops"] <= ops
    else:
        assert repeat["response_latency"] is None
        assert repeat["late_ops"] is None and repeat["max_lag_ns"] is None
    served = params["persist"] in ("gpspm", "gpspm-rt") or params["op"] in ("send", "write-imm")
    if served and repeat["complete"]:
        assert repeat["requests"] == ops + repeat["warmup"]["ops"], "requests are not operations"


def check_steps(repeat: dict[str, Any], test: str) -> None:
    assert [s["name"] for s in repeat["steps"]] == STEPS[test]
    means = {}
    for step in repeat["steps"]:
        check_latency(step["latency"], repeat["ops"])
        means[step["name"]] = step["latency"]["mean_ns"]
    whole = means["register"] if test == "register" else means["prepare"] + means["establish"]
    # each is rounded down to whole nanoseconds, and stamps lie between
    assert near(repeat["latency"]["mean_ns"], whole, 0.05, 2000), (repeat["latency"], means)


def check_verify(repeat: dict[str, Any], params: dict[str, Any]) -> None:
    verify = repeat["verify"]
    assert verify["checked_bytes"] > 0 and verify["mismatches"] == 0
    if params["test"] != "mix" and verify["overwritten_bytes"] is not None:
        written = (repeat["ops"] + repeat["warmup"]["ops"]) * params["size_bytes"]
        seen = verify["checked_bytes"] + verify["overwritten_bytes"]
        # with persistence each lane may have probed how flushes complete; a log has a tail of 8 bytes
        lanes = params["threads"] * params["connections"]
        more = lanes * params["size_bytes"] if params["persist"] != "none" else 0
        more += lanes * 8 if params["persist"] == "append" else 0
        assert written <= seen <= written + more


def check_repeat(repeat: dict[str, Any], point: dict[str, Any], verify: bool) -> None:
    params, stop = point["params"], point["stop"]
    transfers = params["test"] not in STEPS
    size = params["size_bytes"] if transfers else None
    check_rates(repeat, size, params.get("size_mix"))
    if stop["duration_ns"] is not None and params["test"] != "rate":
        assert repeat["elapsed_ns"] >= stop["duration_ns"] or not repeat["complete"], "ended early"
    if stop["ops"] is not None and transfers and repeat["complete"]:
        assert repeat["ops"] == stop["ops"]
    assert sum(thread["ops"] for thread in repeat["threads"]) == repeat["ops"]
    assert len(repeat["threads"]) == params["threads"]
    assert all(thread["ops"] > 0 for thread in repeat["threads"])
    for key in LATENCIES:
        if repeat[key] is not None:
            check_latency(repeat[key], None)
    if transfers:
        check_counts(repeat, params)
    else:
        check_steps(repeat, params["test"])
    reverse = repeat["reverse"]
    assert (reverse is not None) == (params["bidirectional"] and repeat["complete"])
    if reverse is not None:
        check_rates(reverse, size)
        check_latency(reverse["latency"], None)
        assert reverse["latency"]["count"] in signalled(reverse["ops"], params)
    if verify and params["op"] in ("write", "write-imm", "atomic-write") and repeat["complete"]:
        check_verify(repeat, params)


def check_summary(point: dict[str, Any]) -> None:
    repeats, summary = point["repeats"], point["summary"]
    counted = [r for r in repeats if r["complete"]] or repeats
    complete = counted[0]["complete"]
    assert summary["n"] == len(counted)
    for key in ("ops_per_s", "bytes_per_s"):
        check_interval(summary[key], [r[key] for r in counted], complete)
    for key in LATENCIES:
        check_latency_summary(summary[key], [r[key] for r in counted], complete)
    for key in ("late_ops", "unbegun_ops"):
        ops = [r[key] for r in counted]
        assert summary[key] == (None if None in ops else sum(ops))
    if summary["reverse"] is not None:
        sides = [r["reverse"] for r in counted]
        check_interval(summary["reverse"]["bytes_per_s"], [s["bytes_per_s"] for s in sides], complete)
        check_latency_summary(summary["reverse"]["latency"], [s["latency"] for s in sides], complete)
    for index, step in enumerate(summary["steps"] or []):
        latencies = [r["steps"][index]["latency"] for r in counted]
        check_latency_summary(step["latency"], latencies, complete)


def check_params(params: dict[str, Any]) -> None:
    kind = {"connect": "connect", "register": "mr_reg"}.get(params["test"])
    if kind is None:
        kind = KINDS[params["op"], params["persist"]]
    # what apm posts is for the device to do: a read, or a flush of its own
    if (kind, params["flush_method"]) == ("write_flush", "native"):
        kind = "write_flush_native"
    assert params["latency_kind"] == kind, params["latency_kind"]
    assert (params["mode"] == "open") == (params["target_rate_per_s"] is not None)
    flushes = params["persist"] in ("apm", "native", "append")
    assert (params["flush"] is not None) == (params["flush_method"] is not None) == flushes
    assert params["persist"] != "native" or params["flush_method"] == "native"
    assert (params.get("rpmem") is not None) == params["persist"].startswith("rpmem")
    atomic = params["op"] == "atomic-write" or params["persist"] == "append"
    assert (params["atomic_write_method"] is not None) == atomic
    if params["op"] is not None:
        copied = params["inline_bytes"] - (8 if params["atomic_write_method"] == "write" else 0)
        assert copied in (0, params["size_bytes"])  # test_connections.py has which
    assert (params["read_fraction"] is not None) == (params["test"] == "mix")


def check_readiness(document: dict[str, Any]) -> None:
    """The server's block: its own schema, of the targets measured, the least ready first."""
    block = document["readiness"]
    if block is None:
        assert not document["points"], "points, and no readiness of their target"
        return
    parts = json.loads(CHECK_SCHEMA.read_text())["$defs"]
    check_schema(block, {"$ref": "#/$defs/block", "$defs": parts})
    targets = {target["index"]: target for target in block["targets"]}
    assert len(targets) == len(block["targets"])
    used = {point["params"]["target_memory"]["index"] for point in document["points"]}
    assert used == set(targets) or not used, (used, set(targets))
    least = min((target["verdict"] for target in targets.values()), key=READINESS.index)
    assert block["verdict"] == least, block["verdict"]


def persists(params: dict[str, Any], block: dict[str, Any]) -> bool:
    """Has what was flushed in this way survived, by the verdict on its target?"""
    kind = params["target_memory"]["kind"]
    if params["persist"].startswith("rpmem"):
        return False  # it is not that target
    if kind not in ("devdax", "fsdax"):
        # a file on a disk is durable once the server has synced it; whether its file system is one is the kind
        return bool(kind == "file" and params["persist"] in ("gpspm", "gpspm-rt"))
    if params["persist"] in ("gpspm", "gpspm-rt"):
        # the processor wrote it back: of DDIO alone this does not depend
        return block["verdict"] not in ("NOT_READY", "UNDETERMINED") or block["judgement"][
            "row"].startswith("ddio-")
    ready = {"APM_READY", "APM_READY_EADR"}
    if params["flush_method"] == "native":
        ready.add("NATIVE_FLUSH_READY")
    return params["flush"] == "persistent" and block["verdict"] in ready


def check_persistence(document: dict[str, Any]) -> None:
    """Who believes a figure with persistence is told where it is not proven."""
    if document.get("ranks"):
        return
    blocks = {target["index"]: target for target in (document["readiness"] or {}).get("targets", [])}
    claims = [params for params in (point["params"] for point in document["points"])
              if params["persist"] != "none"]
    unproven = [params for params in claims
                if not persists(params, blocks[params["target_memory"]["index"]])]
    codes = {warning["code"] for warning in document["run"]["warnings"]}
    assert ("PERSISTENCE_UNPROVEN" in codes) == bool(unproven), (codes, unproven)


def clients(document: dict[str, Any]) -> list[dict[str, Any]]:
    """What each client of rpma-bench-mpi measured alone."""
    return [one for rank in document.get("ranks") or [] for one in rank["measured"]]


def of_all(point: dict[str, Any], count: int) -> dict[str, Any]:
    """A point as so many clients together measured it."""
    params, stop = dict(point["params"]), dict(point["stop"])
    params["threads"] *= count
    if stop["ops"] is not None:
        stop["ops"] *= count
    return {"params": params, "stop": stop}


def check_merged(merged: dict[str, Any], own: list[dict[str, Any]]) -> None:
    """A repeat of several clients against what each of them measured alone."""
    for key in ("ops", "bytes", "errors", "late_ops", "unbegun_ops", "read_ops", "requests"):
        values = [one[key] for one in own]
        assert merged[key] == (None if None in values else sum(values)), key
    assert merged["elapsed_ns"] == max(one["elapsed_ns"] for one in own)
    assert merged["complete"] == all(one["complete"] for one in own)
    for key in LATENCIES:
        counts: dict[int, int] = {}
        for low, count in (pair for one in own if one[key] for pair in
                           one[key]["histogram"]["buckets"]):
            counts[low] = counts.get(low, 0) + count
        buckets = merged[key]["histogram"]["buckets"] if merged[key] else []
        assert {low: count for low, count in buckets} == counts, key


def check_clients(point: dict[str, Any], repeat: dict[str, Any],
                  measured: list[dict[str, Any]]) -> None:
    own = [r for one in measured for p in one["points"] if p["id"] == point["id"]
           for r in p["repeats"] if r["index"] == repeat["index"]]
    assert len(own) == len(measured), "a client has no such repeat"
    check_merged(repeat, own)
    for one in own:
        check_repeat(one, point, False)
        assert one["order"] == repeat["order"]


def check_validate(document: dict[str, Any]) -> None:
    """rpma-report validate finds no contradiction; an emulated processor takes too long to import it."""
    if "RPMA_VM_ADDR" in os.environ and os.environ.get("RPMA_BENCH_KIND") != "soft":
        return
    sys.path.append(str(REPORT))
    try:
        from rpma_report import sources
        from rpma_report.sources.document import Source
    except ImportError as error:
        print(f"check_result: no {error.name} here: rpma-report was not asked", file=sys.stderr)
        return
    finally:
        sys.path.remove(str(REPORT))
    text = json.dumps(document, indent=1)
    sources.check(Source("result", "result", "", json.loads(text), text))


def complete_latency(latency: dict[str, Any] | None) -> None:
    """The percentiles that a file leaves out are those with too few samples, which check_latency() checks."""
    if latency is not None:
        stated = [item["p"] for item in latency["percentiles"]]
        assert stated == PERCENTILES[: len(stated)]
        latency["percentiles"] += ({"p": p, "ns": None, "lo_ns": None, "hi_ns": None} for p in PERCENTILES[len(stated):])


def complete_document(document: dict[str, Any]) -> None:
    """A key that a file leaves out is null, or what its point has."""
    for point in document["points"]:
        for key in OPTIONAL_IN_SUMMARY:
            point["summary"].setdefault(key)
        for repeat in point["repeats"]:
            for key in OPTIONAL_IN_REPEAT:
                repeat.setdefault(key)
            repeat.setdefault("used", {key: point["params"].get(key) for key in USED})
            repeat.setdefault("counters", {"client": None, "server": None})
            repeat.setdefault("warnings", [])
            for key in LATENCIES:
                complete_latency(repeat[key])


def check_document(document: dict[str, Any], verify: bool = False) -> None:
    """All that follows from the file itself, which afterwards has the keys that it left out."""
    check_schema(document, json.loads(SCHEMA.read_text()))
    check_validate(document)
    complete_document(document)
    check_readiness(document)
    check_persistence(document)
    orders = []
    measured = clients(document)
    for point in document["points"]:
        check_params(point["params"])
        for repeat in point["repeats"]:
            check_repeat(repeat, of_all(point, len(measured) or 1), verify)
            if measured:
                check_clients(point, repeat, measured)
            orders.append(repeat["order"])
        check_summary(point)
    assert len(set(orders)) == len(orders)


def field(params: dict[str, Any], key: str) -> Any:
    value: Any = params
    for part in key.split("."):
        value = value[part]
    return value


def check_asked(document: dict[str, Any], asked: argparse.Namespace) -> None:
    found = [
        (p["params"]["persist"], p["params"]["size_bytes"], p["params"]["depth"])
        for p in document["points"]
    ]
    persists = asked.persists or sorted({persist for persist, _, _ in found})
    wanted = list(itertools.product(persists, asked.depths, asked.sizes))
    wanted = [(persist, size, depth) for persist, depth, size in wanted]
    if asked.status == "complete":
        assert found == wanted, f"points {found}, asked for {wanted}"
    else:
        assert set(found) <= set(wanted) and len(set(found)) == len(found), found
    orders: list[int] = []
    for point in document["points"]:
        for key, value in asked.param:
            assert str(field(point["params"], key)) == value, f"{key}: {point['params']}"
        indices = [r["index"] for r in point["repeats"]]
        assert asked.status != "complete" or indices == list(range(asked.repeats))
        orders += [r["order"] for r in point["repeats"]]
    if asked.status == "complete":
        assert sorted(orders) == list(range(len(wanted) * asked.repeats))


def pair(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key, value


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--sizes", type=numbers, required=True)
    parser.add_argument("--depths", type=numbers, default=[1])
    parser.add_argument("--persists", type=lambda text: text.split(","),
                        help="if not given, whatever it is, and only one")  # fmt: skip
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--status", default="complete")
    parser.add_argument("--kind", default="rxe")
    parser.add_argument("--warning", action="append", default=[])
    parser.add_argument("--param", type=pair, action="append", default=[])
    asked = parser.parse_args()
    document = json.loads(asked.file.read_text())
    check_document(document)
    assert document["run"]["status"] == asked.status, document["run"]["status"]
    assert document["device"]["kind"] == asked.kind, document["device"]
    for host in ("client", "server"):
        assert document["environment"][host]["os"]["kernel"], f"no environment of the {host}"
    codes = {warning["code"] for warning in document["run"]["warnings"]}
    assert set(asked.warning) <= codes, codes
    check_asked(document, asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
