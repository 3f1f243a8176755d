#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The output of --dry-run, and that a run then does it. Usage: dry-run.sh BUILD-DIR
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
bench=$1/tools/rpma-bench/rpma-bench
soft=$1/soft_device/rpma-soft
foreign=$here/../../lib/data/two-sockets.xml
schema=$here/../../../doc/schema/rpma-bench-plan.schema.json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck source=tests/system/bench/check.sh
. "$here/check.sh"

axes=(--size '64,4K' --depth '1,8' --persist 'none,apm')

# no server is asked: the host does not even exist
needs_no_server()
{
	"$bench" client nowhere.invalid --dry-run "${axes[@]}" --seed 3 > text
	cat text
	grep -q '^8 points, 5 repeats each, 40 in all; seed 3$' text
	# 40 x (10 s + 1 s) and the time between
	grep -q '^time: about 7 min 22 s$' text
	[[ $(grep -c '^p000[0-7] ' text) -eq 8 ]]
	[[ $(grep -c '^round [1-5]: ' text) -eq 5 ]]
	[[ $(grep -c 'test lat' text) -eq 0 ]] # what all points share is not repeated
}

json_is_alone_on_stdout()
{
	"$bench" local --dry-run --json "${axes[@]}" --seed 3 --ops 10k > plan.json 2> err
	[[ ! -s err ]]
	/usr/bin/python3 - <<'PY'
import json
plan = json.load(open("plan.json"))
assert plan["estimate_s"] is None and plan["seed"] == 3 and plan["repeats"] == 5
assert [p["id"] for p in plan["points"]] == [f"p{i:04}" for i in range(8)]
assert {(p["params"]["size"], p["params"]["depth"], p["params"]["persist"])
        for p in plan["points"]} == {(s, d, p) for s in (64, 4096) for d in (1, 8)
                                     for p in ("none", "apm")}
order = [(item["point"], item["repeat"]) for item in plan["order"]]
assert len(set(order)) == 40 and [repeat for _, repeat in order] == sorted(r for _, r in order)
PY
}

placement_of_another_machine()
{
	HWLOC_XMLFILE=$foreign "$bench" client h --dry-run --json --size 64 --threads 1,3 > plan.json
	/usr/bin/python3 - <<'PY'
import json
placement = json.load(open("plan.json"))["placement"]
assert placement == {"policy": "auto", "cpus": [4, 5, 6], "node": 1, "device": "mlx5_0",
                     "this_machine": False}, placement
PY
	HWLOC_XMLFILE=$foreign "$bench" client h --dry-run --size 64 --device mlx5_9 > text
	grep -q 'machine of HWLOC_XMLFILE, next to mlx5_9: thread 0 on CPU 1, memory on NUMA node 0' text
	if HWLOC_XMLFILE=$foreign "$bench" client h --dry-run --size 64 --threads 9 2> err; then
		return 1
	fi
	grep -q '9 threads, but 8 cores' err
}

a_run_on_another_machine_is_refused()
{
	local status=0
	HWLOC_XMLFILE=$foreign timeout 300 "$soft" -- "$bench" local -q --size 64 --duration 10ms \
		2> err || status=$?
	cat err
	[[ $status -eq 2 ]]
	grep -q 'HWLOC_XMLFILE describes another machine' err
}

a_plan_file_is_its_options()
{
	cat > file.json <<'JSON'
{
  "series": [
    {"size": [64, "4K"], "depth": "1,8", "persist": ["none", "apm"]},
    {"size": "64", "persist": "apm"},
    {"test": "mix", "size": 4096, "read-fraction": [0.5, "90%"], "srq": false}
  ],
  "repeats": 2,
  "seed": 3
}
JSON
	/usr/bin/python3 -c '
import json, jsonschema, sys
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open("file.json")))
' "$schema"
	"$bench" client h --dry-run --json --plan file.json > a.json
	"$bench" client h --dry-run --json "${axes[@]}" > b.json
	/usr/bin/python3 - <<'PY'
import json
a, b = json.load(open("a.json")), json.load(open("b.json"))
assert a["seed"] == 3 and a["repeats"] == 2
assert a["points"][:8] == b["points"], "the first series"
# the second one is among the first; the third is new
assert [(p["params"]["test"], p["params"]["read-fraction"]) for p in a["points"][8:]] == [
    ("mix", 0.5), ("mix", 0.9)], a["points"][8:]
PY
}

the_run_keeps_the_order()
{
	local few=(--size '64,128,256' --repeats 2 --seed 11)
	"$bench" local --dry-run --json "${few[@]}" > plan.json
	timeout 300 "$soft" -- "$bench" local -q "${few[@]}" --duration 10ms --warmup 1ms -o run.json
	/usr/bin/python3 - <<'PY'
import json
plan, run = json.load(open("plan.json")), json.load(open("run.json"))
measured = sorted((r["order"], p["id"], r["index"]) for p in run["points"] for r in p["repeats"])
assert [(i["point"], i["repeat"]) for i in plan["order"]] == [m[1:] for m in measured]
PY
}

check 'a dry run needs no server' needs_no_server
check 'its JSON is alone on stdout' json_is_alone_on_stdout
check 'the placement of another machine' placement_of_another_machine
check 'a run on another machine is refused' a_run_on_another_machine_is_refused
check 'a plan file is its options' a_plan_file_is_its_options
check 'the run keeps the order' the_run_keeps_the_order
exit "$failed"
