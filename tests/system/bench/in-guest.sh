#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# rpma-bench over an RDMA device: what it measures, and how it ends when a side
# dies. Runs in the guest of scripts/vm, or on the software device by on-soft;
# one line for each case. Usage: in-guest.sh [short]: a connection that is refused.
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail

length=${1-}
here=$(dirname "$(readlink -f "$0")")
bench=$RPMA_BUILD_DIR/tools/rpma-bench/rpma-bench
address=$RPMA_VM_ADDR
kind=${RPMA_BENCH_KIND:-rxe}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck source=tests/system/bench/check.sh
. "$here/check.sh"
short=(--duration 100ms --warmup 20ms)
[[ $kind == rxe ]] || short=(--duration 30ms --warmup 5ms) # this processor is none that is emulated
small=(--target dram:4M) # an emulated processor takes a second to register 64 MiB

# ends STATUS COMMAND...: within some minutes, with this status
ends()
{
	local expected=$1 status=0
	shift
	timeout 1800 "$@" || status=$?
	[[ $status -eq $expected ]] || {
		printf '%s: status %d, expected %d\n' "$*" "$status" "$expected"
		return 1
	}
}

result()
{
	judge "$1" "$here/check_result.py" --kind "$kind" "${@:2}"
}

server='' port=''
# start_server OPTION...: sets server and port
start_server()
{
	local target=("${small[@]}")
	[[ " $* " != *' --target '* ]] || target=()
	: > server.out # what the one before said is not for us
	"$bench" server --listen "$address" --port 0 "${target[@]}" "$@" > server.out 2> server.err &
	server=$!
	until_true 'the server prints its port' grep -q ' port ' server.out
	port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' server.out)
}

# ended PID STATUS: has it, within some minutes?
ended()
{
	local status=0
	until_true "process $1 ends" eval "! kill -0 $1 2> /dev/null"
	wait "$1" || status=$?
	[[ $status -eq $2 ]] || {
		printf 'status %d, expected %d\n' "$status" "$2"
		return 1
	}
}

# connections N: has the client asked for N? One is for control.
connections()
{
	[[ $(grep -c 'a connection to .* is requested' client.err) -ge $1 ]]
}

one_line()
{
	cat "$1"
	[[ $(wc -l < "$1") -eq 1 ]]
	grep -q -- "$2" "$1"
}

latency_of_writes()
{
	ends 0 "$bench" local "${small[@]}" --size 64,256,4K "${short[@]}" --repeats 3 --seed 7 -o lat.json
	result lat.json --sizes 64,256,4096 --repeats 3 --param test=lat --param op=write \
		--param persist=none --param flush=None --param latency_kind=post_to_cqe \
		--warning DEVICE_NOT_HARDWARE
}

an_interval_ends_the_repeats()
{
	ends 0 "$bench" local "${small[@]}" --size 64,4K "${short[@]}" --ci 20 --repeats 12 -q -o ci.json
	judge ci.json "$here/check_that.py" '
import math, statistics
# the 97.5 % quantile of the t distribution, by degrees of freedom
T = {7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228}

def narrow(means):
    half = T[len(means) - 1] * statistics.stdev(map(math.log, means)) / len(means) ** 0.5
    return math.exp(half) <= 1.2

for point in r["points"]:
    repeats = point["repeats"]
    assert [one["index"] for one in repeats] == list(range(len(repeats)))
    means = [one["latency"]["mean_ns"] for one in repeats]
    assert 8 <= len(means) <= 12
    assert len(means) == 12 or narrow(means), means
    assert not any(narrow(means[:n]) for n in range(8, len(means))), means
'
}

json_alone_on_stdout()
{
	ends 0 "$bench" local "${small[@]}" --size 64 "${short[@]}" --repeats 1 --json --quiet > json 2> err
	[[ ! -s err ]]
	result json --sizes 64
}

the_file_outlives_a_full_stdout()
{
	ends 2 "$bench" local "${small[@]}" --size 64 "${short[@]}" --repeats 1 --json -q -o both.json \
		> /dev/full 2> err
	one_line err 'standard output'
	result both.json --sizes 64
}

several_clients_one_server()
{
	start_server --target dram:1M
	ends 0 "$bench" client "$address" --port "$port" --size 64 "${short[@]}" --repeats 2 -o 1.json
	result 1.json --sizes 64 --repeats 2 --param target_memory.kind=dram \
		--param target_memory.bytes=1048576 --param target_memory.direct_write_to_pmem=False
	ends 2 "$bench" client "$address" --port "$port" --size 2M -q 2> err
	one_line err '2 MiB .*does not fit target 0'
	"$bench" client "$address" --port "$port" --size 64 "${short[@]}" --repeats 5 -q -o 2.json &
	ends 0 "$bench" client "$address" --port "$port" --size 64 "${short[@]}" --repeats 5 -o 3.json
	wait $!
	result 2.json --sizes 64 --repeats 5
	result 3.json --sizes 64 --repeats 5
	kill -TERM "$server"
	ended "$server" 143
}

