/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * axes.h -- the axes of a run: one table for the command line, the plan file,
 * the journal and the words people read.
 *
 * An axis is a field of struct params with a name, a parser and a printer. All
 * values are whole numbers (a fraction is in millionths), so that one code
 * makes lists, ranges and products of them all.
 */
#ifndef AXES_H
#define AXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/units.h"
#include "params.h"

enum axis_id {
	AXIS_TEST,
	AXIS_OP,
	AXIS_PERSIST,
	AXIS_SIZE,
	AXIS_DEPTH,
	AXIS_THREADS,
	AXIS_CONNECTIONS,
	AXIS_SIGNAL_EVERY,
	AXIS_RATE,
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
	const char *name; /* of the option, without its dashes; of the key of a plan file */
	const char *argument; /* in --help */
	const char *help;
	const char *expected; /* in the sentence of a wrong value */
	bool single;	      /* takes one value, not a list */
};

extern const struct axis axes[AXES];

/* Lists of values; an empty one stands for the default, which the test decides. */
struct series {
	struct units_list values[AXES]; /* owned; series_clear */
};

/*
 * Sets one axis from its text: "64,4K", "1:64:*2", "poll,event", "0,0.5,0.9".
 * The words of the target axis are indices into the names given. -EINVAL with
 * the sentence stored.
 */
int series_set(struct series *series, enum axis_id axis, const char *text);
/* Fills the empty axes; -ENOMEM. */
int series_complete(struct series *series, size_t targets_count);
void series_clear(struct series *series);

/* One value as people write it: "4 KiB", "apm", "0.5". */
const char *axis_print(const struct params *params, enum axis_id axis, char text[UNITS_TEXT_BYTES]);
uint64_t axis_get(const struct params *params, enum axis_id axis);
void axis_put(struct params *params, enum axis_id axis, uint64_t value);

#endif /* AXES_H */
