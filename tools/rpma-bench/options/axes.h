/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * axes.h -- the axes of a run: one table for the command line, the plan file,
 * the journal and the words people read.
 *
 * An axis is a field of struct params with a name, a parser and a printer. All
 * values are whole numbers (a word is its index, a fraction is in millionths, a
 * variant its bytes), so that one code makes lists, ranges and products of them all.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/units.h"
#include "tools/rpma-bench/protocol/params.h"

enum axis_id {
	AXIS_TEST,
	AXIS_OP,
	AXIS_PERSIST,
	AXIS_SIZE,
	AXIS_DEPTH,
	AXIS_THREADS,
	AXIS_CONNECTIONS,
	AXIS_BATCH,
	AXIS_SIGNAL_EVERY,
	AXIS_RATE,
	AXIS_ARRIVALS,
	AXIS_READ_FRACTION,
	AXIS_COMPLETION,
	AXIS_PATTERN,
	AXIS_TARGET,
	AXIS_SERVER_LOAD,
	AXIS_BIDIRECTIONAL,
	AXIS_SRQ,
	AXES
};

struct axis {
	const char *name;     /* the option's, without its dashes; also the key in a plan file */
	const char *argument; /* in --help */
	const char *help;     /* ends with a colon: the words of the axis follow */
	const char
		*expected; /* in the error message of a wrong value; NULL: the words of the axis */
	bool flag;	   /* an option that may stand without a value: yes */
};

extern const struct axis axes[AXES];

#define AXIS_TEXT_MAX 256
/* The text of --help with the words in it; the buffer may not be used. */
const char *axis_help(enum axis_id axis, char text[AXIS_TEXT_MAX]);

/* Lists of values; an empty one stands for the default of each point's test. */
struct series {
	struct units_list values[AXES]; /* owned; series_clear */
	struct size_mix **mixes; /* one a size, which is its largest; NULL: one size; owned */
	bool rate_bracket;	 /* the rates are LOW:HIGH, two ends to search between */
};

/*
 * Sets one axis from its text: "64,4K", "1:64:*2", "poll,event", "0,0.5,90%".
 * Not the target axis: its words are not numbers yet (options.h). -EINVAL with
 * the error message set.
 */
int series_set(struct series *series, enum axis_id axis, const char *text);
void series_clear(struct series *series);

uint64_t axis_get(const struct params *params, enum axis_id axis);
void axis_put(struct params *params, enum axis_id axis, uint64_t value);

/* Below 0, 0 or above: mixes of the same largest size differ, too. */
int axis_compare(const struct params *a, const struct params *b, enum axis_id axis);

/*
 * The default of an axis that was not given; axes that were, and those before it, are set in
 * the params. Not of sizes.
 */
uint64_t axis_default(const struct params *params, enum axis_id axis);
/* The sizes of a point's operation that are measured if none were asked for; *count of them. */
const uint64_t *axis_default_sizes(const struct params *params, size_t *count);

/* One value as people write it: "4 KiB", "apm", "0.5". */
const char *axis_print(const struct params *params, enum axis_id axis, char text[UNITS_TEXT_BYTES]);
/* The same for machines: a word, a number, true. NULL: no memory. */
json_t *axis_json(const struct params *params, enum axis_id axis);

/* The sizes of an empty series, and their mixes; a part of them where it fails. */
int sizes_parse(struct series *series, const char *text);
void sizes_free(struct series *series);

/* Zipf's theta, in millionths. */
units_parser sizes_parse_theta;
