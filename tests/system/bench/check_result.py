#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks a result of rpma-bench against what was asked for.

rpma-report validate finds every figure that contradicts another one. Unknown contradicts nothing
there, so that what must be known is looked at here, and what takes the options or the verdict of
the server to judge.
"""

import argparse
import itertools
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
REPORT = ROOT / "report"
SCHEMAS = ROOT / "doc/schema"
READINESS = ["NOT_READY", "UNDETERMINED", "GPSPM_ONLY", "NATIVE_FLUSH_READY", "APM_READY", "APM_READY_EADR"]
LATENCIES = ("latency", "read_latency", "response_latency")
PERCENTILES = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999]
BENCH = json.loads((SCHEMAS / "rpma-bench-1.schema.json").read_text())
REPEAT = BENCH["$defs"]["repeat"]["properties"]
SUMMARY = BENCH["$defs"]["point"]["properties"]["summary"]["properties"]
COUNTS = [key for key, value in SUMMARY.items() if value.get("type") == ["integer", "null"]]
USED = ("persist", "flush", "flush_method", "atomic_write_method", "rpmem", "connection", "latency_kind")
STEPS = {
    "connect": ["prepare", "establish", "disconnect", "delete"],
    "register": ["register", "deregister"],
}


def check_known(found: dict[str, Any], keys: tuple[str, ...], values: list[Any], complete: bool, whole: bool) -> None:
    """The mean of what repeats have, or of what all of them have; its interval of three complete ones."""
    some, each = any(v is not None for v in values), None not in values
    due = (each if whole else some, *(2 * (complete and each and len(values) >= 3,)))
    assert tuple(found[key] is not None for key in keys) == due, (found, values)


def check_latency(latency: dict[str, Any]) -> None:
    """Percentiles with ten samples beyond are known, but for those among what was never begun."""
    done, unbegun = latency["count"], latency.get("unbegun_ops", 0)
    for item in latency["percentiles"]:
        due = (done + unbegun) * (1 - item["p"]) >= 10 - 1e-6 and done >= (done + unbegun) * item["p"] - 1e-6
        assert (item["ns"] is not None, item["lo_ns"], item["hi_ns"]) == (due, None, None), item
    for key in ("max_ns", "mean_ns"):
        assert (latency[key] is None) == (unbegun > 0)
    assert (latency["stddev_ns"] is None) == (unbegun > 0 or done < 2)


def check_latency_summary(found: dict[str, Any] | None, latencies: list[Any], complete: bool) -> None:
    assert (found is not None) == any(latencies), found
    if found is None:
        return
    if not found.get("unbegun_ops"):
        means = [latency and latency["mean_ns"] for latency in latencies]
        check_known(found["mean_ns"], ("mean", "ci95_low", "ci95_high"), means, complete, False)
    for item in found["percentiles"]:
        values = [next((own["ns"] for own in (latency or {}).get("percentiles", []) if own["p"] == item["p"]), None)
                  for latency in latencies]
        check_known(item, ("ns", "lo_ns", "hi_ns"), values, complete, True)


def check_counts(repeat: dict[str, Any], params: dict[str, Any]) -> None:
    kinds = [repeat[key] is not None for key in ("latency", "read_latency", "response_latency")]
    assert kinds == [True, params["test"] == "mix", params["test"] == "rate"], kinds
    for key, test in (("read_ops", "mix"), ("late_ops", "rate")):
        assert (repeat[key] is not None) == (params["test"] == test), key
    assert params["test"] == "rate" or repeat["max_lag_ns"] is None
    served = params["persist"] in ("gpspm", "gpspm-rt") or params["op"] in ("send", "write-imm")
    if served and repeat["complete"]:
        assert repeat["requests"] == repeat["ops"] + repeat["warmup"]["ops"], "requests are not operations"


def check_steps(repeat: dict[str, Any], test: str) -> None:
    assert [s["name"] for s in repeat["steps"]] == STEPS[test]
    means = {}
    for step in repeat["steps"]:
        check_latency(step["latency"])
        assert step["latency"]["count"] == repeat["ops"]
        means[step["name"]] = step["latency"]["mean_ns"]
    whole = means["register"] if test == "register" else means["prepare"] + means["establish"]
    # each is rounded down to whole nanoseconds, and stamps lie between
    assert abs(repeat["latency"]["mean_ns"] - whole) <= 0.05 * whole + 2000, (repeat["latency"], means)


def check_verify(repeat: dict[str, Any], params: dict[str, Any]) -> None:
    verify = repeat["verify"]
    assert verify["checked_bytes"] > 0 and verify["mismatches"] == 0
    if params["test"] != "mix" and verify["overwritten_bytes"] is not None:
        written = (repeat["ops"] + repeat["warmup"]["ops"]) * params["size_bytes"]
        seen = verify["checked_bytes"] + verify["overwritten_bytes"]
        # with persistence each connection may have probed how flushes complete; a log has a tail of 8 bytes
        connections = params["threads"] * params["connections"]
        more = connections * params["size_bytes"] if params["persist"] != "none" else 0
        more += connections * 8 if params["persist"] == "append" else 0
        assert written <= seen <= written + more


def check_repeat(repeat: dict[str, Any], params: dict[str, Any], verify: bool) -> None:
    transfers = params["test"] not in STEPS
    assert repeat["ops"] > 0 and repeat["ops_per_s"] is not None
    assert (repeat["bytes_per_s"] is not None) == transfers
    assert len(repeat["threads"]) == params["threads"]
    assert all(thread["ops"] > 0 for thread in repeat["threads"])
    for latency in (*(repeat[key] for key in LATENCIES), (repeat["reverse"] or {}).get("latency")):
        if latency is not None:
            check_latency(latency)
    if transfers:
        check_counts(repeat, params)
    else:
        check_steps(repeat, params["test"])
    if verify and params["op"] in ("write", "write-imm", "atomic-write") and repeat["complete"]:
        check_verify(repeat, params)


def check_summary(point: dict[str, Any]) -> None:
    repeats, summary = point["repeats"], point["summary"]
    counted = [r for r in repeats if r["complete"]] or repeats
    complete = counted[0]["complete"]
    sides = [(summary, counted)]
    if summary["reverse"] is not None:
        sides.append((summary["reverse"], [r["reverse"] for r in counted]))
    for found, own in sides:
        for key in ("ops_per_s", "bytes_per_s"):
            if found[key] is None:
                assert all(r[key] is None for r in own), key
            else:
                check_known(found[key], ("mean", "ci95_low", "ci95_high"), [r[key] for r in own], complete, False)
        for key in LATENCIES if found is summary else LATENCIES[:1]:
            check_latency_summary(found[key], [r[key] for r in own], complete)
    for key in COUNTS:
        assert (summary[key] is None) == (None in [r[key] for r in counted])
    for index, step in enumerate(summary["steps"] or []):
        check_latency_summary(step["latency"], [r["steps"][index]["latency"] for r in counted], complete)


def check_params(params: dict[str, Any]) -> None:
    """What validate lets be unknown."""
    assert (params["flush_method"] is not None) == (params["persist"] in ("apm", "native", "append"))
    assert params["persist"] != "native" or params["flush_method"] == "native"
    assert (params.get("rpmem") is not None) == params["persist"].startswith("rpmem")
    atomic = params["op"] == "atomic-write" or params["persist"] == "append"
    assert (params["atomic_write_method"] is not None) == atomic
    if params["op"] is not None:
        copied = params["inline_bytes"] - (8 if params["atomic_write_method"] == "write" else 0)
        assert copied in (0, params["size_bytes"])  # test_connections.py has which


def check_readiness(document: dict[str, Any]) -> None:
    """The server's block: its own schema, of the targets measured, the least ready first."""
    block = document["readiness"]
    if block is None:
        assert not document["points"], "points, and no readiness of their target"
        return
    try:
        import jsonschema
    except ImportError:
        print("check_result: no jsonschema here: the block of readiness was not checked", file=sys.stderr)
    else:
        parts = json.loads((SCHEMAS / "rpma-ddio-check-1.schema.json").read_text())["$defs"]
        jsonschema.Draft202012Validator({"$ref": "#/$defs/block", "$defs": parts}).validate(block)
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


def check_validate(document: dict[str, Any]) -> None:
    """rpma-report validate finds nothing; a host with its base packages alone has not what it imports."""
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
        for key in SUMMARY:
            point["summary"].setdefault(key)
        for repeat in point["repeats"]:
            repeat.setdefault("used", {key: point["params"].get(key) for key in USED})
            for key in ("counters", "cpu_quota"):
                repeat.setdefault(key, {"client": None, "server": None})
            repeat.setdefault("warnings", [])
            for key in REPEAT:
                repeat.setdefault(key)
            for key in LATENCIES:
                complete_latency(repeat[key])


def check_document(document: dict[str, Any], verify: bool = False) -> None:
    """All that follows from the file itself, which afterwards has the keys that it left out."""
    check_validate(document)
    complete_document(document)
    check_readiness(document)
    check_persistence(document)
    measured = clients(document)
    for point in document["points"]:
        check_params(point["params"])
        together = point["params"] | {"threads": point["params"]["threads"] * (len(measured) or 1)}
        for repeat in point["repeats"]:
            check_repeat(repeat, together, verify)
        check_summary(point)


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
