#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From one host to another: two guests of scripts/vm. The peer runs `rpma-ping
# --server` on its IPv4 address at port 7205, and on its IPv6 address at 7206.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
export RPMA_PING=$RPMA_BUILD_DIR/tools/rpma-ping/rpma-ping PYTHONPATH=$here
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# the other guest may still be booting
tries=60
until timeout 60 "$RPMA_PING" "$RPMA_VM_PEER" -c 1 -q > /dev/null 2> err; do
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
	timeout 60 "$@" --json > json 2> err || status=$?
	/usr/bin/python3 -B - "$expected" "$status" "$step" <<'PY'
import sys, pinging
assert sys.argv[1] == sys.argv[2], (sys.argv, open("err").read())
r = pinging.check(open("json").read(), int(sys.argv[1]))
assert (r["failure"]["step"] if r["failure"] else "-") == sys.argv[3], r
assert r["failure"] or r["pings"]["lost"] == 0, r
PY
	printf 'ok %s\n' "$name"
}

for size in 64 64K; do
	came_back "from $RPMA_VM_ADDR to $RPMA_VM_PEER, $size" 0 - \
		"$RPMA_PING" "$RPMA_VM_PEER" -c 20 -i 1ms -s "$size"
done
came_back 'asleep between completions' 0 - "$RPMA_PING" "$RPMA_VM_PEER" -c 5 -i 0 --wait event
came_back "over IPv6 to $RPMA_VM_PEER6" 0 - "$RPMA_PING" "$RPMA_VM_PEER6" -p 7206 -c 5 -i 0
came_back 'a port that nobody listens on' 2 connect "$RPMA_PING" "$RPMA_VM_PEER" -p 7299 -c 1
