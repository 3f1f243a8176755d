/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * publish.h -- what becomes of the result of a run: a table, files, JSON.
 */
#ifndef PUBLISH_H
#define PUBLISH_H

#include "run.h"

/* Can the files be written? Asked before a run; -EIO with the sentence stored. */
int publish_check(const struct options *options);

/* Gives the exit code; what failed has been printed. */
int publish(struct run *run, const json_t *document);

#endif /* PUBLISH_H */
