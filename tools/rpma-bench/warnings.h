/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings.h -- what a reader of the result must know before he believes it.
 */
#ifndef WARNINGS_H
#define WARNINGS_H

#include "run.h"

/* An array of {code, severity, host, text} about the points; the codes are the schema's. */
json_t *warnings_make(const struct run *run, const json_t *points);

#endif /* WARNINGS_H */
