#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The kernel's placement of threads and memory, and the report where it lets
# nothing be bound, as in a container. By on-soft.
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
bench=$RPMA_BUILD_DIR/tools/rpma-bench/rpma-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck source=tests/system/bench/check.sh
. "$here/check.sh"
# a container may have some of the CPUs only
allowed=$(/usr/bin/python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))')
cores=$(lscpu --parse=CORE | grep -v '^#' | sort -u | wc -l)

# measure COMMAND...: one short point of a local run; status in $status
measure()
{
	status=0
	timeout 300 "$@" -q --size 64 --duration 30ms --warmup 1ms --repeats 1 -o r.json \
		2> err || status=$?
	cat err
}

# holds EXPRESSION: of the result r, its repeat p and the codes of its warnings
holds()
{
	/usr/bin/python3 - "$1" <<'PY'
import json, sys
r = json.load(open("r.json"))
p = r["points"][-1]["repeats"][0]
codes = {w["code"]: w["text"] for w in r["run"]["warnings"]}
assert eval(sys.argv[1]), (sys.argv[1], r["placement"], p["threads"], codes)
PY
}

threads_have_a_core_each()
{
	[[ $cores -ge 2 ]] || {
		echo 'one core only: nothing to see'
		return
	}
	measure "$bench" local --target dram:1M --threads 1,2
	[[ $status -eq 0 ]]
	# bound to one CPU each, and seen running there
	holds 'len(p["threads"]) == 2 and all(t["cpus"] == str(t["cpu"]) for t in p["threads"])'
	holds 'p["threads"][0]["cpu"] != p["threads"][1]["cpu"]'
	holds '[t["cpu"] for t in p["threads"]] == r["placement"]["client"]["cpus"]'
	holds '"PIN_FAILED" not in codes and "MEMORY_BIND_FAILED" not in codes'
	holds 'sum(t["ops"] for t in p["threads"]) == p["ops"] and all(t["ops"] for t in p["threads"])'
	holds 'r["placement"]["client"]["node"] is not None'
}

more_threads_than_cores()
{
	measure "$bench" local --target dram:1M --threads $((cores + 1))
	[[ $status -eq 64 ]]
	grep -q "$((cores + 1)) threads, but $cores core.* for them here" err
	measure "$bench" local --target dram:1M --threads $((cores + 1)) --pin none
	[[ $status -eq 0 ]]
	holds '"threads of this run share" in codes["PIN_SHARED_CORE"]'
	measure "$bench" local --target dram:1M --threads 2 --pin "${allowed%% *}"
	[[ $status -eq 0 ]]
	holds "codes['PIN_SHARED_CORE'] == '--pin ${allowed%% *}: 2 threads share 1 CPU'"
	holds "all(t['cpus'] == '${allowed%% *}' for t in p['threads'])"
}

# one CPU of them all, for the client that polls and the server that polls
both_ends_on_one_cpu()
{
	measure taskset -c "${allowed%% *}" "$bench" local --target dram:1M --pin none --persist gpspm-rt
	[[ $status -eq 0 ]]
	holds '"one core" in str(codes["PIN_SHARED_CORE"]) or "1 core" in str(codes["PIN_SHARED_CORE"])'
	holds '["client", "server"] == sorted(w["host"] for w in r["run"]["warnings"] if w["code"] == "PIN_SHARED_CORE")'
}

taskset_is_respected()
{
	local last=${allowed##* }
	measure taskset -c "$last" "$bench" local --target dram:1M
	[[ $status -eq 0 ]]
	holds "r['placement']['client']['cpus'] == [$last]"
}

memory_cannot_be_bound()
{
	measure "$here/without_calls" mbind "$bench" local --target dram:1M
	[[ $status -eq 0 ]]
	holds '"could not be bound to NUMA node 0: Operation not permitted" in codes["MEMORY_BIND_FAILED"]'
	measure "$here/without_calls" mbind,get_mempolicy "$bench" local --target dram:1M
	[[ $status -eq 0 ]]
	holds 'r["placement"]["client"]["node"] is None and "MEMORY_BIND_FAILED" in codes'
	measure "$here/without_calls" mbind "$bench" local --target dram:1M --mem-node none
	[[ $status -eq 0 ]]
	holds '"MEMORY_BIND_FAILED" not in codes'
}

threads_cannot_be_bound()
{
	measure "$here/without_calls" sched_setaffinity "$bench" local --target dram:1M
	[[ $status -eq 0 ]]
	holds '"could not be bound to CPU" in codes["PIN_FAILED"]'
	holds "p['threads'][0]['cpus'] != str(r['placement']['client']['cpus'][0])"
}

check 'threads have a core each' threads_have_a_core_each
check 'more threads than cores' more_threads_than_cores
check 'both ends on one CPU' both_ends_on_one_cpu
check 'taskset is respected' taskset_is_respected
check 'memory cannot be bound' memory_cannot_be_bound
check 'threads cannot be bound' threads_cannot_be_bound
exit "$failed"
