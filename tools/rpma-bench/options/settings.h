/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.h -- what holds for a whole run and may stand in a plan file too:
 * when repeats end, how many there are, and what the run is called.
 */
#ifndef BENCH_OPTIONS_SETTINGS_H
#define BENCH_OPTIONS_SETTINGS_H

#include <stdbool.h>

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

#endif /* BENCH_OPTIONS_SETTINGS_H */
