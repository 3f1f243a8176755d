#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# rpma-ping over the kernel's RDMA device, in the guest of scripts/vm.
# Usage: in-guest-ping.sh read|flush LIBRARY [short|libraries]: what a flush of persistent memory
# is by there, and which librpma of Debian's runs there; short: how pings fail; libraries: only with
# Debian's librpma at one end. One line for each case.
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail

flush_by=$1
debians=$2
length=${3-}
here=$(dirname "$(readlink -f "$0")")
export RPMA_PING=$RPMA_BUILD_DIR/tools/rpma-ping/rpma-ping
shared=$RPMA_BUILD_DIR/tests/system/ping/rpma-ping-shared
address=$RPMA_VM_ADDR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck source=tests/system/bench/check.sh
. "$here/../bench/check.sh"

# failed STEP CAUSE: the truth that a result ended so
failed()
{
	printf "(r['failure']['step'], r['failure']['cause']) == ('%s', '%s')" "$1" "$2"
}

# result STATUS TRUTH COMMAND...: ends so within a minute, and this holds of its result r
result()
{
	local expected=$1 truth=$2 status=0
	shift 2
	timeout 600 "$@" --json > json 2> err || status=$?
	cat err
	[[ $status -eq $expected ]] || { printf 'status %d, expected %d\n' "$status" "$expected" && return 1; }
	judge json "$here/check_ping.py" "$expected" "$truth"
}

server='' port=''
# start PROGRAM OPTION...: sets server and port
start()
{
	: > server.out
	"$@" > server.out 2> server.err &
	server=$!
	until_true 'the server prints its port' grep -q ' port ' server.out
	port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' server.out)
}

stop()
{
	local status=0
	kill -TERM "$server"
	wait "$server" || status=$?
	[[ $status -eq 143 ]]
}

serve()
{
	start "$RPMA_PING" --server --listen "$address" --port 0 "$@"
}

they_come_back()
{
	serve
	for wait in poll event; do
		for size in 1 64 5000 256K; do
			result 0 "r['pings']['received'] == 20 and r['device']['kind'] == 'rxe'" \
				"$RPMA_PING" "$address" -p "$port" -c 20 -i 1ms -s "$size" --wait "$wait"
		done
	done
	stop
}

over_ipv6()
{
	start "$RPMA_PING" --server --listen "$RPMA_VM_ADDR6" --port 0
	result 0 "r['pings']['received'] == 5" "$RPMA_PING" "$RPMA_VM_ADDR6" -p "$port" -c 5 -i 0
	stop
}

a_flood_of_several()
{
	local clients=() i
	serve
	for i in 1 2 3 4; do
		timeout 600 "$RPMA_PING" "$address" -p "$port" -f -c 500 -q > "flood.$i" &
		clients+=($!)
	done
	for i in "${clients[@]}"; do
		wait "$i"
	done
	cat flood.*
	[[ $(grep -c '500 received, 0% packet loss' flood.? | grep -c ':1$') -eq 4 ]]
	stop
}

persistent_memory()
{
	serve --target "$RPMA_VM_PMEM" --force --direct-write-to-pmem
	result 0 "(r['pings']['flush'], r['pings']['flush_by']) == ('persistent', '$flush_by')" \
		"$RPMA_PING" "$address" -p "$port" -c 5 -i 0
	stop
	serve --target "$RPMA_VM_PMEM" --force
	result 2 "r['failure']['step'] == 'region'" \
		"$RPMA_PING" "$address" -p "$port" -c 5 --flush persistent
	stop
}

nobody_listens()
{
	serve
	stop
	result 2 "$(failed connect refused)" "$RPMA_PING" "$address" -p "$port" -c 1
}

nobody_there()
{
	result 2 "r['failure']['step'] in ('device', 'request', 'connect') and \
		'no host' in r['failure']['likely_cause']" \
		"$RPMA_PING" "${address%.*}.77" -c 1
}

no_such_device()
{
	result 3 "$(failed device no_device)" "$RPMA_PING" "$address" -c 1 --device rxe7
}

