#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From one host to another: two guests of scripts/vm. The peer runs `rpma-ping
# --server` on its IPv4 address at port 7205, and on its IPv6 address at 7207.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
export RPMA_PING=$RPMA_BUILD_DIR/tools/rpma-ping/rpma-ping
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck source=tests/system/bench/check.sh
. "$here/../bench/check.sh"

# the other guest may still be booting
tries=60
until timeout 600 "$RPMA_PING" "$RPMA_VM_PEER" -c 1 -q > /dev/null 2> err; do
	((--tries)) || {
		cat err
		exit 1
	}
	sleep 1
done

# came_back NAME STATUS STEP COMMAND...: ends so, all back or failed at STEP
came_back()
{
	local name=$1 expected=$2 step=$3 status=0
	shift 3
	timeout 600 "$@" --json > json 2> err || status=$?
	[[ $status -eq $expected ]] || { cat err && return 1; }
	judge json "$here/check_ping.py" "$expected" "(r['failure'] or {'step': '-'})['step'] == '$step' \
		and (r['failure'] or r['pings']['lost'] == 0)"
	printf 'ok %s\n' "$name"
}

for size in 64 64K; do
	came_back "from $RPMA_VM_ADDR to $RPMA_VM_PEER, $size" 0 - \
		"$RPMA_PING" "$RPMA_VM_PEER" -c 20 -i 1ms -s "$size"
done
came_back 'asleep between completions' 0 - "$RPMA_PING" "$RPMA_VM_PEER" -c 5 -i 0 --wait event
came_back "over IPv6 to $RPMA_VM_PEER6" 0 - "$RPMA_PING" "$RPMA_VM_PEER6" -p 7207 -c 5 -i 0
came_back 'a port without a listener' 2 connect "$RPMA_PING" "$RPMA_VM_PEER" -p 7299 -c 1
