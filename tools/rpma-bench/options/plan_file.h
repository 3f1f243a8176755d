/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan_file.h -- what to measure, from a file: --plan FILE.json.
 *
 * {"series": [{"test": "lat", "size": [64, "4K"], ...}, ...], "repeats": 5, ...}
 * The keys are the names of the options, the values what the options take;
 * doc/schema/rpma-bench-plan.schema.json describes it.
 */
#ifndef BENCH_OPTIONS_PLAN_FILE_H
#define BENCH_OPTIONS_PLAN_FILE_H

#include "options.h"

/*
 * Fills options->series and the settings that the command line did not give.
 * -EINVAL with a message that names the place in the file, or -EIO.
 */
int plan_file_load(struct options *options, const char *path);

/* The same of bytes; name is the file's in error messages. */
int plan_file_parse(struct options *options, const char *name, const char *bytes, size_t length);

#endif /* BENCH_OPTIONS_PLAN_FILE_H */
