#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# rpma-ping's diagnoses of a path that breaks, between two guests of scripts/vm. The
# peer runs peer-that-breaks, which breaks itself as it is told on TCP port 7777.
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
export RPMA_PING=$RPMA_BUILD_DIR/tools/rpma-ping/rpma-ping
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck source=tests/system/bench/check.sh
. "$here/../bench/check.sh"

device=$(ip -o route get "$RPMA_VM_PEER" | sed -n 's/.* dev \([^ ]*\) .*/\1/p')

comes_back()
{
	timeout 60 "$RPMA_PING" "$RPMA_VM_PEER" -c 1 -q > /dev/null 2> err
}

# connected_or_over PID: what it waits for need not come
connected_or_over()
{
	grep -q RDMA_CM_EVENT_ESTABLISHED err || ! kill -0 "$1" 2> /dev/null
}

# A device that was taken away and made again counts its queue pairs from the start, and the peer's
# connection manager refuses one that it still has a connection of, as stale: see cm_match_req()
# in the kernel's drivers/infiniband/core/cm.c. Sets client
begin_to_ping()
{
	timeout 600 "$RPMA_PING" "$RPMA_VM_PEER" -i 20ms -w 30 "${resend[@]}" -v --json > json 2> err &
	client=$!
	until_true 'the connection stands or is refused' connected_or_over "$client"
	grep -q RDMA_CM_EVENT_ESTABLISHED err && return
	wait "$client" || cat err
	return 1
}

resend=() # options of the client

# pings_break_by COMMAND...: pings, half a minute at most, in which COMMAND runs; sets status
pings_break_by()
{
	local client
	until_true 'the connection stands' begin_to_ping
	"$@"
	status=0
	wait "$client" || status=$?
	cat err
}

# it_ends STATUS STEPS CAUSES WORDS...: the last run did, and its line on stderr has WORDS
it_ends()
{
	local words
	[[ $status -eq $1 ]]
	judge json "$here/check_ping.py" "$1" "r['failure']['step'] in '$2'.split() and \
		r['failure']['cause'] in '$3'.split()"
	shift 3
	for words in "$@"; do
		grep -q -- "$words" err
	done
}

pings='write flush read'

neighbour_rewritten()
{
	pings_break_by ip neigh replace "$RPMA_VM_PEER" lladdr 02:00:00:00:00:77 dev "$device" \
		nud permanent
	ip neigh del "$RPMA_VM_PEER" dev "$device"
	it_ends 1 "$pings" unreachable 'became unreachable: the neighbour entry' 'ip neigh'
	until_true 'the path is back' comes_back
}

# Until it is done, but for what takes the link away
tell_peer()
{
	exec {peer}<> "/dev/tcp/$RPMA_VM_PEER/7777"
	printf '%s\n' "$1" >&"$peer"
	[[ $1 == down ]] || cat <&"$peer" > /dev/null
	exec {peer}>&-
}

# rxe takes 7 retries as without end: rxe_completer() in the kernel's
# drivers/infiniband/sw/rxe/rxe_comp.c
peer_link_down()
{
	local resend=(--retries 3 --ack-timeout 14)
	pings_break_by tell_peer down
	it_ends 1 "$pings" lost 'link to it is down'
}

own_link_down()
{
	pings_break_by ip link set "$device" down
	ip link set "$device" up
	it_ends 1 "$pings" link_down 'no port of the RDMA device rxe0 is active' 'ip link'
	# rxe does not take its GIDs up again by itself
	rdma link delete rxe0
	rdma link add rxe0 type rxe netdev "$device"
	until_true 'the path is back' comes_back
}

own_link_is_down()
{
	ip link set "$device" down
	status=0
	timeout 600 "$RPMA_PING" "$RPMA_VM_PEER" -c 1 --json > json 2> err || status=$?
	ip link set "$device" up
	rdma link delete rxe0
	rdma link add rxe0 type rxe netdev "$device"
	cat err
	it_ends 2 'device request connect' link_down 'no port of the RDMA device rxe0' 'ip link'
	until_true 'the path is back' comes_back
}

# The removal waits until the client, whose device has no way to be taken from it, has ended.
own_device_removed()
{
	pings_break_by timeout 600 rdma link delete rxe0
	rdma link add rxe0 type rxe netdev "$device"
	it_ends 1 "$pings" device_gone 'RDMA device of this host was removed or reset at ping' 'dmesg'
	until_true 'the path is back' comes_back
}

server_stopped()
{
	tell_peer stop
	status=0
	timeout 600 "$RPMA_PING" "$RPMA_VM_PEER" -c 1 --json > json 2> err || status=$?
	cat err
	tell_peer cont
	it_ends 2 connect no_answer 'did not answer' 'the server is stopped or overloaded, or no host'
	until_true 'the path is back' comes_back
}

server_killed()
{
	pings_break_by tell_peer kill
	it_ends 1 "$pings" closed 'closed the connection at ping' 'ended or was killed'
	until_true 'the path is back' comes_back
}

# The peer's RDMA port gets a smaller MTU; what this host sends is as large as its own allows.
large_packets_dropped()
{
	tell_peer mtu
	status=0
	timeout 600 "$RPMA_PING" "$RPMA_VM_PEER" -c 2 -W 2 -s 16K --json > json 2> err || status=$?
	cat err
	it_ends 1 "$pings" mtu 'smaller MTU' 'or the path broke'
	comes_back
}

until_true 'the peer serves' comes_back
check 'a neighbour entry that is rewritten' neighbour_rewritten
check 'a server that is stopped' server_stopped
check 'a server that is killed' server_killed
check 'a smaller MTU on the way' large_packets_dropped
check 'the link of this host is down' own_link_is_down
check 'the link of this host goes down' own_link_down
check 'the RDMA device of this host is removed' own_device_removed
check 'the link of the peer goes down' peer_link_down
exit "$failed"
