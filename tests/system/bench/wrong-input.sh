#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How rpma-bench answers wrong input: one line on stderr that names the
# thing, nothing on stdout, the documented exit status. No case needs an RDMA
# device. Usage: wrong-input.sh PATH-OF-rpma-bench
set -euo pipefail

bench=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# refused STATUS PATTERN ARGUMENT...
refused()
{
	local expected=$1 pattern=$2 status=0
	shift 2
	timeout 300 "$bench" "$@" > "$work/out" 2> "$work/err" || status=$?
	if [[ $status -eq $expected && $(wc -l < "$work/err") -eq 1 && ! -s $work/out ]] &&
		grep -qE -- "$pattern" "$work/err"; then
		printf 'ok rpma-bench %s\n' "$*"
		return
	fi
	printf 'not ok rpma-bench %s: status %d, expected %d and one line with /%s/:\n' \
		"$*" "$status" "$expected" "$pattern"
	cat "$work/out" "$work/err"
	failed=1
}

# which values an axis takes, and which go together: test_axes.c, test_params.c and test_plan.c
refused 64 'no mode'
refused 64 'unknown mode sever' sever
refused 64 'host of the server is missing' client
refused 64 'HOST \[::1\]:7204: expected .* goes into --port' client '[::1]:7204'
refused 64 'HOST host:7204: expected .* goes into --port' client host:7204
refused 64 '--verify: nothing to compare' client host --verify --op read
refused 64 'unexpected argument again' client host again
refused 64 'unexpected argument host' server host
refused 64 'unexpected argument host' local host
refused 64 'unknown option --sizes \(did you mean --size\?\)' client host --sizes 64
refused 64 'unknown option -z' client host -z
refused 64 'unknown option --listen' client host --listen 10.0.0.1
refused 64 'unknown option --size' server --size 64
refused 64 '--size needs a value' client host --size
refused 64 '--size 2G:' client host --size 2G
refused 64 '--persist needs --op write' client host --op read --persist apm
refused 64 '--rate 10K: .*did you mean 10k\?' client host --test rate --rate 10K
refused 64 '--size 4k: .*did you mean 4K\?' client host --size 4k
refused 64 '--size 64,4k: 4k is wrong: .*did you mean 4K\?' client host --size 64,4k
refused 64 '--rate needs --test rate' client host --rate 10k
refused 64 'unexpected argument yes' client host --srq yes
refused 64 '--target dram,dram:' client host --target dram,dram
refused 64 '--target /dev/dax0.0:' client host --target /dev/dax0.0
refused 64 '--duration 0:' client host --duration 0
refused 64 '--duration 10x:' client host --duration 10x
refused 64 '--duration 25h:' client host --duration 25h
refused 64 '--warmup -1s:' client host --warmup=-1s
refused 64 '--repeats 0:' client host --repeats 0
refused 64 '--repeats 1.5:' client host --repeats 1.5
refused 64 '--seed x:' client host --seed x
refused 64 '--ops 0:' client host --ops 0
refused 64 '--ops 1e6:' client host --ops 1e6
refused 64 '--ops and --duration' client host --ops 10k --duration 1s
refused 64 '--ci 0:' client host --ci 0
refused 64 '--ci 51:' client host --ci 51
refused 64 '--repeats 7 with --ci' client host --ci 5 --repeats 7
refused 64 '--label :' client host --label ''
refused 64 '--label .*: expected a text' client host --label "$(printf 'x%.0s' {1..129})"
refused 64 'expected a text of 1 to 128 bytes in UTF-8' client host --label $'\xff'
refused 64 '--slo lat:' client host --slo lat
refused 64 '--slo lat.p99<10: expected a limit with a unit' client host --slo 'lat.p99<10'
refused 64 'did you mean lat.p99<10us\?' client host --slo 'p99<10us'
refused 64 'did you mean bw:lat.p99<10us\?' client host --test bw --slo 'bw:p99<10us'
refused 64 '--output y: expected one file' client host --resume x -o y
refused 64 "--output '': expected the name of a file" client host -o ''
refused 64 '--find-rate read.p50<1s: test rate has no reads' client host --test rate --find-rate 'read.p50<1s'
refused 64 '--find-rate reverse.p50<1s: test rate has no reads and no other direction' client host --test rate --find-rate 'reverse.p50<1s'
refused 64 '--find-rate verify.mismatches<1: expected --verify' client host --test rate --find-rate 'verify.mismatches<1'
refused 64 '--csv x: expected another file' client host -o x --csv x
refused 64 '--csv ./x: expected another file' client host -o x --csv ./x
refused 64 '--mem-node -1:' client host --mem-node=-1
refused 64 '--mem-node all:' client host --mem-node all
refused 64 '--allow 10.0.0.0/33:' server --allow 10.0.0.0/33
refused 64 '--allow host:' server --allow host
refused 64 '--pin x:' server --pin x
refused 64 'unknown option --allow' client host --allow 10.0.0.1
refused 64 'unknown option --plan' server --plan x
refused 64 'unknown option --targets' local --targets x
refused 64 '--pin core:' client host --pin core
refused 64 '--port 65536:' client host --port 65536
refused 64 '--port 0:' client host --port 0
refused 64 '--target dram:' server --target dram:
refused 64 '--target dram:0:' server --target dram:0
refused 64 '--target /tmp/x:1X:' server --target /tmp/x:1X

