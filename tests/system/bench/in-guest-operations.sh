#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Each operation of rpma-bench over the kernel's soft-RoCE, whose counters tell
# what went over it: figures that were made up would not equal them. Runs in
# the guest of scripts/vm. Usage: in-guest-operations.sh read|native [short]: how a flush is
# done there; short leaves out what differs least from the others on the device.
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
bench=$RPMA_BUILD_DIR/tools/rpma-bench/rpma-bench
method=$1
length=${2-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck source=tests/system/bench/check.sh
. "$here/check.sh"

small=(--target dram:4M) # an emulated processor takes a second to register the usual 64 MiB

# measured OPTION...: one point with 64 operations of 64 bytes, into r.json
measured()
{
	local target=("${small[@]}")
	[[ " $* " != *' --target '* ]] || target=()
	rm -f r.json
	timeout 1800 "$bench" local --size 64 --ops 64 --warmup 0 --repeats 1 --depth "${depth:-1}" \
		-o r.json "${target[@]}" "$@"
	params
}

# counted COUNTER=N...: the device counted so many an operation, and what the
# control connection needed. Both ends are on one device, which so counts each
# packet where it is sent, and requests and answers alike.
counted()
{
	judge r.json "$here/check_that.py" '
repeat = r["points"][0]["repeats"][0]
assert repeat["ops"] == 64, repeat["ops"]
counters = {k.rsplit("/", 1)[1]: v for k, v in repeat["counters"]["client"].items()}
for name, each in (word.split("=") for word in words):
    least = 64 * int(each)
    assert least <= counters[name] <= least + 16, f"{name}: {counters[name]}, not {least}"
' "$@"
}

params()
{
	judge r.json "$here/check_result.py" --sizes 64 --depths "${depth:-1}" "$@"
}

one_sided()
{
	measured --op "$1"
	counted sent_pkts=2 rcvd_pkts=2 rdma_sends=0 rdma_recvs=0
}

messages()
{
	measured --op send "$@"
	counted sent_pkts=4 rdma_sends=2 rdma_recvs=2
}

messages_into_a_shared_queue()
{
	local depth=4
	messages --srq --connections 2 --test bw
}

immediate_data()
{
	measured --op write-imm
	counted sent_pkts=2 rdma_sends=0 rdma_recvs=1
}

atomic_writes()
{
	rm -f r.json
	timeout 1800 "$bench" local --op atomic-write --ops 64 --warmup 0 --repeats 1 -o r.json \
		"${small[@]}"
	judge r.json "$here/check_result.py" --sizes 8
	counted sent_pkts=2
}

flushed_writes()
{
	measured --persist apm --verify
	counted sent_pkts=4
	params --param "flush_method=$method"
}

native_flushes()
{
	if [[ $method == native ]]; then
		measured --persist native --verify
		counted sent_pkts=4
		params --param latency_kind=write_flush_native
		measured --persist auto
		params --param persist=native --warning PERSIST_CHOSEN
		return
	fi
	local status=0
	"$bench" local --persist native --size 64 -q 2> err || status=$?
	cat err
	[[ $status -eq 2 && $(wc -l < err) -eq 1 ]]
	grep -q 'complete as reads' err
	measured --persist auto
	params --param persist=apm --warning PERSIST_CHOSEN
}

asked_to_persist()
{
	measured --persist "$1" --verify
	counted sent_pkts=6 rdma_sends=2 rdma_recvs=2
}

appended()
{
	measured --persist append --verify
	counted sent_pkts=8
}

both_directions()
{
	timeout 1800 "$bench" local --bidirectional --size 64 --duration 200ms --warmup 0 --repeats 1 \
		--verify -o r.json "${small[@]}"
	judge r.json "$here/check_that.py" '
repeat = r["points"][0]["repeats"][0]
sent = next(v for k, v in repeat["counters"]["client"].items() if k.endswith("sent_pkts"))
# the server goes on for a moment after the client has looked at the counters
client, server = repeat["ops"], repeat["reverse"]["ops"]
assert client > 0 and server > 0
assert 2 * client <= sent <= 2 * (client + server) + 16, (client, server, sent)
'
}

two_threads()
{
	measured --threads 2 --connections 2 --pin 0,1
	counted sent_pkts=2
	judge r.json "$here/check_that.py" '
threads = r["points"][0]["repeats"][0]["threads"]
assert [t["cpus"] for t in threads] == ["0", "1"] and [t["ops"] for t in threads] == [32, 32]
'
}

huge_pages()
{
	local before
	before=$(< /proc/sys/vm/nr_hugepages)
	printf '16\n' > /proc/sys/vm/nr_hugepages
	measured --target hugepages:16M --buffers hugepages --verify
	printf '%s\n' "$before" > /proc/sys/vm/nr_hugepages
	params --param connection.buffers=hugepages --param target_memory.kind=hugepages --param target_memory.hugepage_bytes=2097152
}

connections()
{
	timeout 1800 "$bench" local --test connect --ops 8 --warmup 0 --repeats 1 -o r.json
	judge r.json "$here/check_that.py" '
repeat = r["points"][0]["repeats"][0]
assert repeat["ops"] == 8 and [s["latency"]["count"] for s in repeat["steps"]] == [8] * 4
'
}

check_long 'writes' one_sided write
check_long 'reads' one_sided read
check_long 'messages and their echoes' messages
check_long 'messages into a shared queue' messages_into_a_shared_queue
check_long 'writes with immediate data' immediate_data
check_long 'atomic writes' atomic_writes
check 'flushed writes' flushed_writes
check "native flushes, where a flush is $method" native_flushes
check_long 'writes persisted by the server' asked_to_persist gpspm
check_long 'writes persisted by a server that polls' asked_to_persist gpspm-rt
check_long 'appends to a log' appended
check_long 'both directions' both_directions
check_long 'two threads on their cores' two_threads
check_long 'a target in huge pages' huge_pages
check_long 'connections' connections
exit "$failed"
