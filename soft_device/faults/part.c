/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * part.c -- the faults as a part of the device: made when the object is loaded, reported at exit.
 */
#include <errno.h>
#include <stdlib.h>

#include "fault.h"
#include "soft_device/process/process.h"

static bool wants_report;

/* begin() reports a word that is wrong. */
static __attribute__((constructor)) void load(void)
{
	struct soft_options options;
	char error[SOFT_ERROR_MAX];

	if (soft_options_parse(getenv("RPMA_SOFT"), &options, error) == 0)
		fault_init(&options, error);
}

static int begin(struct process *process)
{
	struct fault_power power;
	char error[SOFT_ERROR_MAX];

	if (fault_power(&process->options, &power, error) != 0) {
		process_warn("%s", error);
		return -EINVAL;
	}
	wants_report = process->options.verbose;
	return 0;
}

/* The parent reports its own. */
static void forked(void)
{
	wants_report = false;
}

static void leave(void)
{
	if (wants_report)
		fault_report();
}

const struct process_part fault_part = {.begin = begin, .forked = forked, .leave = leave};