printf '{"series": [{"size": 0}]}' > "$work/zero.json"
printf '{"series": [{"sise": 64}]}' > "$work/key.json"
printf '{"series": [{}]' > "$work/torn.json"
printf '{"series": [{"op": "read"}, {"test": "connect"}]}' > "$work/reads.json"
refused 64 '--verify: nothing to compare' client host --plan "$work/reads.json" --verify
refused 64 'series\[0\]: size 0: expected sizes' client host --plan "$work/zero.json"
refused 64 'series\[0\]: unknown key "sise"' client host --plan "$work/key.json"
refused 64 'line 1, column 15: ' local --plan "$work/torn.json"
refused 64 '--size and --plan' client host --plan "$work/zero.json" --size 64
refused 2 "cannot read the plan $work/none: No such file" client host --plan "$work/none"
refused 2 'cannot read the plan /dev/zero: expected a regular file' client host --plan /dev/zero
refused 2 'mem-node 1023: the machine has no such' client host --dry-run --mem-node 1023
HWLOC_XMLFILE=$work/none.xml refused 2 'or of HWLOC_XMLFILE' client host --dry-run --size 64
refused 2 "nothing to resume: there is no $work/x.json.jsonl" client host --resume "$work/x.json"

refused 2 'resolve the host name nowhere.invalid' client nowhere.invalid
refused 2 "write the result to $work/none/x.json: No such file" \
	client 127.0.0.1 -o "$work/none/x.json"
refused 2 "write the result to $work: Is a directory" client 127.0.0.1 -o "$work"
refused 2 'write the result to /dev/null' client 127.0.0.1 -o /dev/null
refused 2 'write the result to /proc/x' local -o /proc/x
refused 2 'resolve the host name nowhere.invalid' server --listen nowhere.invalid

# the output was tried before, and left no trace
mkdir "$work/kept"
printf 'good\n' > "$work/kept/result.json"
refused 2 'nowhere.invalid' client nowhere.invalid -o "$work/kept/result.json"
[[ $(ls "$work/kept") == result.json && $(< "$work/kept/result.json") == good ]] || {
	printf 'not ok a result that was there is kept, and nothing beside it\n'
	failed=1
}

# a copy without rpma-soft beside it
mkdir "$work/bin"
cp "$bench" "$work/bin/rpma-bench"
bench=$work/bin/rpma-bench
if [[ -n $(ls /sys/class/infiniband 2> /dev/null || true) ]]; then
	printf 'skip what is said without an RDMA device: this machine has one\n'
else
	for mode in local server 'client 127.0.0.1'; do
		# shellcheck disable=SC2086 # two words
		PATH=/usr/bin:/bin refused 3 'no RDMA device: rpma-soft.*cannot be started' $mode
		# shellcheck disable=SC2086
		refused 3 'no RDMA device .*--device soft.*scripts/vm' $mode --device rxe0
	done
	# the loader's own line comes first
	LD_PRELOAD=none/librpma-soft.so timeout 300 "$bench" local 2> "$work/all" || true
	if [[ $(tail -n 1 "$work/all") != *'rpma-bench: '*'LD_PRELOAD'*'was not loaded' ]]; then
		printf 'not ok it starts itself again once only\n'
		failed=1
	fi
fi
PATH=/usr/bin:/bin refused 3 'device soft: rpma-soft.*cannot be started' local --device soft

# restarts LINES ARGUMENT...: under what stands for rpma-soft here, after LINES lines
cat > "$work/bin/rpma-soft" <<'SH'
#!/bin/sh
printf '%s\n' "$@"
SH
chmod +x "$work/bin/rpma-soft"
restarts()
{
	local lines=$1
	shift
	timeout 300 "$bench" "$@" > "$work/out" 2> "$work/err"
	printf '%s\n' -- "$bench" "$@" > "$work/expected"
	if cmp "$work/expected" "$work/out" && [[ $(wc -l < "$work/err") -eq $lines &&
		$(grep -c 'device soft: .*do not predict hardware$' "$work/err") -eq $lines ]]; then
		printf 'ok rpma-bench %s starts itself again\n' "$*"
	else
		printf 'not ok rpma-bench %s starts itself again\n' "$*"
		cat "$work/out" "$work/err"
		failed=1
	fi
}
restarts 1 local --device soft --size 64
restarts 1 server --device soft --port 0
restarts 1 client --device soft --size 64 127.0.0.1
restarts 0 local --device soft --quiet
bench=$1

# --json has the failure of a run, as the schema wants it, and still one line on stderr
schema=$(dirname "$(readlink -f "$0")")/../../../doc/schema/rpma-bench-1.schema.json
status=0
"$bench" client nowhere.invalid --json > "$work/out" 2> "$work/err" || status=$?
if [[ $status -ne 2 || $(wc -l < "$work/err") -ne 1 ]] ||
	! /usr/bin/python3 -c '
import json, jsonschema, sys
document = json.load(sys.stdin)
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(document)
run = document["run"]
assert (run["status"], run["exit_code"], run["failure"]["step"]) == ("failed", 2, "resolve"), run
' "$schema" < "$work/out"; then
	printf 'not ok --json names the failed step\n'
	failed=1
fi

for mode in '' server client local; do
	# shellcheck disable=SC2086
	if ! "$bench" $mode --help > "$work/out" 2> "$work/err" || [[ ! -s $work/out || -s $work/err ]]; then
		printf 'not ok rpma-bench %s --help\n' "$mode"
		failed=1
	fi
	# shellcheck disable=SC2086
	[[ $("$bench" $mode --version) == 'rpma-bench '[0-9]* ]] || {
		printf 'not ok rpma-bench %s --version\n' "$mode"
		failed=1
	}
done
exit "$failed"
