/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.h -- the options of rpma-bench, one group a subject; a mode is
 * a choice of groups. Their input is a struct options.
 */
#ifndef BENCH_OPTIONS_ROWS_H
#define BENCH_OPTIONS_ROWS_H

#include <argp.h>

struct options;

extern const struct argp option_group_port;
extern const struct argp option_group_listen;
extern const struct argp option_group_device;
extern const struct argp option_group_memory;
extern const struct argp option_group_axis;
extern const struct argp option_group_choice; /* the target axis of a client */
extern const struct argp option_group_setting;
extern const struct argp option_group_placement;
extern const struct argp option_group_run;

/* Fills the rows that come from tables; before any group is used. */
void option_groups_make(void);

/* Adds memory to offer; EINVAL or ENOMEM with the sentence stored. */
error_t option_offer_target(struct options *options, const char *spec);

#endif /* BENCH_OPTIONS_ROWS_H */
