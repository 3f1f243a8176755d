/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tables.h -- the tables of options.c: what holds for a whole run and may stand in a plan file
 * too (when repeats end, how many there are, and what the run is called), the other options, and
 * the plan file.
 */
#pragma once

#include <stdbool.h>

#include "common/base/cli.h"

struct options;

enum setting_id {
	SETTING_DURATION,
	SETTING_OPS,
	SETTING_WARMUP,
	SETTING_REPEATS,
	SETTING_CI,
	SETTING_SEED,
	SETTING_LABEL,
	SETTING_FIND_RATE,
	SETTINGS
};

struct setting {
	const char *name; /* the option's, without its dashes; also the key in a plan file */
	const char *argument;
	const char *help;
	const char *expected;
	int (*set)(struct options *options, const char *text); /* 0 or -errno, no error message */
};

extern const struct setting settings[SETTINGS];

/*
 * Does what was given on the command line leave no place for this one of a
 * plan file? A number of operations and a time replace each other.
 */
bool settings_overridden(unsigned given, enum setting_id setting);

/* Sets one, and marks it as given; -EINVAL with the error message set. */
int settings_set(struct options *options, enum setting_id setting, const char *text);

/* Checks all settings together, defaults included, once they are set. -EINVAL likewise. */
int settings_complete(struct options *options);

/* The options of rpma-bench, one table a subject; a mode is a choice of tables. */
extern const struct cli_row port_rows[], listen_rows[], device_rows[], memory_rows[],
	placement_rows[], knob_rows[], run_rows[];
extern struct cli_row axis_rows[], setting_rows[];
extern struct cli_row target_rows[]; /* the target axis of a client */

/* Fills axis_rows, setting_rows and target_rows from their tables, before they are used. */
void option_rows_make(void);

/* Adds memory to offer; EINVAL or ENOMEM with the error message set. */
error_t option_add_target(struct options *options, const char *spec);

/*
 * --plan FILE.json: {"series": [{"test": "lat", "size": [64, "4K"], ...}, ...], "repeats": 5, ...}
 * The keys are the names of the options, the values what the options take;
 * doc/schema/rpma-bench-plan.schema.json describes it. Fills options->series and the settings that
 * the command line did not give. -EINVAL with a message that names the position in it, or -EIO.
 */
int plan_file_load(struct options *options, const char *path);

/* The same of bytes; name is the file's in error messages. */
int plan_file_parse(struct options *options, const char *name, const char *bytes, size_t length);