a_file_as_target()
{
	start_server --target "$work/target:1M" --once
	[[ $(stat -c %s target) -eq 1048576 ]]
	ends 0 "$bench" client "$address" --port "$port" --size 64 "${short[@]}" --repeats 1 -o f.json
	result f.json --sizes 64
	ended "$server" 0
	[[ ! -e target ]]
	printf 'precious' > target
	ends 2 "$bench" server --listen "$address" --target "$work/target" 2> err
	one_line err '--force'
	ends 2 "$bench" server --listen "$address" --target "$work/target:1M" 2> err
	one_line err 'exists already'
	[[ $(< target) == precious ]]
}

nobody_listens()
{
	ends 2 "$bench" client "$address" --port 1 2> err
	one_line err "$address:1 .*nothing listens"
}

nobody_there()
{
	ends 2 "$bench" client "${address%.*}.77" 2> err
	one_line err "${address%.*}.77"
}

an_address_without_device()
{
	ends 2 "$bench" server --listen 192.0.2.77 2> err
	one_line err "192.0.2.77: expected one of.* $address"
}

start_client()
{
	: > client.err
	"$bench" client "$address" --port "$port" --size 64 --warmup 10ms --repeats 9 -v "$@" \
		2> client.err &
	client=$!
}

killed_server()
{
	start_server
	printf 'good' > result.json
	start_client --duration 200ms -o result.json
	until_true 'the third repeat runs' connections 4
	kill -KILL "$server"
	ended "$client" 2
	grep -v '^librpma' client.err | tail -n 1 > last
	cat last
	# refused, if it was killed just before the connection of the next repeat
	grep -qE "$address:$port (closed|refused) the connection" last
	[[ $(< result.json) == good ]]
	result result.json.partial --sizes 64 --repeats 9 --status failed
	wait "$server" || true
}

stopped_server()
{
	start_server
	start_client --duration 20s
	until_true 'the first repeat runs' connections 2
	kill -TERM "$server"
	ended "$server" 143
	ended "$client" 2
	grep -qE "$address:$port (closed|refused) the connection" client.err
}

killed_client()
{
	start_server
	start_client --duration 20s
	until_true 'the first repeat runs' connections 2
	kill -KILL "$client"
	wait "$client" || true
	ends 0 "$bench" client "$address" --port "$port" --size 64 "${short[@]}" --repeats 1 -o n.json
	result n.json --sizes 64
	until_true 'the server notes it' grep -q 'client .* closed' server.err
	kill -TERM "$server"
	ended "$server" 143
}

interrupted_client()
{
	start_server --once
	start_client --duration 300ms -o int.json
	until_true 'the third repeat runs' connections 4
	kill -INT "$client"
	ended "$client" 130
	result int.json --sizes 64 --repeats 9 --status interrupted
	ended "$server" 0
}

interrupted_client_keeps_a_result()
{
	start_server --once
	printf 'good' > kept.json
	start_client --duration 300ms -o kept.json
	until_true 'the third repeat runs' connections 4
	kill -INT "$client"
	ended "$client" 130
	[[ $(< kept.json) == good ]]
	result kept.json.partial --sizes 64 --repeats 9 --status interrupted
	ended "$server" 0
}

interrupted_local()
{
	# with much in flight when the signal comes: its server must not leave first
	: > client.err
	BENCH_RUN=$work "$bench" local --size 256K --depth 256 --duration 20s --warmup 10ms -v \
		-o il.json 2> client.err &
	client=$!
	until_true 'the first repeat runs' connections 2
	kill -TERM "$client"
	ended "$client" 143
	until_true 'its server has gone' eval "! grep -qsz BENCH_RUN=$work /proc/[0-9]*/environ"
}

a_stranger()
{
	start_server
	timeout 20 rping -c -a "$address" -p "$port" -C 1 || true
	until_true 'the server refuses it' grep -q 'not a client of this tool' server.err
	ends 0 "$bench" client "$address" --port "$port" --size 64 "${short[@]}" --repeats 1
	kill -TERM "$server"
	ended "$server" 143
}

check_long 'latency of writes' latency_of_writes
check_long 'an interval ends the repeats of a point' an_interval_ends_the_repeats
check_long '--json is alone on stdout' json_alone_on_stdout
check_long 'the file is written though stdout is full' the_file_outlives_a_full_stdout
check_long 'several clients of one server' several_clients_one_server
check_long 'a file as target' a_file_as_target
check 'a port without a listener' nobody_listens
check_long 'an address that no host has' nobody_there
check_long 'an address without a device' an_address_without_device
check_long 'a server killed in mid-run' killed_server
check_long 'a server stopped in mid-run' stopped_server
check_long 'a client killed in mid-run' killed_client
check_long 'an interrupted client' interrupted_client
check_long 'an interrupted client keeps a result' interrupted_client_keeps_a_result
check_long 'an interrupted local run' interrupted_local
check_long 'a stranger connects' a_stranger
exit "$failed"
