#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A client on one host and a server on another: two guests of scripts/vm. The
# peer runs `rpma-bench server --listen ITS-ADDRESS --port 7204`.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
bench=$RPMA_BUILD_DIR/tools/rpma-bench/rpma-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck source=tests/system/bench/check.sh
. "$here/check.sh"

# the other guest may still be booting
tries=60
until "$bench" client "$RPMA_VM_PEER" --size 64 --duration 1ms --warmup 0 --repeats 1 -q 2> err; do
	((--tries)) || {
		cat err
		exit 1
	}
	sleep 1
done

for test in 'lat none' 'lat apm' 'bw none'; do
	read -r what persist <<< "$test"
	timeout 1800 "$bench" client "$RPMA_VM_PEER" --test "$what" --persist "$persist" \
		--size 64,4K --depth 1,8 --duration 200ms --warmup 50ms --repeats 2 -o result.json
	judge result.json "$here/check_result.py" --sizes 64,4096 --depths 1,8 \
		--repeats 2 --param "test=$what" --param "persist=$persist"
	printf 'ok %s, persist %s, from %s to %s\n' "$what" "$persist" "$RPMA_VM_ADDR" "$RPMA_VM_PEER"
done

# over IPv6 the same
timeout 1800 "$bench" client "$RPMA_VM_PEER6" --port 7206 --size 64 --duration 50ms --warmup 10ms \
	--repeats 1 -o six.json
judge six.json "$here/check_result.py" --sizes 64
printf 'ok over IPv6 to %s\n' "$RPMA_VM_PEER6"
