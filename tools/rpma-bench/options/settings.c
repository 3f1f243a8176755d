/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.c -- the table of what holds for a whole run, and its parsers.
 *
 * options.c makes option rows of it, plan_file.c looks up keys in it.
 */
#include "tables.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "options.h"
#include "slo.h"

#define DURATION_MIN	    1000000ULL	   /* 1 ms */
#define DURATION	    10000000000ULL /* 10 s */
#define OPS_MAX		    (1ULL << 53)   /* what every reader of JSON counts exactly */
#define CI_MIN		    1000	   /* 0.1 %, in millionths */
#define CI_MAX		    500000
#define REPEATS		    5
#define REPEATS_WITH_CI	    30
#define REPEATS_MIN_WITH_CI 8 /* as point_is_narrow wants */
#define LABEL_MAX	    128

static int ranged(int ret, uint64_t value, uint64_t low, uint64_t high)
{
	return ret ? ret : value < low || value > high ? -ERANGE : 0;
}

static int set_duration(struct options *o, const char *text)
{
	int ret;

	o->endless = strcmp(text, "inf") == 0;
	o->duration_ns = OPTIONS_DURATION_MAX;
	if (o->endless)
		return 0;
	ret = units_parse_duration(text, &o->duration_ns);
	return ranged(ret, o->duration_ns, DURATION_MIN, OPTIONS_DURATION_MAX);
}

static int set_ops(struct options *o, const char *text)
{
	int ret = units_parse_count(text, &o->ops);

	return ranged(ret, o->ops, 1, OPS_MAX);
}

static int set_warmup(struct options *o, const char *text)
{
	int ret = units_parse_duration(text, &o->warmup_ns);

	return ranged(ret, o->warmup_ns, 0, OPTIONS_DURATION_MAX);
}

static int set_repeats(struct options *o, const char *text)
{
	uint64_t value = 0;
	int ret = units_parse_number(text, &value);

	ret = ranged(ret, value, 1, OPTIONS_REPEATS_MAX);
	if (ret == 0)
		o->repeats = (uint32_t)value;
	return ret;
}

/* A bare number is in percent. */
static int set_ci(struct options *o, const char *text)
{
	char percent[32];
	uint64_t millionths = 0;
	int length = snprintf(percent, sizeof(percent), "%s%s", text,
			      strchr(text, '%') != NULL ? "" : "%");
	int ret = length < (int)sizeof(percent) ? units_parse_fraction(percent, &millionths)
						: -EINVAL;

	ret = ranged(ret, millionths, CI_MIN, CI_MAX);
	o->ci = (double)millionths / PARAMS_MILLION;
	return ret;
}

static int set_seed(struct options *o, const char *text)
{
	int ret = units_parse_number(text, &o->seed);

	o->seed_given = true;
	return ranged(ret, o->seed, 0, INT64_MAX);
}

/* It is going to be a string of JSON, and a word on a chart. */
static int set_label(struct options *o, const char *text)
{
	json_t *string = json_string(text);
	bool good = string != NULL && text[0] != '\0' && strlen(text) <= LABEL_MAX;
	char *copy = good ? strdup(text) : NULL;

	json_decref(string);
	if (copy == NULL)
		return good ? -ENOMEM : -EINVAL;
	free(o->label);
	o->label = copy;
	return 0;
}

/* An upper limit: what is to grow with the rate has to stay below it. */
static int set_find_rate(struct options *o, const char *text)
{
	char *copy;

	if (slo_check(text) != 0 || strchr(text, '<') == NULL || !slo_applies(text, BENCH_RATE))
		return -EINVAL;
	copy = strdup(text);
	if (copy == NULL)
		return -ENOMEM;
	free(o->find_rate);
	o->find_rate = copy;
	return 0;
}

const struct setting settings[SETTINGS] = {
	[SETTING_DURATION] = {"duration", "TIME",
			      "Time of one repeat, or inf: until SIGINT or SIGTERM (10s)",
			      "a time from 1ms to 24h, as 10s, or inf", set_duration},
	[SETTING_OPS] = {"ops", "N", "End a repeat after N operations instead of after a time",
			 "a number of operations from 1 to 2^53, as 100k", set_ops},
	[SETTING_WARMUP] = {"warmup", "TIME", "Unmeasured time before each repeat (1s)",
			    "a time from 0 to 24h, as 1s", set_warmup},
	[SETTING_REPEATS] = {"repeats", "N", "Repeats of each point (5); with --ci the most (30)",
			     "a number from 1 to 1000", set_repeats},
	[SETTING_CI] = {"ci", "PERCENT",
			"Repeat a point until the 95 % interval of its mean is within +-PERCENT",
			"a percentage from 0.1 to 50, as 5", set_ci},
	[SETTING_SEED] = {"seed", "N", "Seed of order, slots and content (random)",
			  "a number from 0 to 2^63-1", set_seed},
	[SETTING_LABEL] = {"label", "TEXT", "A name for the run, kept in the result",
			   "a text of 1 to 128 bytes in UTF-8", set_label},
	[SETTING_FIND_RATE] = {"find-rate", "LIMIT",
			       "Search for the highest --rate of --test rate that keeps LIMIT, as "
			       "'response.p99.9<20us'",
			       "a metric of --slo and its upper limit, as 'response.p99.9<20us'",
			       set_find_rate},
};

bool settings_overridden(unsigned given, enum setting_id setting)
{
	unsigned ends = 1U << SETTING_DURATION | 1U << SETTING_OPS;

	return (given & (ends & 1U << setting ? ends : 1U << setting)) != 0;
}

int settings_set(struct options *options, enum setting_id setting, const char *text)
{
	const struct setting *s = &settings[setting];
	char option[32];

	if (s->set(options, text) == 0) {
		options->given |= 1U << setting;
		return 0;
	}
	snprintf(option, sizeof(option), "--%s", s->name);
	return -cli_wrong_value(option, text, s->expected);
}

static bool given(const struct options *o, enum setting_id setting)
{
	return (o->given & 1U << setting) != 0;
}

int settings_complete(struct options *o)
{
	if (given(o, SETTING_OPS) && given(o, SETTING_DURATION))
		return failure_usage("--ops and --duration are mutually exclusive");
	if (o->endless && (given(o, SETTING_CI) || (given(o, SETTING_REPEATS) && o->repeats > 1)))
		return failure_usage("--duration inf: expected no --ci, and no --repeats above 1: "
				     "the first repeat does not end");
	if (o->endless)
		o->repeats = 1;
	if (!given(o, SETTING_DURATION))
		o->duration_ns = given(o, SETTING_OPS) ? OPTIONS_DURATION_MAX : DURATION;
	if (!given(o, SETTING_REPEATS) && !o->endless)
		o->repeats = given(o, SETTING_CI) ? REPEATS_WITH_CI : REPEATS;
	if (given(o, SETTING_CI) && o->repeats < REPEATS_MIN_WITH_CI)
		return failure_usage(
			"--repeats %u with --ci: --ci looks after %d repeats for the first time",
			o->repeats, REPEATS_MIN_WITH_CI);
	return 0;
}
