#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Flushes to a device DAX target, in the guest of scripts/vm with --pmem, or to
# a file on the software device by on-soft.
# Usage: in-guest-pmem.sh read|native: how this device flushes
set -euo pipefail

method=$1
here=$(dirname "$(readlink -f "$0")")
bench=$RPMA_BUILD_DIR/tools/rpma-bench/rpma-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck source=tests/system/bench/check.sh
. "$here/check.sh"
latency_kind=write_flush
[[ $method == read ]] || latency_kind=write_flush_native

# flushes FLUSH OPTION...: the result has this type, and the method
flushes()
{
	local flush=$1
	shift
	"$bench" local --target "$RPMA_VM_PMEM" --force --persist apm --size 64,4K \
		--duration 200ms --warmup 50ms --repeats 2 -o "$flush.json" "$@"
	judge "$flush.json" "$here/check_result.py" --kind "${RPMA_BENCH_KIND:-rxe}" \
		--sizes 64,4096 --repeats 2 --param "flush=$flush" --param "flush_method=$method" \
		--param "latency_kind=$latency_kind"
	grep -q "\"kind\": *\"${RPMA_BENCH_TARGET_KIND:-devdax}\"" "$flush.json"
	printf 'ok a %s flush to %s by %s\n' "$flush" "$RPMA_VM_PMEM" "$method"
}

flushes visibility
flushes persistent --direct-write-to-pmem
status=0
"$bench" local --target "$RPMA_VM_PMEM" --persist apm 2> err || status=$?
[[ $status -eq 2 ]]
grep -q -- --force err
printf 'ok nothing is overwritten without --force\n'
