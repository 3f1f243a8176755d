/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inspect.h -- inspects the machine, or a tree of one, and reports.
 */
#ifndef INSPECT_H
#define INSPECT_H

#include "options.h"

/* *exit_code is that of the verdict; -errno with the error message set where there is none. */
int inspect(const struct options *options, int *exit_code);

#endif /* INSPECT_H */
