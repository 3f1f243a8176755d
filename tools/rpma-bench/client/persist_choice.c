/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persist_choice.c -- rules only: what a server said of a target in, a choice out.
 */
#include "persist_choice.h"

#include <errno.h>
#include <stdio.h>

#include "common/rdma/target.h"
#include "tools/rpma-bench/measure/op/table.h"

static bool takes(const struct message_welcome *welcome, uint32_t target, enum rpma_flush_type type)
{
	return (welcome->targets[target].flush_types & 1 << type) != 0;
}

/* librpma flushes to persistence only where the peer's operator vouches for its path to PMem. */
enum rpma_flush_type persisting_flush(const struct message_welcome *welcome, uint32_t target)
{
	if (welcome->direct_write_to_pmem && takes(welcome, target, RPMA_FLUSH_TYPE_PERSISTENT))
		return RPMA_FLUSH_TYPE_PERSISTENT;
	return RPMA_FLUSH_TYPE_VISIBILITY;
}

static enum bench_persist choose(struct persist_choice *choice, enum bench_persist persist,
				 const char *reason)
{
	choice->made = true;
	choice->persist = persist;
	snprintf(choice->reason, sizeof(choice->reason), "%s", reason);
	return persist;
}

enum bench_persist persisting_first(const struct message_welcome *welcome, uint32_t target,
				    struct persist_choice *choice)
{
	uint8_t kind = welcome->targets[target].kind;
	bool pmem = kind == TARGET_FSDAX || kind == TARGET_DEVDAX;
	bool cached = kind == TARGET_FILE || kind == TARGET_OTHERFILE;

	if (choice->made)
		return choice->persist;
	if (pmem && !welcome->direct_write_to_pmem)
		return choose(choice, BENCH_GPSPM,
			      "it is persistent memory, and its operator did not state that direct "
			      "writes reach it");
	if (cached)
		return choose(choice, BENCH_GPSPM,
			      "it is a file, and a flush leaves the data in its page cache");
	if (!takes(welcome, target, persisting_flush(welcome, target)))
		return choose(choice, BENCH_GPSPM, "it takes no flush");
	return BENCH_NATIVE;
}

void persisting_settle(struct persist_choice *choice, bool native)
{
	if (native)
		choose(choice, BENCH_NATIVE, "its flushes complete as such");
	else
		choose(choice, BENCH_APM, "its flushes complete as reads");
}

int persisting_check(const struct message_welcome *welcome, const struct params *params,
		     const char *who)
{
	const struct operation *operation = operation_find(params->op, params->persist);

	if (!operation->flushes ||
	    takes(welcome, params->target, persisting_flush(welcome, params->target)))
		return 0;
	failure_set(EXIT_RUN_FAILED, "begin",
		    "target %u of %s takes no flush, and --persist %s needs one: gpspm needs none",
		    params->target, who, params_persists[params->persist]);
	return -ENOTSUP;
}

int persisting_not_native(const char *who)
{
	failure_set(EXIT_RUN_FAILED, "begin",
		    "--persist native: flushes to %s complete as reads, not as flushes: both "
		    "devices and their drivers need the RDMA FLUSH operation; --persist apm "
		    "measures what there is, auto takes the best of it",
		    who);
	return -ENOTSUP;
}
