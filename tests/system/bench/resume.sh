#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A run that is interrupted and killed, again and again, and resumed: each of its
# 40 points is measured as often as asked, none twice. By on-soft.
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
bench=$RPMA_BUILD_DIR/tools/rpma-bench/rpma-bench
address=$RPMA_VM_ADDR
server=''
work=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
# shellcheck source=tests/system/bench/check.sh
. "$here/check.sh"

# 5 sizes x 4 depths x 2 persistences, two repeats of each
axes=(--size '64:1K:*2' --depth '1:8:*2' --persist 'none,apm')
sizes=64,128,256,512,1024
settings=(--repeats 2 --duration 20ms --warmup 1ms)

"$bench" server --target dram:1M --listen "$address" --port 0 > server.out 2> server.err &
server=$!
until_true 'the server prints its port' grep -q ' port ' server.out
port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' server.out)

# measure OPTION...: status in $status, what it said in err
measure()
{
	status=0
	timeout 300 "$bench" client "$address" --port "$port" "${axes[@]}" "${settings[@]}" -q "$@" \
		2> err || status=$?
}

lines()
{
	[[ $(wc -l < r.json.jsonl) -ge $1 ]]
}

# stop_after LINES SIGNAL STATUS OPTION...: ends a run in the middle, once the journal has so many
stop_after()
{
	local wanted=$1 signal=$2 expected=$3 client
	shift 3
	"$bench" client "$address" --port "$port" "${axes[@]}" "${settings[@]}" -q "$@" 2> err &
	client=$!
	until_true "the journal has $wanted lines" eval "[[ -f r.json.jsonl ]] && lines $wanted"
	kill "-$signal" "$client"
	status=0
	wait "$client" || status=$?
	[[ $status -eq $expected ]]
}

interrupted()
{
	stop_after 12 INT 130 -o r.json --seed 5
	cat err
	grep -q -- '--resume r.json' err
	lines 12
	/usr/bin/python3 -B "$here/check_result.py" r.json --kind "$RPMA_BENCH_KIND" \
		--sizes "$sizes" --depths 1,2,4,8 --repeats 2 --status interrupted --persists none,apm
	cp r.json interrupted.json
}

killed()
{
	local wanted
	for wanted in 20 21 35 60; do
		stop_after "$wanted" KILL 137 --resume r.json
	done
	cmp r.json interrupted.json # a killed run touches no result
}

resumed()
{
	measure --resume r.json
	cat err
	[[ $status -eq 0 && ! -e r.json.jsonl ]]
	/usr/bin/python3 -B "$here/check_result.py" r.json --kind "$RPMA_BENCH_KIND" \
		--sizes "$sizes" --depths 1,2,4,8 --repeats 2 --persists none,apm
	/usr/bin/python3 - <<'PY'
import json
before, after = (json.load(open(name)) for name in ("interrupted.json", "r.json"))
assert before["run"]["id"] == after["run"]["id"] and after["run"]["seed"] == 5
assert len(after["points"]) == 40
# what was measured before the interruption is there, figure by figure
kept = {(p["id"], r["index"]): r for p in after["points"] for r in p["repeats"]}
for point in before["points"]:
    for repeat in point["repeats"]:
        if repeat["complete"]:
            assert kept[point["id"], repeat["index"]] == repeat, (point["id"], repeat["index"])
PY
}

# every test, with all that a server reports, is read back as it was written
every_kind()
{
	cat > every.json <<'JSON'
{"series": [{"size": 64, "op": ["write", "read", "send", "write-imm"]},
 {"size": 64, "persist": ["apm", "gpspm", "append", "auto"]}, {"op": "atomic-write"},
 {"test": "bw", "size": 64, "signal-every": 4, "bidirectional": true},
 {"test": "bw", "size": 64, "op": "send", "srq": true, "connections": 2},
 {"test": "rate", "size": 64, "rate": 1000}, {"test": "mix", "size": 64, "server-load": 0.1},
 {"test": "connect"}, {"test": "register", "size": 4096}], "repeats": 2, "duration": "20ms",
 "warmup": "1ms"}
JSON
	axes=(--plan every.json --verify)
	settings=()
	"$bench" client "$address" --port "$port" "${axes[@]}" -q -o r.json 2> err &
	local client=$!
	until_true 'each was measured once' eval '[[ -f r.json.jsonl ]] && lines 17'
	kill -KILL "$client"
	wait "$client" || true
	measure --resume r.json
	cat err
	[[ $status -eq 0 ]]
	/usr/bin/python3 - <<'PY'
import json
run = json.load(open("r.json"))
assert run["run"]["resumed_repeats"] >= 16 and len(run["points"]) == 15, run["run"]
PY
}

check 'an interrupted run prints how to go on' interrupted
check 'killed at several places' killed
check 'resumed to its end: all points once' resumed
check 'repeats of every kind are taken back' every_kind
exit "$failed"
