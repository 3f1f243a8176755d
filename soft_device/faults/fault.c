/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault.c -- the faults of this process: the walk over them at each hook (fault.h), their counts
 * and their random numbers.
 *
 * They are made when the object is loaded, so that the very first call of a program counts, and are
 * never changed after: only the counters move.
 */
#include "fault.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "names/random.h"
#include "ops.h"

bool fault_any;
bool fault_more;
bool fault_verbose;

static bool is_watched; /* checks or the adversary have a say in when operations are executed */
static struct fault_list faults;
static _Atomic uint64_t random_state;

#define for_each_fault(fault)                                                                      \
	for (struct fault * (fault) = faults.fault; (fault) < faults.fault + faults.count;         \
	     (fault)++)

/* The power fails in the peers, and there it is counted. */
static bool is_met_here(const struct fault *fault)
{
	return fault->ops->power == NULL;
}

int fault_init(const struct soft_options *options, char error[SOFT_ERROR_MAX])
{
	int ret;

	fault_list_free(&faults);
	ret = fault_list_parse(&faults, options, error);
	atomic_store(&random_state, options->seed);
	fault_verbose = options->verbose;
	is_watched = options->checks || options->adversary;
	fault_more = options->trace[0] != '\0' || options->adversary;
	for_each_fault(fault)
		fault_more = fault_more || is_met_here(fault);
	fault_any = fault_more || is_watched;
	return ret;
}

int fault_power(const struct soft_options *options, struct fault_power *power,
		char error[SOFT_ERROR_MAX])
{
	struct fault_list list;
	int ret = fault_list_parse(&list, options, error);

	*power = (struct fault_power){.at = 0};
	for (size_t i = 0; i < list.count; i++) {
		if (list.fault[i].ops->power != NULL)
			list.fault[i].ops->power(&list.fault[i], power);
	}
	fault_list_free(&list);
	return ret;
}

int fault_call_slow(const char *name)
{
	int error = 0;

	for_each_fault(fault) {
		if (fault->ops->call != NULL)
			error = fault->ops->call(fault, name, error);
	}
	return error;
}

uint64_t fault_due_ns(enum soft_op op, uint32_t bytes, uint64_t now_ns)
{
	uint64_t due_ns = now_ns;

	for_each_fault(fault) {
		if (fault->ops->due_ns != NULL)
			due_ns = fault->ops->due_ns(fault, op, bytes, due_ns);
	}
	return due_ns == now_ns ? 0 : due_ns;
}

uint32_t fault_rnr(void)
{
	uint32_t tries = 0;

	for_each_fault(fault) {
		if (fault->ops->rnr != NULL)
			tries = fault->ops->rnr(fault, tries);
	}
	return tries;
}

bool fault_decides(void)
{
	for_each_fault(fault) {
		const struct fault_ops *ops = fault->ops;

		if (ops->rnr != NULL || ops->drop != NULL || ops->complete != NULL ||
		    ops->corrupt != NULL)
			return true;
	}
	return false;
}

bool fault_only_delays(void)
{
	return !is_watched && !fault_decides();
}

bool fault_drop(uint64_t operations)
{
	bool dropped = false;

	for_each_fault(fault) {
		if (fault->ops->drop != NULL)
			dropped = fault->ops->drop(fault, operations, dropped);
	}
	return dropped;
}

enum ibv_wc_status fault_complete(enum soft_op op)
{
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	for_each_fault(fault) {
		if (fault->ops->complete != NULL)
			status = fault->ops->complete(fault, op, status);
	}
	return status;
}

bool fault_corrupt_wanted(void)
{
	for_each_fault(fault) {
		if (fault->ops->corrupt != NULL)
			return true;
	}
	return false;
}

/* An operation that moves nothing is not counted. */
void fault_corrupt(enum soft_op op, void *bytes, size_t length)
{
	for_each_fault(fault) {
		if (length != 0 && fault->ops->corrupt != NULL)
			fault->ops->corrupt(fault, op, bytes, length);
	}
}

int fault_register(void)
{
	int error = 0;

	for_each_fault(fault) {
		if (fault->ops->reg_mr != NULL)
			error = fault->ops->reg_mr(fault, error);
	}
	return error;
}

enum fault_connect fault_connect(void)
{
	enum fault_connect verdict = CONNECT_ALLOWED;

	for_each_fault(fault) {
		if (fault->ops->connect != NULL)
			verdict = fault->ops->connect(fault, verdict);
	}
	return verdict;
}

void fault_count(struct fault *fault, bool hit)
{
	atomic_fetch_add(&fault->seen, 1);
	if (hit)
		atomic_fetch_add(&fault->hits, 1);
}

bool fault_hits(struct fault *fault)
{
	const struct fault_when *when = &fault->when;
	uint64_t number = atomic_fetch_add(&fault->seen, 1) + 1;
	bool hit =
		when->at != 0 ? number == when->at : when->every == 0 || number % when->every == 0;

	if (hit)
		atomic_fetch_add(&fault->hits, 1);
	return hit;
}

bool fault_hits_op(struct fault *fault, enum soft_op op)
{
	return (fault->kinds & op) != 0 && fault_hits(fault);
}

uint64_t fault_random(void)
{
	return random_mix(atomic_fetch_add(&random_state, RANDOM_STEP) + RANDOM_STEP);
}

/* 0 < x < 1 */
static double uniform(void)
{
	return ((double)(fault_random() >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
}

/* Box and Muller, 1958; the second of the pair is not kept: no state that threads share. */
double fault_normal(void)
{
	double radius = sqrt(-2 * log(uniform()));

	return radius * cos(2 * M_PI * uniform());
}

void fault_report(void)
{
	for_each_fault(fault) {
		if (is_met_here(fault))
			fprintf(stderr,
				"rpma-soft: fault %s: %" PRIu64 " of %" PRIu64
				" hit (process %d)\n",
				fault->word, atomic_load(&fault->hits), atomic_load(&fault->seen),
				(int)getpid());
	}
}