killed_server()
{
	local client status=0
	serve
	timeout 600 "$RPMA_PING" "$address" -p "$port" -i 5ms > client.out 2> client.err &
	client=$!
	until_true 'pings come back' grep -q 'seq=3 ' client.out
	kill -KILL "$server"
	wait "$client" || status=$?
	tail -n 3 client.out
	cat client.err
	[[ $status -eq 1 ]]
	grep -q 'likely cause: the server ended or was killed' client.err
	wait "$server" || true
}

# its device answers for it
stopped_server()
{
	serve
	kill -STOP "$server"
	result 2 "$(failed connect no_answer) and 'did not answer' in r['failure']['text'] and \
		'server is stopped' in r['failure']['likely_cause']" \
		"$RPMA_PING" "$address" -p "$port" -c 5 -i 0
	kill -CONT "$server"
	result 0 "r['pings']['received'] == 5" "$RPMA_PING" "$address" -p "$port" -c 5 -i 0
	stop
}

signals()
{
	local client status signal
	serve
	for signal in INT TERM; do
		"$RPMA_PING" "$address" -p "$port" -i 5ms > client.out 2> client.err &
		client=$!
		until_true 'pings come back' grep -q 'seq=3 ' client.out
		# a shell starts what is in the background without SIGINT
		kill -s "$signal" "$client"
		status=0
		wait "$client" || status=$?
		[[ $status -eq $((128 + $(kill -l "$signal"))) ]]
		grep -q ' 0% packet loss' client.out
	done
	stop
}

# root is exempt from the limit as long as it has the capability
# shellcheck disable=SC2016 # it is for the inner shell
little=(setpriv --bounding-set -ipc_lock bash -c 'ulimit -l 64; exec "$@"' little)

little_memlock()
{
	local status=0
	serve
	result 2 "$(failed register memlock) and 'no more than 64 KiB' in \
		r['failure']['likely_cause']" "${little[@]}" "$RPMA_PING" "$address" -p "$port" -c 1 -s 200K
	stop
	timeout 600 "${little[@]}" "$RPMA_PING" --server --listen "$address" 2> err || status=$?
	cat err
	[[ $status -eq 2 ]]
	grep -q 'rpma-ping: register: .*likely cause: RLIMIT_MEMLOCK' err
}

# shellcheck disable=SC2016 # it is for the inner shell
none=(setpriv --bounding-set -ipc_lock bash -c 'ulimit -l 0; exec "$@"' none)

# Linux refuses it with EPERM, which has nothing to do with device files
no_memlock()
{
	local status=0
	serve
	result 2 "$(failed connect memlock) and 'RLIMIT_MEMLOCK of this process is 0' in \
		r['failure']['likely_cause']" "${none[@]}" "$RPMA_PING" "$address" -p "$port" -c 1
	stop
	timeout 600 "${none[@]}" "$RPMA_PING" --server --listen "$address" 2> err || status=$?
	cat err
	[[ $status -eq 2 ]]
	grep -q 'rpma-ping: register: .*likely cause: RLIMIT_MEMLOCK of this process is 0' err
}

plain=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps -all --bounding-set -all)

