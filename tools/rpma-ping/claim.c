/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * claim.c -- the verdict as a word: format 1, verdict 1, row 1, zero 5, each with 1 added
 * where 0 has no meaning. The row gives the reason; a row that is not of that verdict
 * comes from another table.
 */
#include "claim.h"

#include <stdlib.h>

#include "common/base/failure.h"

#define FORMAT 1
#define STEP   "region"

uint64_t claim_encode(const struct verdict_row *row)
{
	if (row == NULL)
		return 0;
	return FORMAT | (uint64_t)(row->verdict + 1) << 8 |
	       (uint64_t)(row - readiness_rows + 1) << 16;
}

const struct verdict_row *claim_decode(uint64_t word)
{
	const uint64_t verdict = word >> 8 & 0xff, index = word >> 16 & 0xff;
	const struct verdict_row *row;

	if ((word & 0xff) != FORMAT || word >> 24 != 0 || index == 0 || index > READINESS_ROWS)
		return NULL;
	row = &readiness_rows[index - 1];
	return (uint64_t)row->verdict + 1 == verdict ? row : NULL;
}

const struct verdict_row *claim_inspect(const char *device, const char *target)
{
	const struct readiness_cfg cfg = {
		.root = &sysroot_machine, .device = device, .target = target};
	struct readiness *readiness = calloc(1, sizeof(*readiness));
	const struct verdict_row *row = NULL;

	if (readiness == NULL)
		return NULL;
	if (readiness_inspect(readiness, &cfg) == 0)
		row = readiness->row;
	readiness_free(readiness);
	free(readiness);
	return row;
}

static int refuse(const char *server, const char *why)
{
	return failure_set(EXIT_NEGATIVE, STEP, "--expect-persistent: %s %s", server, why);
}

int claim_check(const char *server, const struct region_remote *region, uint64_t word,
		bool *native_only)
{
	const struct verdict_row *row = claim_decode(word);

	if ((region->flush_types & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT) == 0)
		return refuse(server, "exports memory that is not persistent: start it with a "
				      "--target on persistent memory");
	if (!region->direct_write_to_pmem)
		return refuse(server, "does not state that writes reach the persistence domain "
				      "(--direct-write-to-pmem)");
	if (row == NULL)
		return refuse(server, "states that writes reach the persistence domain, but sent "
				      "no verdict of a check: unknown is not good");
	if (row->exit_code != EXIT_GOOD)
		return failure_set(EXIT_NEGATIVE, STEP,
				   "--expect-persistent: %s states that writes reach the "
				   "persistence domain, but its own check does not support it: %s "
				   "(%s): %s Run rpma-ddio-check there",
				   server, readiness_verdict_name(row->verdict), row->name,
				   row->reason);
	*native_only = row->verdict == VERDICT_NATIVE_FLUSH_READY;
	return 0;
}
