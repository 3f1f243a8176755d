#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Coverage of the unit and system tests, by folder, from the counters of build/coverage. Code that
# runs in a guest leaves none. The tables go to build/test-results/coverage-*.txt.
set -euo pipefail
cd "$(dirname "$0")/../../.."
for part in librpma common readiness librpmem fio_engine soft_device tools/rpma-bench tools/rpma-ping \
	tools/rpma-ddio-check tools/rpmemd; do
	printf '%s\n' "-- $part"
	# librpma_1_4.c is compiled in two ways, which gcovr cannot merge; a count that many threads
	# made may be below that of its line, and gcov takes the difference for a branch: "taken -2"
	gcovr --gcov-ignore-parse-errors --root . build/coverage --filter "$part/" --exclude '.*/librpma_1_4\.c' --print-summary \
		--output "build/test-results/coverage-${part//\//-}.txt"
done
