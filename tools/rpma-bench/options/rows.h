/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.h -- the options of rpma-bench, one table a subject; a mode is a choice
 * of tables. They set a struct options.
 */
#ifndef BENCH_OPTIONS_ROWS_H
#define BENCH_OPTIONS_ROWS_H

#include "common/base/cli.h"

struct options;

extern const struct cli_row port_rows[], listen_rows[], device_rows[], memory_rows[],
	placement_rows[], knob_rows[], run_rows[];
extern struct cli_row axis_rows[], setting_rows[];
extern struct cli_row target_rows[]; /* the target axis of a client */

/* Fills axis_rows, setting_rows and target_rows from their tables, before they are used. */
void option_rows_make(void);

/* Adds memory to offer; EINVAL or ENOMEM with the error message set. */
error_t option_add_target(struct options *options, const char *spec);

#endif /* BENCH_OPTIONS_ROWS_H */