# A host with RDMA is not pinged by software because this user may not open its device.
no_permission()
{
	local file status
	serve
	chmod 666 /dev/infiniband/*
	for file in /dev/infiniband/rdma_cm /dev/infiniband/uverbs0; do
		chmod 600 "$file"
		result 3 "$(failed device no_permission) and '$file' in r['failure']['text'] and \
			r['device'] is None" "${plain[@]}" "$RPMA_PING" "$address" -p "$port" -c 1 -q
		status=0
		timeout 600 "${plain[@]}" "$RPMA_PING" --server --listen "$address" 2> err || status=$?
		cat err
		[[ $status -eq 3 ]]
		grep -q "rpma-ping: device: this user cannot open $file" err
		chmod 666 "$file"
	done
	result 0 "r['device']['kind'] == 'rxe'" "${plain[@]}" "$RPMA_PING" "$address" -p "$port" -c 1
	stop
}

# Rows of the manual's CAUSES for which nothing has to break
other_causes()
{
	result 2 "$(failed resolve name)" "$RPMA_PING" no-such-host.invalid -c 1
	start "$RPMA_BUILD_DIR/tools/rpma-bench/rpma-bench" server --listen "$address" --port 0 --target=dram:1M
	result 2 "$(failed handshake wrong_peer)" "$RPMA_PING" "$address" -p "$port" -c 1
	stop
}

# One page is one slot
no_free_slot()
{
	local client
	serve --target dram:4K
	timeout 600 "$RPMA_PING" "$address" -p "$port" -i 5ms > client.out 2>&1 &
	client=$!
	until_true 'pings come back' grep -q 'seq=3 ' client.out
	result 2 "$(failed handshake busy)" "$RPMA_PING" "$address" -p "$port" -c 1
	kill -TERM "$client"
	wait "$client" || true
	until_true 'the slot is free' timeout 600 "$RPMA_PING" "$address" -p "$port" -c 1 -q
	stop
}

port_is_taken()
{
	local status=0
	serve
	timeout 600 "$RPMA_PING" --server --listen "$address" --port "$port" 2> err || status=$?
	cat err
	[[ $status -eq 2 ]]
	grep -q "another server listens there" err
	stop
}

# shellcheck disable=SC2016 # it is for the inner shell
files_at_most=(bash -c 'ulimit -n "$0" && exec "$@"') # N COMMAND...

# The call that is one too many is another one each time; with too few the loader fails.
few_files()
{
	local files=6 status=1 limited=0
	serve
	while [[ $status -ne 0 ]]; do
		status=0
		timeout 600 "${files_at_most[@]}" "$files" "$RPMA_PING" "$address" -p "$port" -c 1 --json \
			> json 2> err || status=$?
		[[ $status -le 3 ]] || { printf '%d files, status %d\n' "$files" "$status" && cat err && return 1; }
		! grep -q '"cause": "limit"' json || limited=$((limited + 1))
		[[ $((files++)) -lt 64 ]]
	done
	printf '%d files are enough, %d limits were named\n' "$((files - 1))" "$limited"
	[[ $limited -gt 0 ]]
	stop
}

# shellcheck disable=SC2016 # it is for the inner shell
memory_at_most=(bash -c 'ulimit -v "$0" && exec "$@"') # KIB COMMAND...

# Below some limit not even the loader has enough; above it the memory of large pings is too much.
little_memory()
{
	local kib=16384 status=1 named=0
	serve --target dram:128M
	while [[ $status -ne 0 ]]; do
		status=0
		timeout 600 "${memory_at_most[@]}" "$kib" "$RPMA_PING" "$address" -p "$port" -c 1 -s 8M -W 60 \
			--json > json 2> err || status=$?
		[[ ! -s json || $status -le 3 || $status -eq 70 ]] ||
			{ printf '%d KiB, status %d\n' "$kib" "$status" && cat err && return 1; }
		! grep -q '"cause": "no_memory"' json || named=$((named + 1))
		kib=$((kib + 8192)) # a third of what three buffers take
		[[ $kib -lt 2097152 ]]
	done
	printf 'it was named %d times, up to %d KiB\n' "$named" "$kib"
	[[ $named -gt 0 ]]
	stop
}

# The answer of a server whose descriptor leads to no memory of it: handshake.c has the places.
strange_descriptor()
{
	local reply
	reply=$("$RPMA_BUILD_DIR/tests/system/ping/ping_hostile" reply)
	printf '%s1601%s%s%s' "${reply:0:22}" "${reply:26:22}" "$(printf '3f%.0s' {1..32})" "${reply:112}"
}

no_such_memory()
{
	: > server.out
	"$RPMA_BUILD_DIR/tests/system/ping/ping_hostile" server "$address" "$(strange_descriptor)" > server.out &
	server=$!
	until_true 'the server prints its port' grep -q 'port ' server.out
	port=$(sed -n 's/^port //p' server.out)
	result 1 "(r['failure']['cause'], r['failure']['wc_status']) == ('no_access', 'REM_ACCESS_ERR')" \
		"$RPMA_PING" "$address" -p "$port" -c 1
	kill -KILL "$server"
	wait "$server" || true
}

# A device of their own goes. The removal waits until both have ended by themselves.
device_removed()
{
	local client status=0
	ip link add dummy1 type dummy
	ip addr add 10.0.1.1/24 dev dummy1
	ip link set dummy1 mtu 4200 up
	rdma link add rxe1 type rxe netdev dummy1
	until_true 'it has the address' grep -q 'ffff:0a00:0101' /sys/class/infiniband/rxe1/ports/1/gids/*
	start "$RPMA_PING" --server --listen 10.0.1.1 --port 0
	timeout 600 "$RPMA_PING" 10.0.1.1 -p "$port" -i 5ms -v --json > json 2> err &
	client=$!
	until_true 'the connection stands' grep -q RDMA_CM_EVENT_ESTABLISHED err
	timeout 600 rdma link delete rxe1
	wait "$client" || status=$?
	cat err
	[[ $status -eq 1 ]]
	judge json "$here/check_ping.py" 1 "r['failure']['step'] in ('write', 'flush', 'read') and \
		r['failure']['cause'] in ('device_gone', 'closed')"
	status=0
	wait "$server" || status=$?
	cat server.err
	[[ $status -eq 2 ]]
	grep -q 'listen: no client can connect any more: the RDMA device .* was removed' server.err
	ip link delete dummy1
}

# Until it is killed: the content of a file, from its begin
keep_writing()
{
	while :; do
		printf '%4096d' 0 1<> "$1"
	done
}

# The only one but client and server whose writes are seen
another_writer()
{
	local writer
	serve --target "$work/shared:1M"
	keep_writing "$work/shared" &
	writer=$!
	result 1 "$(failed compare corrupt) and r['pings']['corrupt'] > 0 and r['pings']['lost'] == 0" \
		"$RPMA_PING" "$address" -p "$port" -c 2000 -i 0 -s 4096
	kill "$writer"
	wait "$writer" || true
	stop
}

# library NAME: the directory of that librpma
library()
{
	if [[ $1 == ours ]]; then
		printf '%s' "$RPMA_BUILD_DIR/librpma"
	else
		printf '%s' "$RPMA_VM_OUT/reference/$1"
	fi
}

# two_libraries SERVER CLIENT: of dram, and of persistent memory
two_libraries()
{
	local target
	for target in dram:1M "$RPMA_VM_PMEM"; do
		# an older library cannot tell a port of its own choice
		start env "LD_LIBRARY_PATH=$(library "$1")" "$shared" --server --listen "$address" \
			--port 7299 --target "$target" --force --direct-write-to-pmem
		result 0 "r['pings']['received'] == 5" env "LD_LIBRARY_PATH=$(library "$2")" \
			"$shared" "$address" -p 7299 -c 5 -i 0
		stop
	done
}

if [[ $length != libraries ]]; then
	check_long 'pings come back' they_come_back
	check_long 'over IPv6' over_ipv6
	check_long 'a flood of several clients' a_flood_of_several
	check 'persistent memory' persistent_memory
	check_long 'a port without a listener' nobody_listens
	check 'an address that no host has' nobody_there
	check_long 'a device of another name' no_such_device
	check_long 'a server killed in mid-ping' killed_server
	check_long 'a server that is stopped' stopped_server
	check_long 'signals' signals
	check 'little memory may be locked' little_memlock
	check 'no memory may be locked' no_memlock
	check 'device files that only root may open' no_permission
	check_long 'other causes' other_causes
	check_long 'a server without a free slot' no_free_slot
	check_long 'a port that is taken' port_is_taken
	check_long 'few files' few_files
	check_long 'little memory' little_memory
	check_long 'memory that the server does not have' no_such_memory
	check_long 'another writer of the memory' another_writer
	check_long 'a device that is removed' device_removed
fi
check_long "librpma $debians pings ours" two_libraries ours "$debians"
check_long "ours pings librpma $debians" two_libraries "$debians" ours
exit "$failed"
