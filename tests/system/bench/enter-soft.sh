#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# rpma-bench gets onto the software device by itself, and stays what it is when
# it is there already. Usage: enter-soft.sh BUILD-DIR
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
bench=$1/tools/rpma-bench/rpma-bench
soft=$1/soft_device/rpma-soft
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
short=(--size 64 --duration 20ms --warmup 0 --repeats 1)
notice='running on the software device, whose timings do not predict hardware$'
# shellcheck source=tests/system/bench/check.sh
. "$here/check.sh"

# measured FILE NOTICES: a result made on the software device, after NOTICES notices
measured()
{
	/usr/bin/python3 -B "$here/check_result.py" "$1" --sizes 64 --kind soft \
		--warning DEVICE_NOT_HARDWARE
	cat err
	[[ $(grep -c "$notice" err) -eq $2 ]]
}

by_itself()
{
	timeout 300 "$bench" local --target dram:1M "${short[@]}" -o r.json 2> err
	measured r.json 1
	head -n 1 err | grep -q '^rpma-bench: this host has no RDMA device: '
}

asked()
{
	timeout 300 "$bench" local --target dram:1M --device soft "${short[@]}" -o r.json 2> err
	measured r.json 1
	head -n 1 err | grep -q '^rpma-bench: --device soft: '
}

already_there()
{
	timeout 300 "$soft" "$bench" local --target dram:1M "${short[@]}" -o r.json 2> err
	measured r.json 0
	timeout 300 "$soft" "$bench" local --target dram:1M --device soft "${short[@]}" -o r.json 2> err
	measured r.json 0
}

# closed outputs: the journal does not become standard output
nowhere_to_write()
{
	local status=0
	timeout 300 "$bench" local --target dram:1M --device soft "${short[@]}" --json -o closed.json \
		<&- >&- 2>&- || status=$?
	[[ $status -eq 2 && -s closed.json ]]
	/usr/bin/python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' \
		< closed.json.jsonl
}

words_are_kept()
{
	RPMA_SOFT='verbose transport:tcp' timeout 300 "$bench" local --target dram:1M --device soft "${short[@]}" \
		-o r.json 2> err
	measured r.json 1
	grep -q '^rpma-soft: .*tcp' err
}

another_device_is_refused()
{
	local status=0
	timeout 300 "$soft" "$bench" local --target dram:1M --device soft4711 "${short[@]}" 2> err || status=$?
	cat err
	[[ $status -eq 3 && $(wc -l < err) -eq 1 ]]
	grep -q soft4711 err
}

# two_processes ADDRESS [HOST]: a server and a client, each by itself
two_processes()
{
	local tries=300 server port
	: > out
	"$bench" server --target dram:1M --device soft --listen "$1" --port 0 --once > out 2> server.err &
	server=$!
	until grep -q ' port ' out; do
		((--tries))
		sleep 0.1
	done
	port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' out)
	timeout 300 "$bench" client "${2-$1}" --port "$port" --device soft "${short[@]}" -o r.json 2> err
	measured r.json 1
	wait "$server"
	grep -q "$notice" server.err
	grep -q '(soft[0-9]*)' out
}

# limited FILES: 64 connections where so many files may be open
limited()
{
	(
		ulimit -n "$1"
		timeout 300 "$bench" local --target dram:1M --device soft "${short[@]}" --connections 64 --pin none \
			-o r.json 2> err
	)
}

the_limit_that_would_do()
{
	local status=0 needed
	limited 64 || status=$?
	cat err
	needed=$(sed -n 's/^rpma-bench: 64 connections to .* have 64: .*(ulimit -n \([0-9]*\))$/\1/p' err)
	[[ $status -eq 2 && $needed -gt 128 ]]
	limited "$needed" || { cat err && return 1; }
}

# it reports that itself, and goes on for clients that ask for less
a_server_with_few_files()
{
	local server port status=0
	(
		ulimit -n 64
		exec "$bench" server --target dram:1M --device soft --port 0 > out 2> server.err
	) &
	server=$!
	trap 'kill "$server"' RETURN
	until_true 'the server prints its port' grep -q ' port ' out
	port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' out)
	timeout 300 "$bench" client 127.0.0.1 --port "$port" --device soft "${short[@]}" \
		--connections 64 --pin none 2> err || status=$?
	cat server.err
	[[ $status -eq 2 ]]
	grep -q '^rpma-bench server: .* 64 connections .* have 64: .*(ulimit -n [0-9]*)' server.err
	timeout 300 "$bench" client 127.0.0.1 --port "$port" --device soft "${short[@]}" 2> err
}

if [[ -n $(ls /sys/class/infiniband 2> /dev/null || true) ]]; then
	printf 'skip by-itself: this machine has an RDMA device\n'
else
	check 'by itself, where there is no RDMA device' by_itself
fi
check 'when it is asked for' asked
check 'not again, when it is there' already_there
check 'with the words that are set' words_are_kept
check 'with its outputs closed' nowhere_to_write
check 'too few open files: how many are needed' the_limit_that_would_do
check 'too few of them for a server' a_server_with_few_files
check 'another of its devices is refused' another_device_is_refused
check 'a server and a client' two_processes 127.0.0.1
if [[ -e /proc/net/if_inet6 ]] && grep -q ' lo$' /proc/net/if_inet6; then
	check 'a server and a client over IPv6' two_processes ::1 '[::1]'
else
	printf 'skip ipv6: this machine has no ::1\n'
fi
exit "$failed"
