/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault.c -- the stack of filters, their counts and their random numbers.
 *
 * The device's hooks (fault.h) are in the filters' own files; they walk the stack with
 * fault_next(). The stack is made when the object is loaded, so that the very first
 * call of a program counts, and is never changed after: only the counters move.
 */
#include "fault.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "soft_device/process/process.h"

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15u /* splitmix64's increment */

bool fault_any;
bool fault_verbose;

static bool wants_report;
static struct soft_options current;
static struct fault_filter filters[SOFT_FAULTS_MAX];
static size_t filters_count;
static _Atomic uint64_t random_state;

void fault_init(const struct soft_options *options)
{
	current = *options;
	memset(filters, 0, sizeof(filters));
	filters_count = 0;
	for (size_t i = 0; i < current.faults_count; i++) {
		if (current.faults[i].kind != SOFT_POWERFAIL) /* powerfail.c */
			filters[filters_count++].fault = &current.faults[i];
	}
	atomic_store(&random_state, current.seed);
	fault_verbose = current.verbose;
	fault_any = filters_count > 0 || current.trace[0] != '\0';
}

/* process_get() reports what is wrong with the variable. */
static __attribute__((constructor)) void load(void)
{
	struct soft_options options;
	char error[SOFT_ERROR_MAX];

	if (soft_options_parse(getenv("RPMA_SOFT"), &options, error) == 0)
		fault_init(&options);
}

struct fault_filter *fault_next(unsigned int kinds, const struct fault_filter *previous)
{
	size_t i = previous == NULL ? 0 : (size_t)(previous - filters) + 1;

	for (; i < filters_count; i++) {
		if (kinds & FAULT_KIND(filters[i].fault->kind))
			return &filters[i];
	}
	return NULL;
}

bool fault_only_delays(void)
{
	return fault_next(FAULT_KIND(SOFT_DROP) | FAULT_KIND(SOFT_COMPLETE) |
				  FAULT_KIND(SOFT_CORRUPT) | FAULT_KIND(SOFT_RNR),
			  NULL) == NULL;
}

bool fault_hits(struct fault_filter *filter)
{
	uint64_t number = atomic_fetch_add(&filter->seen, 1) + 1;
	bool hit = soft_when_hits(&filter->fault->when, number);

	if (hit)
		atomic_fetch_add(&filter->hits, 1);
	return hit;
}

void fault_count(struct fault_filter *filter, bool hit)
{
	atomic_fetch_add(&filter->seen, 1);
	if (hit)
		atomic_fetch_add(&filter->hits, 1);
}

uint64_t fault_random(void)
{
	return fault_mix(atomic_fetch_add(&random_state, GOLDEN_GAMMA) + GOLDEN_GAMMA);
}

double fault_uniform(void)
{
	return ((double)(fault_random() >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
}

/* Box and Muller, 1958; the second of the pair is not kept: no state that threads share. */
double fault_normal(void)
{
	double radius = sqrt(-2 * log(fault_uniform()));

	return radius * cos(2 * M_PI * fault_uniform());
}

void fault_report(void)
{
	for (size_t i = 0; i < filters_count; i++) {
		fprintf(stderr,
			"rpma-soft: fault %s: %" PRIu64 " of %" PRIu64 " hit (process %d)\n",
			filters[i].fault->word, atomic_load(&filters[i].hits),
			atomic_load(&filters[i].seen), (int)getpid());
	}
}

static int begin(struct process *process)
{
	wants_report = process->options.verbose;
	return 0;
}

/* What the parent met is for the parent to tell. */
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
